// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// where(true, x, y) = x.
// CHECK-LABEL: @where_true(
func.func @where_true(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %c = graph.full true : tensor<4xi1>
  %r = graph.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// where(false, x, y) = y.
// CHECK-LABEL: @where_false(
func.func @where_false(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %y : tensor<4xf32>
  %c = graph.constant dense<false> : tensor<i1>
  %r = graph.where %c, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// The value that is not taken still stretches the one that is.
// CHECK-LABEL: @no_where_that_broadcasts(
func.func @no_where_that_broadcasts(%x: tensor<1xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<true> : tensor<i1>
  // CHECK-NEXT: %[[R:.*]] = graph.where %[[C]], %x, %y : (tensor<i1>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %c = graph.constant dense<true> : tensor<i1>
  %r = graph.where %c, %x, %y : (tensor<i1>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// With `?` nobody knows whether it stretches.
// CHECK-LABEL: @no_where_of_unknown_size(
func.func @no_where_of_unknown_size(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<true> : tensor<i1>
  // CHECK-NEXT: %[[R:.*]] = graph.where %[[C]], %x, %y : (tensor<i1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?xf32>
  %c = graph.constant dense<true> : tensor<i1>
  %r = graph.where %c, %x, %y : (tensor<i1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}

/// A condition of both kinds is needed.
// CHECK-LABEL: @no_where_mixed(
func.func @no_where_mixed(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[true, false, true, true]> : tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.where %[[C]], %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %c = graph.constant dense<[true, false, true, true]> : tensor<4xi1>
  %r = graph.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// where(c, x, x) = x.
// CHECK-LABEL: @where_same(
func.func @where_same(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %r = graph.where %c, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
