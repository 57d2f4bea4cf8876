// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// f16 holds every value of f8E4M3FN.
// CHECK-LABEL: func.func @there_and_back(
func.func @there_and_back(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // CHECK-NEXT: func.return %x
  %0 = graph.astype %x, dtype = f16 : (tensor<4xf8E4M3FN>) -> tensor<4xf16>
  %1 = graph.astype %0, dtype = f8E4M3FN : (tensor<4xf16>) -> tensor<4xf8E4M3FN>
  func.return %1 : tensor<4xf8E4M3FN>
}

// CHECK-LABEL: func.func @a_step_that_holds_all(
func.func @a_step_that_holds_all(%x: tensor<4xf8E5M2>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.astype %x, dtype = f32 : (tensor<4xf8E5M2>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[Y]]
  %0 = graph.astype %x, dtype = f16 : (tensor<4xf8E5M2>) -> tensor<4xf16>
  %1 = graph.astype %0, dtype = f32 : (tensor<4xf16>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// f8E5M2 lacks a digit.
// CHECK-LABEL: func.func @no_step_that_rounds(
func.func @no_step_that_rounds(%x: tensor<4xf8E4M3FN>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.astype %x, dtype = f8E5M2
  // CHECK-NEXT: graph.astype %{{.*}}, dtype = f32
  %0 = graph.astype %x, dtype = f8E5M2 : (tensor<4xf8E4M3FN>) -> tensor<4xf8E5M2>
  %1 = graph.astype %0, dtype = f32 : (tensor<4xf8E5M2>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// Quantising for a test of accuracy rounds: it is no identity.
// CHECK-LABEL: func.func @no_identity(
func.func @no_identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.clip %x, min = -448.0, max = 448.0
  // CHECK-NEXT: graph.astype %{{.*}}, dtype = f8E4M3FN
  // CHECK-NEXT: graph.astype %{{.*}}, dtype = f32
  %0 = graph.clip %x, min = -448.0, max = 448.0 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.astype %0, dtype = f8E4M3FN : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %2 = graph.astype %1, dtype = f32 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
