// RUN: stepwell-opt %s -p lower-graph-to-loops,split-loops | filecheck %s

/// A grid per operand, without a condition.
// CHECK-LABEL: tensor_loop.func private @concat(
// CHECK-NOT: scf.if
// CHECK: in (8, 64)
// CHECK: memref.load %inputs0[%[[I:.*]], %[[J:.*]]] : memref<8x64xf32>
// CHECK: memref.store %{{.*}}, %out[%[[I]], %[[J]]]
// CHECK: in (8, 32)
// CHECK: block "concat_1" {{.*}} reads(%inputs1[%[[K:.*]], %[[L:.*]]]) writes(%out[%[[K]], %[[L]] + 64])
// CHECK: memref.load %inputs1[%[[K]], %[[L]]] : memref<8x32xf32>
// CHECK-NOT: scf.if
func.func @halves(%x: tensor<8x64xf32>, %y: tensor<8x32xf32>) -> tensor<8x96xf32> {
  %0 = graph.concat %x, %y, axis = 1 : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<8x96xf32>
  func.return %0 : tensor<8x96xf32>
}

/// Rows above, what is left, the middle, what is right, rows below: borders of a row only where there are rows of the image.
// CHECK-LABEL: tensor_loop.func private @pad(
// CHECK-NOT: scf.if
// CHECK: in (1, 64)
// CHECK: in (30, 1)
// CHECK: in (30, 62)
// CHECK: writes(%out[%{{.*}} + 1, %{{.*}} + 1])
// CHECK: memref.load %operand
// CHECK-NOT: memref.load
// CHECK: in (30, 1)
// CHECK: in (1, 64)
// CHECK-NOT: scf.if
func.func @framed(%x: tensor<30x62xf32>) -> tensor<32x64xf32> {
  %0 = graph.pad %x, pad_width = [1, 1, 1, 1], value = 0.5 : (tensor<30x62xf32>) -> tensor<32x64xf32>
  func.return %0 : tensor<32x64xf32>
}
