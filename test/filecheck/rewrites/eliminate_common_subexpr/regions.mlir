// RUN: stepwell-opt %s -p eliminate-common-subexpr | filecheck %s

/// What is computed before a branch is reused inside; the two branches do not reuse from each other, nor does the code after.
// CHECK-LABEL: @before_branch(
func.func @before_branch(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[S:.*]] = graph.sqrt %[[A]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[S]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: %[[S_1:.*]] = graph.sqrt %[[A]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[S_1]] : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[T:.*]] = graph.sqrt %[[A]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[T]] : tensor<4xf32>, tensor<4xf32>
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = scf.if %c -> (tensor<4xf32>) {
    %b = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %s = graph.sqrt %b : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    %s = graph.sqrt %a : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  %t = graph.sqrt %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %t : tensor<4xf32>, tensor<4xf32>
}

/// Ops with equal regions are equal, whatever the order of commutative operands inside.
// CHECK-LABEL: @equal_regions(
func.func @equal_regions(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[B:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.exp %[[B]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[D]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %y : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]], %[[R]] : tensor<4xf32>, tensor<4xf32>
  %r = scf.if %c -> (tensor<4xf32>) {
    %b = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d = graph.exp %b : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  %s = scf.if %c -> (tensor<4xf32>) {
    %b = graph.add %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %e = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d = graph.exp %e : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

/// Swapped branches are something else.
// CHECK-LABEL: @no_swapped_regions(
func.func @no_swapped_regions(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: scf.yield %x : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %y : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[S:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: scf.yield %y : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %x : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<4xf32>, tensor<4xf32>
  %r = scf.if %c -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  %s = scf.if %c -> (tensor<4xf32>) {
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

/// Blocks: the entry dominates all, the two arms do not dominate each other or the end.
// CHECK-LABEL: @blocks(
func.func @blocks(%x: i32, %c: i1) -> i32 {
  // CHECK-NEXT: %[[A:.*]] = arith.muli %x, %x : i32
  // CHECK-NEXT: cf.cond_br %c, ^left, ^right
  // CHECK-NEXT: ^left:
  // CHECK-NEXT: %[[D:.*]] = arith.addi %[[A]], %x : i32
  // CHECK-NEXT: cf.br ^end(%[[D]] : i32)
  // CHECK-NEXT: ^right:
  // CHECK-NEXT: %[[E:.*]] = arith.addi %x, %[[A]] : i32
  // CHECK-NEXT: cf.br ^end(%[[E]] : i32)
  // CHECK-NEXT: ^end(%[[F:.*]]: i32):
  // CHECK-NEXT: %[[G:.*]] = arith.addi %[[A]], %x : i32
  // CHECK-NEXT: %[[H:.*]] = arith.muli %[[F]], %[[G]] : i32
  // CHECK-NEXT: func.return %[[H]] : i32
  %a = arith.muli %x, %x : i32
  cf.cond_br %c, ^left, ^right
^left:
  %b = arith.muli %x, %x : i32
  %d = arith.addi %b, %x : i32
  cf.br ^end(%d : i32)
^right:
  %e = arith.addi %x, %a : i32
  cf.br ^end(%e : i32)
^end(%f: i32):
  %g = arith.addi %a, %x : i32
  %h = arith.muli %f, %g : i32
  func.return %h : i32
}

/// Loads merge in a block unless something writes between.
// CHECK-LABEL: @loads(
func.func @loads(%m: memref<4xi32>, %i: index, %v: i32) -> (i32, i32, i32) {
  // CHECK-NEXT: %[[A:.*]] = memref.load %m[%i] : memref<4xi32>
  // CHECK-NEXT: memref.store %v, %m[%i] : memref<4xi32>
  // CHECK-NEXT: %[[C:.*]] = memref.load %m[%i] : memref<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[A]], %[[C]] : i32, i32, i32
  %a = memref.load %m[%i] : memref<4xi32>
  %b = memref.load %m[%i] : memref<4xi32>
  memref.store %v, %m[%i] : memref<4xi32>
  %c = memref.load %m[%i] : memref<4xi32>
  func.return %a, %b, %c : i32, i32, i32
}

/// Allocations never merge.
// CHECK-LABEL: @no_allocations(
func.func @no_allocations() -> (memref<4xi32>, memref<4xi32>) {
  // CHECK-NEXT: %[[A:.*]] = memref.alloc() : memref<4xi32>
  // CHECK-NEXT: %[[B:.*]] = memref.alloc() : memref<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : memref<4xi32>, memref<4xi32>
  %a = memref.alloc() : memref<4xi32>
  %b = memref.alloc() : memref<4xi32>
  func.return %a, %b : memref<4xi32>, memref<4xi32>
}
