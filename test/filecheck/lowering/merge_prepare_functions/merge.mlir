// RUN: stepwell-opt %s -p merge-prepare-functions --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p merge-prepare-functions,merge-prepare-functions --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p merge-prepare-functions,remove-unused-functions --split-input-file | filecheck %s --check-prefix=USED

/// The first stays and lists the others; who reads their results goes on asking for them by name.
// CHECK-LABEL: func.func @like_functions(
// CHECK-SAME: stepwell.key = "@b#0"
// CHECK: func.func private @a(
// CHECK-SAME: stepwell.key = "w0"
// CHECK-SAME: attributes {stepwell.prepare, stepwell.instances = {b = ["w1"], c = ["w2"]}}
// CHECK-NOT: func.func private @b
// CHECK-NOT: func.func private @c
/// Only @b is read, and @a is its code.
// USED-LABEL: func.func @like_functions(
// USED: func.func private @a(
func.func @like_functions(%w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "@b#0", stepwell.type = tensor<4xf32>}) {
  func.return
}
func.func private @a(%w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "w0"}, %r: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  "memref.copy"(%w, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @b(%w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "w1"}, %s: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  "memref.copy"(%w, %s) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @c(%v: memref<4xf32> {stepwell.role = "weight", stepwell.key = "w2"}, %r: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  "memref.copy"(%v, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}

// -----

/// Several weights: the keys of each in the order of the arguments. An instance brings its own instances along.
// CHECK-LABEL: func.func private @first(
// CHECK-SAME: attributes {stepwell.prepare, stepwell.instances = {second = ["x", "y"], third = ["p", "q"]}}
// CHECK-NOT: func.func
func.func private @first(%v: memref<4xf32> {stepwell.role = "weight", stepwell.key = "v"}, %w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "w"}, %r: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  tensor_loop.call @add(%v, %w) outs(%r) : (memref<4xf32>, memref<4xf32>) outs(memref<4xf32>)
  func.return
}
func.func private @second(%x: memref<4xf32> {stepwell.role = "weight", stepwell.key = "x"}, %y: memref<4xf32> {stepwell.role = "weight", stepwell.key = "y"}, %r: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.prepare, stepwell.instances = {third = ["p", "q"]}} {
  tensor_loop.call @add(%x, %y) outs(%r) : (memref<4xf32>, memref<4xf32>) outs(memref<4xf32>)
  func.return
}
tensor_loop.func private @add(%a: memref<4xf32>, %b: memref<4xf32>) outs(%c: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "add" spatial(%vi in 4 = %i) reads(%a[%vi], %b[%vi]) writes(%c[%vi]) {
      %0 = memref.load %a[%vi] : memref<4xf32>
      %1 = memref.load %b[%vi] : memref<4xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %c[%vi] : memref<4xf32>
    }
  }
}

// -----

/// Other operands, other sizes, another constant.
// CHECK-LABEL: func.func private @no_base(
// CHECK: func.func private @no_zero(
// CHECK: func.func private @no_minus_zero(
// CHECK: func.func private @no_longer(
// CHECK-NOT: stepwell.instances
func.func private @no_base(%w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "w0"}, %r: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  "memref.copy"(%w, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @no_zero(%w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "w1"}, %r: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 0.0 : f32
  memref.store %1, %r[%0] : memref<4xf32>
  func.return
}
func.func private @no_minus_zero(%w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "w2"}, %r: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  %0 = arith.constant 0 : index
  %1 = arith.constant -0.0 : f32
  memref.store %1, %r[%0] : memref<4xf32>
  func.return
}
func.func private @no_longer(%w: memref<5xf32> {stepwell.role = "weight", stepwell.key = "w3"}, %r: memref<5xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  "memref.copy"(%w, %r) : (memref<5xf32>, memref<5xf32>) -> ()
  func.return
}

// -----

/// Without roles yet, called by the program, made from what another makes, and what may fail: left alone.
// CHECK-LABEL: func.func @no_merge(
// CHECK-COUNT-8: func.func private @no_
// CHECK-NOT: stepwell.instances
func.func @no_merge() {
  %0 = memref.alloc() : memref<1xf32>
  func.call @no_called(%0) : (memref<1xf32>) -> ()
  func.call @no_called_too(%0) : (memref<1xf32>) -> ()
  func.return
}
func.func private @no_called(%r: memref<1xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  func.return
}
func.func private @no_called_too(%r: memref<1xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  func.return
}
func.func private @no_roles() -> tensor<4xf32> attributes {stepwell.prepare} {
  %w = graph.weight "w0" : tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func private @no_roles_either() -> tensor<4xf32> attributes {stepwell.prepare} {
  %w = graph.weight "w0" : tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func private @no_chain(%w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "@other#0"}, %r: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  "memref.copy"(%w, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @no_chain_either(%w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "@another#0"}, %r: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  "memref.copy"(%w, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @no_failure(%w: memref<1xi8> {stepwell.role = "weight", stepwell.key = "w1"}, %r: memref<1xi1> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  %0 = arith.constant 0 : index
  %1 = memref.load %w[%0] : memref<1xi8>
  %2 = arith.trunci %1 : i8 to i1
  cf.assert %2, "graph.take: index out of range"
  func.return
}
func.func private @no_failure_either(%w: memref<1xi8> {stepwell.role = "weight", stepwell.key = "w2"}, %r: memref<1xi1> {stepwell.role = "output"}) attributes {stepwell.prepare} {
  %0 = arith.constant 0 : index
  %1 = memref.load %w[%0] : memref<1xi8>
  %2 = arith.trunci %1 : i8 to i1
  cf.assert %2, "graph.take: index out of range"
  func.return
}
