// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/two_functions.rules"}' | filecheck %s

// CHECK-LABEL: func.func @subtract_of_negative(
// CHECK-NEXT: %[[M:.*]] = graph.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[M]]
func.func @subtract_of_negative(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.negative %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.subtract %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

/// One dimension instead of two, f64 instead of f32.
// CHECK-LABEL: func.func @no_subtract_of_negative(
// CHECK: graph.negative
// CHECK-NEXT: graph.subtract
// CHECK-NEXT: graph.negative
// CHECK-NEXT: graph.subtract
func.func @no_subtract_of_negative(%x: tensor<3xf32>, %y: tensor<2x3xf64>) -> (tensor<3xf32>, tensor<2x3xf64>) {
  %0 = graph.negative %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.subtract %x, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.negative %y : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %3 = graph.subtract %y, %2 : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %1, %3 : tensor<3xf32>, tensor<2x3xf64>
}

// CHECK-LABEL: func.func @times_one(
// CHECK-NEXT: func.return %x
func.func @times_one(%x: tensor<2xi32>) -> tensor<2xi32> {
  %one = graph.full 1 : tensor<2xi32>
  %0 = graph.multiply %x, %one : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %0 : tensor<2xi32>
}
