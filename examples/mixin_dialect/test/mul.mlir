// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @mul
// GENERIC-LABEL: sym_name = "mul"
func.func @mul(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %{{.*}} = quaternion.mul %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // GENERIC: "quaternion.mul"(%a, %b) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = quaternion.mul %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>)
  func.return %0 : tensor<8x4xf32>
}
