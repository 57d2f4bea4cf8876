// RUN: stepwell-opt %s -p to-loops --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p to-loops,inline-loops --split-input-file | filecheck %s

/// A chain of elementwise ops: no temporary, one block.
// CHECK-LABEL: tensor_loop.func private @chain
// CHECK-NEXT: tensor_loop.grid (%{{.*}}) in (8)
// CHECK-NEXT: tensor_loop.block "tanh" {{.*}} reads(%x[%[[V:.*]]], %y[%[[V]]]) writes(%out[%[[V]]])
// CHECK-NEXT: %[[X:.*]] = memref.load %x
// CHECK-NEXT: %[[E:.*]] = math.exp %[[X]] : f32
// CHECK-NEXT: %[[Y:.*]] = memref.load %y
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[E]], %[[Y]] : f32
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[S]] : f32
// CHECK-NEXT: memref.store %[[T]], %out
// CHECK-NOT: tensor_loop.block
func.func private @chain(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {graph.primitive} {
  %a = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = graph.add %a, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %c = graph.tanh %b : (tensor<8xf32>) -> tensor<8xf32>
  func.return %c : tensor<8xf32>
}
func.func @use(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @chain(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// -----

/// The result of a product is finished in place: no temporary, the bias is added to the output.
// CHECK-LABEL: tensor_loop.func private @product
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.block "matmul" {{.*}} writes(%out[
// CHECK: tensor_loop.block "add" {{.*}} reads(%out[{{.*}}], %b[{{.*}}]) writes(%out[
// CHECK-NOT: tensor_loop.block
func.func private @product(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> attributes {graph.primitive} {
  %p = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %s = graph.add %p, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %s : tensor<2x3xf32>
}
func.func @use(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = func.call @product(%x, %w, %b) : (tensor<2x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// -----

/// Softmax: the maxima and sums are reductions and stay. The exponentials are read twice, so they are computed once,
/// into the output; its own temporary goes.
// CHECK-LABEL: tensor_loop.func private @softmax
// CHECK-NEXT: %softmax_max = tensor_loop.alloc : memref<2xf32>
// CHECK: tensor_loop.block "softmax_max"
// CHECK: tensor_loop.block "softmax_exp" {{.*}} writes(%out[
// CHECK: math.exp
// CHECK: %softmax_scale = tensor_loop.alloc : memref<2xf32>
// CHECK: tensor_loop.block "softmax_sum" {{.*}} reads(%out[
// CHECK-NOT: math.exp
// CHECK: tensor_loop.block "softmax_scale" {{.*}} reads(%softmax_scale[{{.*}}]) writes(%softmax_scale[
// CHECK: tensor_loop.block "softmax" {{.*}} reads(%out[{{.*}}], %softmax_scale[{{.*}}]) writes(%out[
// CHECK-NOT: tensor_loop.alloc
func.func @no_exponential_twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.softmax %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// -----

/// Layer norm: mean and variance stay, everything per element is in one last block.
// CHECK-LABEL: tensor_loop.func private @layer_norm_1
// CHECK: tensor_loop.block "layer_norm_sum"
// CHECK: tensor_loop.block "layer_norm_mean"
// CHECK: tensor_loop.block "layer_norm_squares"
// CHECK: tensor_loop.block "layer_norm_scale"
// CHECK: tensor_loop.block "layer_norm" {{.*}} writes(%out[
// CHECK-NOT: tensor_loop.block
func.func @layer_norm(%x: tensor<2x3xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.layer_norm %x, %g, %b : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// -----

/// Not inlined into a broadcast, which would compute each exponential four times.
// CHECK-LABEL: tensor_loop.func private @no_repeated_arithmetic
// CHECK: tensor_loop.alloc : memref<3xf32>
// CHECK: math.exp
// CHECK: tensor_loop.block "broadcast_to"
// CHECK-NOT: math.exp
func.func private @no_repeated_arithmetic(%x: tensor<3xf32>) -> tensor<4x3xf32> attributes {graph.primitive} {
  %a = graph.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %b = graph.broadcast_to %a, shape = [4, 3] : (tensor<3xf32>) -> tensor<4x3xf32>
  func.return %b : tensor<4x3xf32>
}
func.func @use(%x: tensor<3xf32>) -> tensor<4x3xf32> {
  %0 = func.call @no_repeated_arithmetic(%x) : (tensor<3xf32>) -> tensor<4x3xf32>
  func.return %0 : tensor<4x3xf32>
}

// -----

/// A block that may fail is not moved, so that the first failure stays the first.
// CHECK-LABEL: tensor_loop.func private @no_inlined_check
// CHECK: tensor_loop.alloc : memref<4xi32>
// CHECK: tensor_loop.block "divide"
// CHECK: cf.assert
// CHECK: tensor_loop.block "strided_slice"
// CHECK: arith.subi
// CHECK-NOT: cf.assert
func.func private @no_inlined_check(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<2xi32> attributes {graph.primitive} {
  %a = graph.divide %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %b = graph.negative %a : (tensor<4xi32>) -> tensor<4xi32>
  %c = graph.strided_slice %b, axes = [0], begin = [0], end = [2] : (tensor<4xi32>) -> tensor<2xi32>
  func.return %c : tensor<2xi32>
}
func.func @use(%x: tensor<4xi32>) -> tensor<2xi32> {
  %0 = func.call @no_inlined_check(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<2xi32>
  func.return %0 : tensor<2xi32>
}
