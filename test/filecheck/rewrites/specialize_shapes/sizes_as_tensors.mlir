// RUN: stepwell-opt %s -p 'specialize-shapes{main="3x8,1x5"}' | filecheck %s

/// Sizes are computed while the shapes are carried forward; what computed them goes.
// CHECK: func.func @main(%x: tensor<3x8xf32>, %y: tensor<1x5xf32>) -> (tensor<3x2x4xf32>, tensor<3x5xf32>, tensor<3xi64>, tensor<2x8xf32>, tensor<4x11xf32>) {
// CHECK-NEXT: %r = graph.reshape %x, shape = [3, 2, 4]
// CHECK-NEXT: %z = graph.broadcast_to %y, shape = [3, 5]
// CHECK-NEXT: %a = graph.constant dense<[0, 1, 2]> : tensor<3xi64>
// CHECK-NEXT: %s = graph.strided_slice %x, axes = [0], begin = [1], end = [3], strides = [1]
// CHECK-NEXT: %[[cut:.*]] = graph.strided_slice %x, axes = [0], begin = [1], end = [3] : (tensor<3x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: %p = graph.pad %[[cut]], pad_width = [0, 2, 0, 3], value = 0.5
// CHECK-NEXT: func.return %r, %z, %a, %s, %p
func.func @main(%x: tensor<?x8xf32>, %y: tensor<1x?xf32>) -> (tensor<?x2x4xf32>, tensor<?x?xf32>, tensor<?xi64>, tensor<?x8xf32>, tensor<?x?xf32>) {
  %shape = graph.shape_of %x : (tensor<?x8xf32>) -> tensor<2xi64>
  %rest = graph.constant dense<[2, 4]> : tensor<2xi64>
  %n = graph.strided_slice %shape, axes = [0], begin = [0], end = [1] : (tensor<2xi64>) -> tensor<1xi64>
  %rs = graph.concat %n, %rest : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %r = graph.dynamic_reshape %x, %rs, copy_zeros = true : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
  %one = graph.constant dense<1> : tensor<1xi64>
  %zs = graph.concat %n, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %z = graph.dynamic_broadcast_to %y, %zs : (tensor<1x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %first = graph.constant dense<0> : tensor<i64>
  %step = graph.constant dense<1> : tensor<i64>
  %limit = graph.squeeze %n : (tensor<1xi64>) -> tensor<i64>
  %a = graph.arange %first, %limit, %step : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %s = graph.dynamic_slice %x, %one, %n, %one, axes = [0] : (tensor<?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>
  %some = graph.constant dense<[-1, 2, 0]> : tensor<3xi64>
  %w = graph.concat %some, %n : (tensor<3xi64>, tensor<1xi64>) -> tensor<4xi64>
  %p = graph.dynamic_pad %x, %w, value = 0.5 : (tensor<?x8xf32>, tensor<4xi64>) -> tensor<?x?xf32>
  func.return %r, %z, %a, %s, %p : tensor<?x2x4xf32>, tensor<?x?xf32>, tensor<?xi64>, tensor<?x8xf32>, tensor<?x?xf32>
}
