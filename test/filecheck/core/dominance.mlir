// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// A value defined before a branch is used in the blocks that its own block dominates.
// CHECK-LABEL: @through_blocks
func.func @through_blocks(%c: i1, %x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  cf.cond_br %c, ^left, ^right
^left:
  %z = arith.addi %y, %x : i32
  cf.br ^join(%z : i32)
^right:
  cf.br ^join(%y : i32)
^join(%result: i32):
  %w = arith.addi %result, %y : i32
  func.return %w : i32
}

/// The order of the blocks in the text says nothing: ^second dominates ^first.
// CHECK-LABEL: @textual_order
func.func @textual_order(%x: i32) -> i32 {
  cf.br ^second
^first:
  func.return %y : i32
^second:
  %y = arith.addi %x, %x : i32
  cf.br ^first
}

/// Code that never runs may use anything of its function.
// CHECK-LABEL: @unreachable
func.func @unreachable(%x: i32) -> i32 {
  func.return %x : i32
^never:
  %a = arith.addi %b, %x : i32
  %b = arith.addi %a, %x : i32
  func.return %b : i32
}

/// A loop-carried value and a value from outside are both visible inside the loop.
// CHECK-LABEL: @nested_regions
func.func @nested_regions(%n: index, %x: i32) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> (i32) {
    %next = arith.addi %acc, %x : i32
    scf.yield %next : i32
  }
  func.return %sum : i32
}

// -----

func.func @no_one_sided_definition(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^left, ^join
^left:
  %y = arith.addi %x, %x : i32
  cf.br ^join
^join:
  // expected-error@+1 {{operand 0 (%y) is defined at line 56 in a block that does not dominate this one}}
  func.return %y : i32
}

// -----

func.func @no_own_result(%x: i32) -> i32 {
  // expected-error@+1 {{operand 1 (%y) is a result of the op itself}}
  %y = arith.addi %x, %y : i32
  func.return %y : i32
}

// -----

func.func @no_later_use(%x: i32) -> i32 {
  // expected-error@+1 {{operand 0 (%y) is used before its definition at line 76}}
  %z = arith.addi %y, %x : i32
  %y = arith.addi %x, %x : i32
  func.return %z : i32
}

// -----

func.func @no_result_inside_its_own_loop(%n: index, %x: i32) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> (i32) {
    // expected-error@+1 {{operand 0 (%sum) is a result of the op itself}}
    %next = arith.addi %sum, %x : i32
    scf.yield %next : i32
  }
  func.return %sum : i32
}

// -----

func.func @no_inner_value_outside() -> i32 {
  %c = arith.constant true
  // expected-error@+1 {{value %inner is used but never defined}}
  func.return %inner : i32
}
