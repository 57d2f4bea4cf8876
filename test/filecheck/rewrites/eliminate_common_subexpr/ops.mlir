// RUN: stepwell-opt %s -p eliminate-common-subexpr | filecheck %s

/// Equal ops on equal operands are computed once; constants are equal by value.
// CHECK-LABEL: @same_ops(
func.func @same_ops(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[ONE:.*]] = graph.constant dense<1.0> : tensor<4xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.add %[[A]], %[[ONE]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.multiply %[[C]], %[[C]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[E]] : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %uno = graph.constant dense<1.0> : tensor<4xf32>
  %a = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.add %a, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = graph.add %b, %uno : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = graph.multiply %c, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

/// Addition commutes.
// CHECK-LABEL: @commuted(
func.func @commuted(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.divide %[[A]], %[[A]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[C]] : tensor<4xf32>
  %a = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.add %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = graph.divide %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

/// Subtraction does not.
// CHECK-LABEL: @no_commuted_subtract(
func.func @no_commuted_subtract(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.subtract %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.divide %[[A]], %[[B]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[C]] : tensor<4xf32>
  %a = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.subtract %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = graph.divide %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

/// -0.0 and 0.0 are different constants.
// CHECK-LABEL: @no_zeros_of_both_signs(
func.func @no_zeros_of_both_signs() -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.full 0.0 : tensor<2xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.full -0.0 : tensor<2xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<2xf32>, tensor<2xf32>
  %a = graph.full 0.0 : tensor<2xf32>
  %b = graph.full -0.0 : tensor<2xf32>
  func.return %a, %b : tensor<2xf32>, tensor<2xf32>
}

/// A property with another value, or another result type, is another op; one written with its default is not.
// CHECK-LABEL: @properties(
func.func @properties(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xbf16>) {
  // CHECK-NEXT: %[[A:.*]] = graph.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.softmax %x, axis = 0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.astype %x, dtype = f16 : (tensor<4x4xf32>) -> tensor<4x4xf16>
  // CHECK-NEXT: %[[E:.*]] = graph.astype %x, dtype = bf16 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  // CHECK-NEXT: func.return %[[A]], %[[A]], %[[C]], %[[D]], %[[E]] : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xbf16>
  %a = graph.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = graph.softmax %x, axis = -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = graph.softmax %x, axis = 0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = graph.astype %x, dtype = f16 : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %e = graph.astype %x, dtype = bf16 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  func.return %a, %b, %c, %d, %e : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xbf16>
}

/// Discardable attributes may mean something to somebody: other attributes, other op.
// CHECK-LABEL: @no_other_attributes(
func.func @no_other_attributes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.exp %x {my.tag = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xf32>, tensor<4xf32>
  %a = graph.exp %x {my.tag = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

/// `graph.no_cse` protects an op.
// CHECK-LABEL: @no_protected(
func.func @no_protected(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.exp %x {graph.no_cse} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.exp %x {graph.no_cse} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xf32>, tensor<4xf32>
  %a = graph.exp %x {graph.no_cse} : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.exp %x {graph.no_cse} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

/// Several results, several operands (equal concatenations of equal parts).
// CHECK-LABEL: @results_and_operands(
func.func @results_and_operands(%x: tensor<4xf32>, %y: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]], %[[B:.*]] = graph.split %x, sections = 2 : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  // CHECK-NEXT: %[[E:.*]] = graph.concat %[[A]], %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[E]], %[[E]] : tensor<4xf32>, tensor<4xf32>
  %a, %b = graph.split %x, sections = 2 : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %c, %d = graph.split %x, sections = 2 : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %e = graph.concat %a, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %f = graph.concat %c, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  func.return %e, %f : tensor<4xf32>, tensor<4xf32>
}

/// Ops that may fail are merged with an earlier one: it fails first.
// CHECK-LABEL: @may_fail(
func.func @may_fail(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.divide %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[A]] : tensor<4xi32>, tensor<4xi32>
  %a = graph.divide %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %b = graph.divide %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %a, %b : tensor<4xi32>, tensor<4xi32>
}

/// Functions do not share: what one returns is not available in another.
// CHECK-LABEL: @no_other_function(
func.func @no_other_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.constant dense<1.0> : tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]] : tensor<4xf32>
  %a = graph.constant dense<1.0> : tensor<4xf32>
  func.return %a : tensor<4xf32>
}
// CHECK-LABEL: @no_other_function_either(
func.func @no_other_function_either(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.constant dense<1.0> : tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]] : tensor<4xf32>
  %a = graph.constant dense<1.0> : tensor<4xf32>
  func.return %a : tensor<4xf32>
}

/// A call of a function in which everything is pure is pure; a call of one that is only declared may do anything.
// CHECK-LABEL: @square_of(
func.func private @square_of(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]] : tensor<4xf32>
  %a = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
// CHECK-LABEL: @unknown(
func.func private @unknown(tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: @calls(
func.func @calls(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = func.call @square_of(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = func.call @unknown(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[D:.*]] = func.call @unknown(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[A]], %[[C]], %[[D]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %a = func.call @square_of(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @square_of(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @unknown(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %d = func.call @unknown(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
