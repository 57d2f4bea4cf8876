// RUN: stepwell-opt %s -p merge-prepare-functions --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p merge-prepare-functions,merge-prepare-functions --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p merge-prepare-functions,remove-unused-functions --split-input-file | filecheck %s --check-prefix=USED
// RUN: stepwell-opt %s -p merge-prepare-functions,bufferize --split-input-file | filecheck %s --check-prefix=BUFFERS

/// The first stays and lists the others; who reads their results asks for them by name.
// CHECK-LABEL: func.func @like_functions(
// CHECK-NEXT: %b = graph.weight "@b#0" : tensor<4xf32>
// CHECK-NEXT: %c = graph.weight "@c#0" : tensor<4xf32>
// CHECK-NEXT: %a = func.call @a()
// CHECK: func.func private @a() -> tensor<4xf32> attributes {stepwell.prepare, stepwell.instances = {b = ["w1"], c = ["w2"]}} {
// CHECK-NEXT: graph.weight "w0"
// CHECK-NOT: func.func
/// @b is read, and @a is its code.
// USED-LABEL: func.func @like_functions(
// USED: func.func private @a(
// BUFFERS-LABEL: func.func @like_functions(
// BUFFERS-SAME: stepwell.key = "@b#0"
// BUFFERS-SAME: stepwell.key = "@c#0"
// BUFFERS-SAME: stepwell.key = "@a#0"
// BUFFERS: func.func private @a(%{{[^:]*}}: memref<4xf32> {stepwell.role = "weight", stepwell.key = "w0"
// BUFFERS-SAME: stepwell.instances = {b = ["w1"], c = ["w2"]}
func.func @like_functions() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %b = func.call @b() : () -> tensor<4xf32>
  %c = func.call @c() : () -> tensor<4xf32>
  %a = func.call @a() : () -> tensor<4xf32>
  func.return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @a() -> tensor<4xf32> attributes {stepwell.prepare} {
  %w = graph.weight "w0" : tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func private @b() -> tensor<4xf32> attributes {stepwell.prepare} {
  %w = graph.weight "w1" : tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func private @c() -> tensor<4xf32> attributes {stepwell.prepare} {
  %v = graph.weight "w2" : tensor<4xf32>
  func.return %v : tensor<4xf32>
}

// -----

/// Several weights: each key once, in the order of first use. An instance brings its own instances along.
// CHECK-LABEL: func.func private @first(
// CHECK-SAME: attributes {stepwell.prepare, stepwell.instances = {second = ["x", "y"], third = ["p", "q"]}}
// CHECK-NOT: func.func
// USED-NOT: func.func
// BUFFERS-LABEL: func.func private @first(
// BUFFERS-SAME: stepwell.key = "v"
// BUFFERS-SAME: stepwell.key = "w"
func.func private @first() -> (tensor<4xf32>, tensor<4xf32>) attributes {stepwell.prepare} {
  %v = graph.weight "v" : tensor<4xf32>
  %w = graph.weight "w" : tensor<4xf32>
  %again = graph.weight "v" : tensor<4xf32>
  %0 = graph.call_kernel @add(%v, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %again : tensor<4xf32>, tensor<4xf32>
}
func.func private @second() -> (tensor<4xf32>, tensor<4xf32>) attributes {stepwell.prepare, stepwell.instances = {third = ["p", "q"]}} {
  %x = graph.weight "x" : tensor<4xf32>
  %y = graph.weight "y" : tensor<4xf32>
  %again = graph.weight "x" : tensor<4xf32>
  %0 = graph.call_kernel @add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %again : tensor<4xf32>, tensor<4xf32>
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

/// Another place of the weight, other sizes, another constant, one key twice instead of two, a further attribute.
// CHECK-LABEL: func.func private @no_base(
// CHECK-COUNT-5: func.func private @no_
// CHECK-NOT: stepwell.instances
func.func private @no_base() -> (tensor<2xf32>, tensor<2xf32>) attributes {stepwell.prepare} {
  %w = graph.weight "w0" : tensor<2xf32>
  %0 = graph.constant dense<[0.0, 1.0]> : tensor<2xf32>
  func.return %w, %0 : tensor<2xf32>, tensor<2xf32>
}
func.func private @no_other_order() -> (tensor<2xf32>, tensor<2xf32>) attributes {stepwell.prepare} {
  %w = graph.weight "w1" : tensor<2xf32>
  %0 = graph.constant dense<[0.0, 1.0]> : tensor<2xf32>
  func.return %0, %w : tensor<2xf32>, tensor<2xf32>
}
func.func private @no_other_zero() -> (tensor<2xf32>, tensor<2xf32>) attributes {stepwell.prepare} {
  %w = graph.weight "w2" : tensor<2xf32>
  %0 = graph.constant dense<[-0.0, 1.0]> : tensor<2xf32>
  func.return %w, %0 : tensor<2xf32>, tensor<2xf32>
}
func.func private @no_two_keys() -> (tensor<2xf32>, tensor<2xf32>) attributes {stepwell.prepare} {
  %w = graph.weight "w3" : tensor<2xf32>
  %v = graph.weight "w4" : tensor<2xf32>
  func.return %w, %v : tensor<2xf32>, tensor<2xf32>
}
func.func private @no_key_twice() -> (tensor<2xf32>, tensor<2xf32>) attributes {stepwell.prepare} {
  %w = graph.weight "w5" : tensor<2xf32>
  %v = graph.weight "w5" : tensor<2xf32>
  func.return %w, %v : tensor<2xf32>, tensor<2xf32>
}
func.func private @no_attribute() -> (tensor<2xf32>, tensor<2xf32>) attributes {stepwell.prepare, mine} {
  %w = graph.weight "w6" : tensor<2xf32>
  %0 = graph.constant dense<[0.0, 1.0]> : tensor<2xf32>
  func.return %w, %0 : tensor<2xf32>, tensor<2xf32>
}

// -----

/// What another prepare function makes, other ops, which may fail, and functions that are no prepare functions: left alone.
// CHECK-LABEL: func.func private @no_chain(
// CHECK-COUNT-5: func.func private @no_
// CHECK-NOT: stepwell.instances
func.func private @no_chain() -> tensor<4xf32> attributes {stepwell.prepare} {
  %w = graph.weight "@other#0" : tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func private @no_chain_either() -> tensor<4xf32> attributes {stepwell.prepare} {
  %w = graph.weight "@another#0" : tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func private @no_failure() -> tensor<1xi1> attributes {stepwell.prepare} {
  %w = graph.weight "w0" : tensor<1xi1>
  %0 = arith.constant 0 : index
  %1 = tensor.extract %w[%0] : tensor<1xi1>
  cf.assert %1, "not so"
  func.return %w : tensor<1xi1>
}
func.func private @no_failure_either() -> tensor<1xi1> attributes {stepwell.prepare} {
  %w = graph.weight "w1" : tensor<1xi1>
  %0 = arith.constant 0 : index
  %1 = tensor.extract %w[%0] : tensor<1xi1>
  cf.assert %1, "not so"
  func.return %w : tensor<1xi1>
}
func.func private @no_prepare() -> tensor<4xf32> {
  %w = graph.weight "w0" : tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func private @no_prepare_either() -> tensor<4xf32> {
  %w = graph.weight "w1" : tensor<4xf32>
  func.return %w : tensor<4xf32>
}
