// RUN: stepwell-opt %s -p 'simplify-expr' | filecheck %s

/// Steps that cancel, and numbers that change nothing.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: func.return %x : tensor<2x3xf32>
  %0 = graph.permute_dims %x : (tensor<2x3xf32>)
  %1 = graph.permute_dims %0 : (tensor<3x2xf32>)
  %one = graph.full 1.0 : tensor<2x3xf32>
  %2 = graph.multiply %1, %one : (tensor<2x3xf32>, tensor<2x3xf32>)
  %3 = graph.pad %2, pad_width = [0, 0, 0, 0] : (tensor<2x3xf32>)
  %4 = graph.reshape %3, shape = [6] : (tensor<2x3xf32>)
  %5 = graph.reshape %4, shape = [2, 3] : (tensor<6xf32>)
  func.return %5 : tensor<2x3xf32>
}

/// x + 0.0 is 0.0 where x is -0.0: kept, unless numerics="fast".
// CHECK-LABEL: func.func @no_zero_of_floats(
func.func @no_zero_of_floats(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[ZERO:.*]] = graph.full 0.0 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %[[ZERO]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[V0]] : tensor<4xf32>
  %zero = graph.full 0.0 : tensor<f32>
  %0 = graph.add %x, %zero : (tensor<4xf32>, tensor<f32>)
  func.return %0 : tensor<4xf32>
}
