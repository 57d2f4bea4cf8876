// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/two_functions.rules"}' | filecheck %s

// CHECK-LABEL: func.func @relu_of_sum(
// CHECK-NEXT: %[[M:.*]] = graph.maximum %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[M]]
func.func @relu_of_sum(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

/// One dimension instead of two, f64 instead of f32.
// CHECK-LABEL: func.func @no_relu_of_sum(
// CHECK: graph.add
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.relu
func.func @no_relu_of_sum(%x: tensor<3xf32>, %y: tensor<2x3xf64>) -> (tensor<3xf32>, tensor<2x3xf64>) {
  %0 = graph.add %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.relu %0 : (tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.add %y, %y : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %3 = graph.relu %2 : (tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %1, %3 : tensor<3xf32>, tensor<2x3xf64>
}

// CHECK-LABEL: func.func @times_one(
// CHECK-NEXT: func.return %x
func.func @times_one(%x: tensor<2xi32>) -> tensor<2xi32> {
  %one = graph.full 1 : tensor<2xi32>
  %0 = graph.multiply %x, %one : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %0 : tensor<2xi32>
}
