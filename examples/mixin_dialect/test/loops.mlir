// RUN: stepwell-opt %s -p lower-quaternion-products | filecheck %s
// RUN: stepwell-opt %s -p lower-quaternion-products,schedule-quaternion-products | filecheck %s --check-prefix=SCHEDULED
// RUN: stepwell-opt %s -p after-fusion,lower-graph-to-loops,before-schedule | filecheck %s --check-prefix=SCHEDULED

/// Equal products share a loop function, whose block writes the four components.
// CHECK-LABEL: @twice
// CHECK-NEXT: graph.call_kernel @quaternion_mul_2x3x4xf32(%a, %b)
// CHECK-NEXT: graph.call_kernel @quaternion_mul_2x3x4xf32(%b, %a)
// CHECK-LABEL: @no_single
// CHECK-NEXT: quaternion.mul
// CHECK-LABEL: tensor_loop.func private @quaternion_mul_2x3x4xf32
// CHECK: writes(%r[%v0, %v1, 0 : 4])
// CHECK-NOT: tensor_loop.func
// SCHEDULED: tensor_loop.for %i0 in 2 {
// SCHEDULED-NEXT: tensor_loop.for %i1 in 3 vectorized {
func.func @twice(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = quaternion.mul %a, %b : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = quaternion.mul %b, %a : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return %0, %1 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

func.func @no_single(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = quaternion.mul %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
