// RUN: stepwell-opt %s -p fold-constant | filecheck %s

/// Arithmetic on constants, in the arithmetic of the type: i8 wraps. Equal elements become `graph.full`.
// CHECK-LABEL: func.func @arithmetic(
func.func @arithmetic() -> (tensor<2xf32>, tensor<2xi8>, tensor<2xi8>) {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[3.0, 6.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.constant dense<[-2, 0]> : tensor<2xi8>
  // CHECK-NEXT: %[[G:.*]] = graph.full 2 : tensor<2xi8>
  // CHECK-NEXT: func.return %[[C]], %[[E]], %[[G]] : tensor<2xf32>, tensor<2xi8>, tensor<2xi8>
  %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = graph.full 3.0 : tensor<f32>
  %c = graph.multiply %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %d = graph.constant dense<[127, -128]> : tensor<2xi8>
  %e = graph.add %d, %d : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  %f = graph.full 1 : tensor<2xi8>
  %g = graph.add %f, %f : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  func.return %c, %e, %g : tensor<2xf32>, tensor<2xi8>, tensor<2xi8>
}

/// Ops that are alike, and ops that differ in a property or in the order of operands alone.
// CHECK-LABEL: func.func @alike(
func.func @alike() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[4.0, 6.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.constant dense<[3.0, 7.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.constant dense<[1.0, -1.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[F:.*]] = graph.constant dense<[-1.0, 1.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[G:.*]] = graph.full 0.0 : tensor<2xf32>
  // CHECK-NEXT: func.return %[[C]], %[[D]], %[[E]], %[[F]], %[[G]] :
  %a = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c = graph.sum %a, axis = [0] : (tensor<2x2xf32>) -> tensor<2xf32>
  %d = graph.sum %a, axis = [1] : (tensor<2x2xf32>) -> tensor<2xf32>
  %e = graph.subtract %c, %d : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %f = graph.subtract %d, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %g = graph.subtract %c, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %c, %d, %e, %f, %g : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

/// Chains fold in one go, several results too; bf16 and i1.
// CHECK-LABEL: func.func @chain(
func.func @chain() -> (tensor<1xbf16>, tensor<2xi1>) {
  // CHECK-NEXT: %[[B:.*]] = graph.constant dense<1.0> : tensor<1xbf16>
  // CHECK-NEXT: %[[D:.*]] = graph.constant dense<7.38> : tensor<1xbf16>
  // CHECK-NEXT: %[[F:.*]] = graph.full false : tensor<2xi1>
  // CHECK-NEXT: func.return %[[D]], %[[F]] : tensor<1xbf16>, tensor<2xi1>
  %a = graph.constant dense<[1.0, 2.0]> : tensor<2xbf16>
  %b, %c = graph.split %a, sections = 2 : (tensor<2xbf16>) -> (tensor<1xbf16>, tensor<1xbf16>)
  %d = graph.exp %c : (tensor<1xbf16>) -> tensor<1xbf16>
  %e = graph.less %a, %d : (tensor<2xbf16>, tensor<1xbf16>) -> tensor<2xi1>
  %f = graph.logical_not %e : (tensor<2xi1>) -> tensor<2xi1>
  func.return %d, %f : tensor<1xbf16>, tensor<2xi1>
}

/// An op that would fail stays and fails when it is run.
// CHECK-LABEL: func.func @no_failure(
func.func @no_failure() -> (tensor<2xi32>, tensor<i64>) {
  // CHECK-NEXT: %[[A:.*]] = graph.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK-NEXT: %[[Z:.*]] = graph.full 0 : tensor<2xi32>
  // CHECK-NEXT: %[[B:.*]] = graph.divide %[[A]], %[[Z]] : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  // CHECK-NEXT: %[[I:.*]] = graph.full 7 : tensor<i64>
  // CHECK-NEXT: %[[T:.*]] = graph.constant dense<[1, 2]> : tensor<2xi64>
  // CHECK-NEXT: %[[C:.*]] = graph.take %[[T]], %[[I]], axis = 0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  // CHECK-NEXT: func.return %[[B]], %[[C]] : tensor<2xi32>, tensor<i64>
  %a = graph.constant dense<[1, 2]> : tensor<2xi32>
  %z = graph.full 0 : tensor<2xi32>
  %b = graph.divide %a, %z : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %i = graph.full 7 : tensor<i64>
  %t = graph.constant dense<[1, 2]> : tensor<2xi64>
  %c = graph.take %t, %i, axis = 0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  func.return %b, %c : tensor<2xi32>, tensor<i64>
}

/// One that may fail and does not is folded.
// CHECK-LABEL: func.func @may_fail(
func.func @may_fail() -> tensor<2xi32> {
  // CHECK-NEXT: %[[B:.*]] = graph.constant dense<[3, -3]> : tensor<2xi32>
  // CHECK-NEXT: func.return %[[B]] : tensor<2xi32>
  %a = graph.constant dense<[7, -7]> : tensor<2xi32>
  %z = graph.full 2 : tensor<2xi32>
  %b = graph.divide %a, %z : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %b : tensor<2xi32>
}

/// Nothing to do where an operand is not constant.
// CHECK-LABEL: func.func @no_argument(
func.func @no_argument(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.full 3.0 : tensor<2xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.add %[[A]], %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[B]] : tensor<2xf32>
  %a = graph.full 3.0 : tensor<2xf32>
  %b = graph.add %a, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %b : tensor<2xf32>
}

/// Splats above the limit are not written out.
// CHECK-LABEL: func.func @no_large_splat(
func.func @no_large_splat() -> tensor<2000xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.full 3.0 : tensor<2000xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.exp %[[A]] : (tensor<2000xf32>) -> tensor<2000xf32>
  // CHECK-NEXT: func.return %[[B]] : tensor<2000xf32>
  %a = graph.full 3.0 : tensor<2000xf32>
  %b = graph.exp %a : (tensor<2000xf32>) -> tensor<2000xf32>
  func.return %b : tensor<2000xf32>
}

/// A branch with a constant condition is taken for good.
// CHECK-LABEL: func.func @taken(
func.func @taken(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[E]] : tensor<2xf32>
  %t = graph.constant dense<false> : tensor<i1>
  %not = graph.logical_not %t : (tensor<i1>) -> tensor<i1>
  %c = tensor.extract %not[] : tensor<i1>
  %r = scf.if %c -> (tensor<2xf32>) {
    %e = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %e : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  func.return %r : tensor<2xf32>
}

/// One with another condition stays.
// CHECK-LABEL: func.func @no_branch(
func.func @no_branch(%x: tensor<2xf32>, %c: i1) -> tensor<2xf32> {
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<2xf32>) {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: scf.yield %[[E]] : tensor<2xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %x : tensor<2xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %r = scf.if %c -> (tensor<2xf32>) {
    %e = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %e : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  func.return %r : tensor<2xf32>
}
