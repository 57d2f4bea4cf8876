// RUN: stepwell-opt %s -p 'sink-to-lca' | filecheck %s

/// One branch needs it.
// CHECK-LABEL: func.func @into_the_branch(
func.func @into_the_branch(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.sqrt %[[A]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[B]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %x : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a = graph.exp %x : (tensor<4xf32>)
  %b = graph.sqrt %a : (tensor<4xf32>)
  %r = scf.if %c -> (tensor<4xf32>) {
    scf.yield %b : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

/// z + z is needed in both branches; y + y only by the two arms of the inner branch; literals go along.
// CHECK-LABEL: func.func @nested_branches(
func.func @nested_branches(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>, %c: i1, %d: i1) -> tensor<4xf32> {
  // CHECK-NEXT: %[[ZZ:.*]] = graph.add %z, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[YY:.*]] = graph.add %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = scf.if %d -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[YY]], %[[ZZ]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[P]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.0 : tensor<4xf32>
  // CHECK-NEXT: %[[P_1:.*]] = graph.multiply %[[YY]], %[[K]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[P_1]] : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.yield %[[S]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[ZZ]] : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 2.0 : tensor<4xf32>
  %zz = graph.add %z, %z : (tensor<4xf32>, tensor<4xf32>)
  %yy = graph.add %y, %y : (tensor<4xf32>, tensor<4xf32>)
  %r = scf.if %c -> (tensor<4xf32>) {
    %s = scf.if %d -> (tensor<4xf32>) {
      %p = graph.multiply %yy, %zz : (tensor<4xf32>, tensor<4xf32>)
      scf.yield %p : tensor<4xf32>
    } else {
      %p = graph.multiply %yy, %k : (tensor<4xf32>, tensor<4xf32>)
      scf.yield %p : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %zz : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

/// A whole branch that only another one needs.
// CHECK-LABEL: func.func @branch_into_branch(
func.func @branch_into_branch(%x: tensor<4xf32>, %c: i1, %d: i1) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = scf.if %d -> (tensor<4xf32>) {
  // CHECK-NEXT: scf.yield %[[A]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %x : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[T:.*]] = graph.add %[[S]], %[[A]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[T]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %x : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a = graph.exp %x : (tensor<4xf32>)
  %s = scf.if %d -> (tensor<4xf32>) {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %r = scf.if %c -> (tensor<4xf32>) {
    %t = graph.add %s, %a : (tensor<4xf32>, tensor<4xf32>)
    scf.yield %t : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

/// Code without branches.
// CHECK-LABEL: func.func @no_straight_line(
func.func @no_straight_line(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[U:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.abs %[[A]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[B]] : tensor<4xf32>
  %a = graph.exp %x : (tensor<4xf32>)
  %u = graph.sqrt %x : (tensor<4xf32>)
  %b = graph.abs %a : (tensor<4xf32>)
  func.return %b : tensor<4xf32>
}

/// Used after the branch too.
// CHECK-LABEL: func.func @no_use_outside(
func.func @no_use_outside(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: scf.yield %[[A]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %x : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]], %[[A]] : tensor<4xf32>, tensor<4xf32>
  %a = graph.exp %x : (tensor<4xf32>)
  %r = scf.if %c -> (tensor<4xf32>) {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r, %a : tensor<4xf32>, tensor<4xf32>
}

/// A division of integers fails when a divisor is zero: it would fail no more where the branch is not taken.
// CHECK-LABEL: func.func @no_failing_op(
func.func @no_failing_op(%x: tensor<4xi32>, %y: tensor<4xi32>, %c: i1) -> tensor<4xi32> {
  // CHECK-NEXT: %[[A:.*]] = graph.divide %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xi32>) {
  // CHECK-NEXT: scf.yield %[[A]] : tensor<4xi32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %x : tensor<4xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %a = graph.divide %x, %y : (tensor<4xi32>, tensor<4xi32>)
  %r = scf.if %c -> (tensor<4xi32>) {
    scf.yield %a : tensor<4xi32>
  } else {
    scf.yield %x : tensor<4xi32>
  }
  func.return %r : tensor<4xi32>
}

/// The body of a loop runs often.
// CHECK-LABEL: func.func @no_loop_body(
func.func @no_loop_body(%x: tensor<4xf32>, %n: index, %c: i1) -> tensor<4xf32> {
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK-NEXT: %[[A:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = scf.for %[[I:.*]] = %[[ZERO]] to %n step %[[ONE]] iter_args(%[[V:.*]] = %x) -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[S:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[T:.*]] = graph.add %[[V]], %[[A]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[T]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[V]] : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.yield %[[S]] : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = graph.exp %x : (tensor<4xf32>)
  %r = scf.for %i = %zero to %n step %one iter_args(%v = %x) -> (tensor<4xf32>) {
    %s = scf.if %c -> (tensor<4xf32>) {
      %t = graph.add %v, %a : (tensor<4xf32>, tensor<4xf32>)
      scf.yield %t : tensor<4xf32>
    } else {
      scf.yield %v : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
