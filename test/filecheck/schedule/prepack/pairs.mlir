// RUN: stepwell-opt %s --split-input-file -p 'graph-optimize,to-loops,prepack-weights{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s --split-input-file -p 'graph-optimize,to-loops,prepack-weights{target="x86-64-v3"}' | filecheck %s --check-prefix V3
// RUN: stepwell-opt %s --split-input-file -p 'graph-optimize,to-loops,prepack-weights{target="neoverse-v2"}' | filecheck %s --check-prefix ARM

/// Constant bf16 lie in panels with two steps of the sum side by side. Four steps are two rows of a panel.
// CHECK-LABEL: tensor_loop.func private @matmul
// CHECK-SAME: %rhs: memref<2x32x64x2xbf16>
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[STEP:.*]] = arith.muli %[[K]], %[[TWO]] : index
// CHECK: tile.mma %{{.*}}, %lhs[%{{.*}}, %[[STEP]]], %rhs[%{{.*}}, %[[K]], %{{.*}}, %{{.*}}] along [1, 2] depth 2 groups
// CHECK: tensor_loop.func private @pack_panels0(%weight: memref<64x128xbf16>) outs(%panels: memref<2x32x64x2xbf16>)
// CHECK: tensor_loop.for %k in 32
// CHECK: reads(%weight[%vk * 2 : 2, %vp * 64 : 64]) writes(%panels[%vp, %vk, 0 : 64, 0 : 2])
// V3: tile.mma {{.*}} depth 2 groups : vector<5x16xf32>
// ARM: %rhs: memref<{{[0-9]+}}x64x{{[0-9]+}}xbf16>
// ARM: tile.mma {{.*}} depth {{[0-9]+}} : vector
func.func @main(%x: tensor<24x64xbf16>) -> tensor<24x128xbf16> {
  %w = graph.weight "w" : tensor<64x128xbf16>
  %y = graph.matmul %x, %w : (tensor<24x64xbf16>, tensor<64x128xbf16>) -> tensor<24x128xbf16>
  func.return %y : tensor<24x128xbf16>
}

// -----

/// Where the image has borders, some rows of a tile take part.
// CHECK-LABEL: tensor_loop.func private @conv2d
// CHECK: tile.mma {{.*}} depth 2 rows [{{[0-9]+, [0-9]+}}] groups
func.func @main(%x: tensor<1x9x9x16xbf16>) -> tensor<1x5x5x32xbf16> {
  %w = graph.weight "w" : tensor<3x3x16x32xbf16>
  %y = graph.conv2d %x, %w, strides = [2, 2], padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x9x9x16xbf16>, tensor<3x3x16x32xbf16>) -> tensor<1x5x5x32xbf16>
  func.return %y : tensor<1x5x5x32xbf16>
}

// -----

/// An odd number of steps would leave half of a pair over.
// CHECK-LABEL: tensor_loop.func private @matmul
// CHECK-SAME: memref<2x63x64xbf16>
// CHECK-NOT: groups
// CHECK: tensor_loop.func private @pack_panels0
func.func @no_odd_steps(%x: tensor<24x63xbf16>) -> tensor<24x128xbf16> {
  %w = graph.weight "w" : tensor<63x128xbf16>
  %y = graph.matmul %x, %w : (tensor<24x63xbf16>, tensor<63x128xbf16>) -> tensor<24x128xbf16>
  func.return %y : tensor<24x128xbf16>
}

// -----

/// An f16 is no half of an f32.
// CHECK-LABEL: tensor_loop.func private @matmul
// CHECK-NOT: groups
// CHECK: tensor_loop.func private @pack_panels0
func.func @no_f16(%x: tensor<24x64xf16>) -> tensor<24x128xf16> {
  %w = graph.weight "w" : tensor<64x128xf16>
  %y = graph.matmul %x, %w : (tensor<24x64xf16>, tensor<64x128xf16>) -> tensor<24x128xf16>
  func.return %y : tensor<24x128xf16>
}

// -----

/// Panels that are made at each call are f32 already.
// CHECK-LABEL: tensor_loop.func private @matmul
// CHECK-NOT: groups
func.func @no_weights(%x: tensor<24x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<24x128xbf16> {
  %y = graph.matmul %x, %w : (tensor<24x64xbf16>, tensor<64x128xbf16>) -> tensor<24x128xbf16>
  func.return %y : tensor<24x128xbf16>
}
