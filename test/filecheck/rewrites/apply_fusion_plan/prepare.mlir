// RUN: stepwell-opt %s -p apply-fusion-plan | filecheck %s

/// Functions that prepare weights differ in numbers only. The numbers are parameters there, and the function is one.
// CHECK-LABEL: func.func private @prepare_0(
// CHECK-NEXT: %w = graph.weight "w0" : tensor<4xf32>
// CHECK-NEXT: %s = graph.constant dense<2.0> : tensor<f32>
// CHECK-NEXT: func.call @fused_multiply_negative0(%w, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
func.func private @prepare_0() -> tensor<4xf32> attributes {stepwell.prepare} {
  %w = graph.weight "w0" : tensor<4xf32>
  %s = graph.full 2.0 : tensor<f32>
  %0 = graph.multiply %w, %s {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.negative %0 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @prepare_1(
// CHECK: graph.constant dense<3.0> : tensor<f32>
// CHECK-NEXT: func.call @fused_multiply_negative0(
func.func private @prepare_1() -> tensor<4xf32> attributes {stepwell.prepare} {
  %w = graph.weight "w1" : tensor<4xf32>
  %s = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.multiply %w, %s {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.negative %0 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// A constant with dimensions is copied as everywhere else.
// CHECK-LABEL: func.func private @no_tensors(
// CHECK-NEXT: %w = graph.weight
// CHECK-NEXT: func.call @fused_multiply_negative1(%w) : (tensor<4xf32>) -> tensor<4xf32>
func.func private @no_tensors() -> tensor<4xf32> attributes {stepwell.prepare} {
  %w = graph.weight "w1" : tensor<4xf32>
  %s = graph.full 3.0 : tensor<4xf32>
  %0 = graph.multiply %w, %s {graph.group = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.negative %0 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// In a kernel that runs with each call, a number is part of the arithmetic.
// CHECK-LABEL: func.func @no_prepare_function(
// CHECK-NEXT: func.call @fused_multiply_negative2(%x) : (tensor<4xf32>) -> tensor<4xf32>
func.func @no_prepare_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.full 3.0 : tensor<f32>
  %0 = graph.multiply %x, %s {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.negative %0 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
// CHECK-LABEL: func.func private @fused_multiply_negative0(
// CHECK-NEXT: graph.multiply
