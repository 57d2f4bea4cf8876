// RUN: stepwell-opt %s -p fold-constant | filecheck %s

/// Ties go to even; what overflows is NaN where there is no infinity.
// CHECK-LABEL: func.func @folded(
func.func @folded() -> (tensor<3xf8E4M3FN>, tensor<3xf8E5M2>, tensor<3xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.constant dense<"0x387E7F"> : tensor<3xf8E4M3FN>
  // CHECK-NEXT: %[[B:.*]] = graph.constant dense<"0x3C7B7C"> : tensor<3xf8E5M2>
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<"0x0000803F0000E0430000C07F"> : tensor<3xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]]
  %0 = graph.constant dense<[1.0625, 464.0, 465.0]> : tensor<3xf32>
  %1 = graph.constant dense<[1.125, 61439.0, 61440.0]> : tensor<3xf32>
  %2 = graph.astype %0, dtype = f8E4M3FN : (tensor<3xf32>) -> tensor<3xf8E4M3FN>
  %3 = graph.astype %1, dtype = f8E5M2 : (tensor<3xf32>) -> tensor<3xf8E5M2>
  %4 = graph.astype %2, dtype = f32 : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
  func.return %2, %3, %4 : tensor<3xf8E4M3FN>, tensor<3xf8E5M2>, tensor<3xf32>
}

/// The element just above a tie in f64 is not one in f32.
// CHECK-LABEL: func.func @no_second_rounding(
func.func @no_second_rounding() -> tensor<2xf8E4M3FN> {
  // CHECK-NEXT: graph.constant dense<[1.1, 1.0]> : tensor<2xf8E4M3FN>
  %0 = graph.constant dense<[1.0625000000000002, 1.0625]> : tensor<2xf64>
  %1 = graph.astype %0, dtype = f8E4M3FN : (tensor<2xf64>) -> tensor<2xf8E4M3FN>
  func.return %1 : tensor<2xf8E4M3FN>
}
