// RUN: stepwell-opt %s -p simplify-quaternions | filecheck %s
// RUN: stepwell-opt %s -p 'simplify-quaternions{numerics=default}' | filecheck %s --check-prefix=ROUNDED

// CHECK-LABEL: @mul_of_two_negatives
func.func @mul_of_two_negatives(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[C:.*]] = quaternion.mul %a, %b
  // CHECK-NEXT: return %[[C]]
  %0 = graph.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.negative %b : (tensor<4xf32>) -> tensor<4xf32>
  %2 = quaternion.mul %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

/// One sign moves out only where results may round differently.
// CHECK-LABEL: @no_mul_of_one_negative
// ROUNDED-LABEL: @no_mul_of_one_negative
func.func @no_mul_of_one_negative(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.negative
  // CHECK-NEXT: quaternion.mul
  // ROUNDED-NEXT: quaternion.mul %a, %b
  // ROUNDED-NEXT: graph.negative
  %0 = graph.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = quaternion.mul %0, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
