// RUN: stepwell-opt %s -p 'fold-constant,eliminate-dead-code' | filecheck %s

/// What importers leave behind: a bias that is expanded, cut and converted, and a size that decides about a branch. All of it is known.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK-NEXT: %[[COLUMN:.*]] = graph.constant dense<{{\[\[\[}}1.0]], {{\[\[}}2.0]], {{\[\[}}3.0]]]> : tensor<3x1x1xf32>
  // CHECK-NEXT: %[[SUM:.*]] = graph.add %x, %[[COLUMN]] : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  // CHECK-NEXT: func.return %[[SUM]] : tensor<1x3x4x4xf32>
  %raw = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %cut = graph.strided_slice %raw, axes = [0], begin = [0], end = [3] : (tensor<4xi32>)
  %bias = graph.astype %cut, dtype = f32 : (tensor<3xi32>)
  %column = graph.expand_dims %bias, axis = [1, 2] : (tensor<3xf32>)
  %rank = graph.full 4 : tensor<i64>
  %four = graph.full 4 : tensor<i64>
  %is_image = graph.equal %rank, %four : (tensor<i64>, tensor<i64>)
  %bit = tensor.extract %is_image[] : tensor<i1>
  %r = scf.if %bit -> (tensor<1x3x4x4xf32>) {
    %sum = graph.add %x, %column : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>)
    scf.yield %sum : tensor<1x3x4x4xf32>
  } else {
    scf.yield %x : tensor<1x3x4x4xf32>
  }
  func.return %r : tensor<1x3x4x4xf32>
}
