// RUN: stepwell-opt %s -p 'bufferize{in-place=false}' --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p 'bufferize{reuse=false}' --split-input-file | filecheck %s --check-prefix=OWN

/// A chain needs two places of 64 bytes: %a and %c are never alive together. Each has its own with reuse=false.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %arena: memref<128xi8> {stepwell.role = "arena", stepwell.bytes = 128 : i64, stepwell.live_bytes = 128 : i64}
// CHECK-NEXT: %[[A0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %a = memref.view %arena[%[[A0]]][] : memref<128xi8> to memref<4xf32>
// CHECK-NEXT: tensor_loop.call @exp(%x) outs(%a)
// CHECK-NEXT: %[[B0:.*]] = arith.constant 64 : index
// CHECK-NEXT: %b = memref.view %arena[%[[B0]]][]
// CHECK-NEXT: tensor_loop.call @exp(%a) outs(%b)
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %c = memref.view %arena[%[[C0]]][]
// CHECK-NEXT: tensor_loop.call @exp(%b) outs(%c)
// CHECK-NEXT: tensor_loop.call @exp(%c) outs(%result0)
// OWN-LABEL: func.func @chain
// OWN-SAME: stepwell.bytes = 192 : i64
// OWN: arith.constant 0 : index
// OWN: arith.constant 64 : index
// OWN: arith.constant 128 : index
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.call_kernel @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.call_kernel @exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.call_kernel @exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.call_kernel @exp(%c) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}
tensor_loop.func private @exp(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}

// -----

/// %a is read inside the loop, so it lives as long as the loop: %t may not take its place.
// CHECK-LABEL: func.func @no_reuse_within_a_loop
// CHECK: arith.constant 1 : index
// CHECK-NEXT: %[[A0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %a = memref.view %arena[%[[A0]]][]
// CHECK: scf.for
// CHECK-NEXT: %[[T0:.*]] = arith.constant 64 : index
// CHECK-NEXT: %t = memref.view %arena[%[[T0]]][]
// CHECK-NEXT: tensor_loop.call @add(%result0, %a) outs(%t)
func.func @no_reuse_within_a_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %lo = arith.constant 0 : index
  %hi = arith.constant 3 : index
  %step = arith.constant 1 : index
  %a = graph.call_kernel @add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %lo to %hi step %step iter_args(%acc = %x) -> (tensor<4xf32>) {
    %t = graph.call_kernel @add(%acc, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
tensor_loop.func private @add(%A: memref<4xf32>, %B: memref<4xf32>) outs(%C: memref<4xf32>) {
}

// -----

/// Temporaries of kernels move into the caller's arena, as arguments after the inputs; those of a kernel that is also
/// called on buffers stay.
// CHECK-LABEL: func.func @temporaries
// CHECK-SAME: %arena: memref<64xi8>
// CHECK: %[[T:.*]] = memref.view %arena[%{{.*}}][] : memref<64xi8> to memref<4xf32>
// CHECK-NEXT: tensor_loop.call @two(%x, %[[T]]) outs(%result0) : (memref<4xf32>, memref<4xf32>) outs(memref<4xf32>)
// CHECK-NEXT: tensor_loop.call @kept(%x) outs(%result1)
// CHECK: tensor_loop.func private @two(%A: memref<4xf32>, %T: memref<4xf32> {stepwell.temporary}) outs(%B: memref<4xf32>) {
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.func private @kept(%A: memref<4xf32>) outs(%B: memref<4xf32>)
// CHECK-NEXT: tensor_loop.alloc
// CHECK: tensor_loop.call @kept(%A) outs(%B)
func.func @temporaries(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = graph.call_kernel @two(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.call_kernel @kept(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}
tensor_loop.func private @two(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
}
tensor_loop.func private @kept(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
}
tensor_loop.func private @on_buffers(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.call @kept(%A) outs(%B) : (memref<4xf32>) outs(memref<4xf32>)
}

// -----

/// Buffers without elements have places of their own all the same: `cse` would make equal views one value, which no
/// call takes as input and output.
// CHECK-LABEL: func.func @no_elements
// CHECK-SAME: %arena: memref<128xi8> {stepwell.role = "arena", stepwell.bytes = 128 : i64, stepwell.live_bytes = 128 : i64}
// CHECK: %[[A0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %a = memref.view %arena[%[[A0]]][] : memref<128xi8> to memref<0x3xf32>
// CHECK: %[[B0:.*]] = arith.constant 64 : index
// CHECK-NEXT: %b = memref.view %arena[%[[B0]]][] : memref<128xi8> to memref<0x3xf32>
func.func @no_elements(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %a = graph.call_kernel @exp(%x) : (tensor<0x3xf32>) -> tensor<0x3xf32>
  %b = graph.call_kernel @exp(%a) : (tensor<0x3xf32>) -> tensor<0x3xf32>
  %c = graph.call_kernel @exp(%b) : (tensor<0x3xf32>) -> tensor<0x3xf32>
  func.return %c : tensor<0x3xf32>
}
tensor_loop.func private @exp(%A: memref<0x3xf32>) outs(%B: memref<0x3xf32>) {
}

// -----

/// A private function gets its weights, results and arena from its caller, whatever the order in the module.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %x: memref<4xf32> {{{.*}}"input"{{.*}}}, %w: memref<4xf32> {{{.*}}stepwell.key = "w"{{.*}}}, %result0: {{.*}}, %arena: memref<64xi8>
// CHECK: %[[A:.*]] = memref.view %arena[%{{.*}}][] : memref<64xi8> to memref<64xi8>
// CHECK-NEXT: func.call @layer(%x, %w, %result0, %[[A]]) : (memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<64xi8>) -> ()
// CHECK: func.func private @layer(%x: memref<4xf32>, %w: memref<4xf32>, %result0: memref<4xf32>, %arena: memref<64xi8>) {
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @layer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = graph.weight "w" : tensor<4xf32>
  %a = graph.call_kernel @add(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.call_kernel @add(%a, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
tensor_loop.func private @add(%A: memref<4xf32>, %B: memref<4xf32>) outs(%C: memref<4xf32>) {
}

// -----

/// What a prepare function computes is a weight of its callers, under its name; it keeps its own.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: stepwell.key = "@prepare_0#1", stepwell.type = tensor<4xf32>
// CHECK-NOT: func.call
// CHECK: func.func private @prepare_0(
// CHECK-SAME: stepwell.key = "w"
// CHECK-SAME: stepwell.role = "output", stepwell.name = "result0"
// CHECK-SAME: stepwell.prepare
// CHECK-SAME: stepwell.signature = () -> (tensor<4xf32>, tensor<4xf32>)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0, %1 = func.call @prepare_0() : () -> (tensor<4xf32>, tensor<4xf32>)
  %a = graph.call_kernel @add(%x, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
func.func private @prepare_0() -> (tensor<4xf32>, tensor<4xf32>) attributes {stepwell.prepare} {
  %w = graph.weight "w" : tensor<4xf32>
  %a = graph.call_kernel @add(%w, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %w, %a : tensor<4xf32>, tensor<4xf32>
}
tensor_loop.func private @add(%A: memref<4xf32>, %B: memref<4xf32>) outs(%C: memref<4xf32>) {
}
