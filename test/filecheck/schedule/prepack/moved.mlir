// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v4"},prepack-weights{target="x86-64-v4"}' --split-input-file | filecheck %s

/// Filters as ONNX stores them are put into panels from there, one by one. No kernel permutes them before.
// CHECK-LABEL: func.func @filters
// CHECK: graph.call_kernel @conv2d
// CHECK-NOT: func.func private @permute_dims
// CHECK: tensor_loop.func private @conv2d
// CHECK-NOT: permute_dims
// CHECK: tensor_loop.func private @pack_panels0(%weight: memref<96x24x3x3xf32>) outs(%panels: memref<{{.*}}xf32>)
// CHECK: tensor_loop.for %k in 24 {
// CHECK: memref.load %weight[%{{.*}}, %vk, %vr{{.*}}, %vr{{.*}}] : memref<96x24x3x3xf32>
// CHECK: math.absf
// CHECK: memref.store %{{.*}}, %panels[%vp, %vr{{.*}}, %vr{{.*}}, %vk, %vj]
// CHECK: func.func private @prepare_panels0
// CHECK-NEXT: %[[W:.*]] = graph.weight "w" : tensor<96x24x3x3xf32>
// CHECK-NEXT: graph.call_kernel @pack_panels0(%[[W]])
// CHECK-NOT: permute_dims
func.func @filters(%x: tensor<1x29x29x24xf32>) -> tensor<1x14x14x96xf32> {
  %s = graph.weight "w" : tensor<96x24x3x3xf32>
  %w = graph.permute_dims %s, axes = [2, 3, 1, 0] : (tensor<96x24x3x3xf32>) -> tensor<3x3x24x96xf32>
  %y = graph.conv2d %x, %w, strides = [2, 2], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x29x29x24xf32>, tensor<3x3x24x96xf32>) -> tensor<1x14x14x96xf32>
  func.return %y : tensor<1x14x14x96xf32>
}

// -----

/// The weights of two calls of one kernel are moved in the same way: one prepare function packs both.
// CHECK-LABEL: func.func @shared
// CHECK: func.func private @prepare_panels0() -> {{.*}} attributes {stepwell.prepare, stepwell.instances = {prepare_panels1 = ["b"]}}
// CHECK-NEXT: graph.weight "a" : tensor<64x64xf32>
// CHECK-NOT: permute_dims
func.func @shared(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %a = graph.weight "a" : tensor<64x64xf32>
  %b = graph.weight "b" : tensor<64x64xf32>
  %v = graph.permute_dims %a, axes = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %w = graph.permute_dims %b, axes = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = graph.matmul %x, %v : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = graph.matmul %0, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  func.return %1 : tensor<8x64xf32>
}

// -----

/// What is computed is made first.
// CHECK-LABEL: func.func @no_computed_weights
// CHECK: tensor_loop.func private @pack_panels0(%weight: memref<64x96xf32>)
// CHECK: tile.load %weight
func.func @no_computed_weights(%x: tensor<8x64xf32>) -> tensor<8x96xf32> {
  %s = graph.weight "w" : tensor<96x64xf32>
  %e = graph.exp %s : (tensor<96x64xf32>) -> tensor<96x64xf32>
  %w = graph.permute_dims %e, axes = [1, 0] : (tensor<96x64xf32>) -> tensor<64x96xf32>
  %y = graph.matmul %x, %w : (tensor<8x64xf32>, tensor<64x96xf32>) -> tensor<8x96xf32>
  func.return %y : tensor<8x96xf32>
}

// -----

/// One weight is moved and the other is not. Both have the form that the kernel reads first.
// CHECK-LABEL: func.func @no_weights_moved_otherwise
// CHECK: tensor_loop.func private @permute_dims
// CHECK: tensor_loop.func private @pack_panels0(%weight: memref<64x64xf32>)
// CHECK: tile.load %weight
func.func @no_weights_moved_otherwise(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %a = graph.weight "a" : tensor<64x64xf32>
  %b = graph.weight "b" : tensor<64x64xf32>
  %w = graph.permute_dims %b, axes = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = graph.matmul %x, %a : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = graph.matmul %0, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  func.return %1 : tensor<8x64xf32>
}
