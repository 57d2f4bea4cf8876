// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/two_functions_wildcards.rules"}' | filecheck %s
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/two_functions_wildcards.rules"}' --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/two_functions_wildcards.rules" rules="subtract_of_negative_by_call" also="%S/pdl.rules"}' | filecheck %s --check-prefix=ONE
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/two_functions.rules" also="%S/two_functions_wildcards.rules"}' | filecheck %s
// RUN: not stepwell-opt %s -p 'apply-patterns{file="%S/two_functions.rules" also="%S/two_functions.rules"}' 2>&1 | filecheck %s --check-prefix=TWICE

// TWICE: error: apply-patterns: rule 'subtract_of_negative' is in
// REMARK: two_functions_wildcards.mlir:46:3: remark: 'graph.concat': not replaced: the result of 'graph.negative' is used outside of the pattern

// CHECK-LABEL: func.func @sum_of_itself(
// CHECK-NEXT: %[[TWO:.*]] = graph.full 2.0 : tensor<f64>
// CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[TWO]] : (tensor<?x3xf64>, tensor<f64>) -> tensor<?x3xf64>
// CHECK-NEXT: func.return %[[R]]
// ONE-LABEL: func.func @sum_of_itself(
// ONE-NEXT: graph.add
func.func @sum_of_itself(%x: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %0 = graph.add %x, %x : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  func.return %0 : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @no_sum_of_itself(
// CHECK-NEXT: graph.add
func.func @no_sum_of_itself(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %0 = graph.add %x, %y : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  func.return %0 : tensor<3xf64>
}

// CHECK-LABEL: func.func @negatives(
// CHECK-NEXT: %[[C:.*]] = graph.concat %x, %y, axis = 2 : (tensor<?x1x2xi32>, tensor<?x1x3xi32>) -> tensor<?x1x5xi32>
// CHECK-NEXT: graph.negative %[[C]]
func.func @negatives(%x: tensor<?x1x2xi32>, %y: tensor<?x1x3xi32>) -> tensor<?x1x5xi32> {
  %0 = graph.negative %x : (tensor<?x1x2xi32>) -> tensor<?x1x2xi32>
  %1 = graph.negative %y : (tensor<?x1x3xi32>) -> tensor<?x1x3xi32>
  %2 = graph.concat %0, %1, axis = 2 : (tensor<?x1x2xi32>, tensor<?x1x3xi32>) -> tensor<?x1x5xi32>
  func.return %2 : tensor<?x1x5xi32>
}

/// One of the operands has a user outside.
// CHECK-LABEL: func.func @no_negatives(
// CHECK-NEXT: graph.negative
// CHECK-NEXT: graph.negative
// CHECK-NEXT: graph.concat
func.func @no_negatives(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<5xf32>, tensor<2xf32>) {
  %0 = graph.negative %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.negative %y : (tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.concat %0, %1, axis = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  func.return %2, %0 : tensor<5xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @products(
// CHECK-NEXT: %[[C:.*]] = graph.concat %v, %w, axis = 1
// CHECK-NEXT: %[[P:.*]] = graph.matmul %x, %[[C]]
// CHECK-NEXT: %[[A:.*]], %[[B:.*]] = graph.split %[[P]]
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @products(%x: tensor<2x4xf32>, %v: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = graph.matmul %x, %v : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %1 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  func.return %0, %1 : tensor<2x8xf32>, tensor<2x8xf32>
}

/// Two tensors.
// CHECK-LABEL: func.func @no_products(
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: func.return
func.func @no_products(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %1 = graph.matmul %y, %w : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  func.return %0, %1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// CHECK-LABEL: func.func @subtract_of_negative_by_call(
// CHECK-NEXT: %[[C:.*]] = func.call @sum(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: func.call @sum(%[[C]], %y)
// CHECK-NEXT: func.return
// ONE: func.call @sum
func.func @subtract_of_negative_by_call(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.negative %y : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.subtract %x, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.negative %y : (tensor<8xf32>) -> tensor<8xf32>
  %3 = graph.subtract %1, %2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %3 : tensor<8xf32>
}

// CHECK: func.func private @sum(
// CHECK-NEXT: graph.add
