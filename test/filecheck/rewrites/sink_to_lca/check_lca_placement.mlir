// RUN: stepwell-opt %s --split-input-file --verify-diagnostics -p check-lca-placement | filecheck %s

/// What both branches need stands before them; each has its own as well.
// CHECK-LABEL: @well_placed
func.func @well_placed(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = scf.if %c -> (tensor<4xf32>) {
    %s = graph.sqrt %a : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    %s = graph.abs %a : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

/// Equal ops that do not dominate each other but are in one line are no business of this pass, nor are ops that may fail.
// CHECK-LABEL: @no_fault
func.func @no_fault(%x: tensor<4xi32>, %y: tensor<4xi32>, %c: i1) -> tensor<4xi32> {
  %a = graph.divide %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = scf.if %c -> (tensor<4xi32>) {
    %s = graph.divide %y, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %t = graph.add %s, %a : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    scf.yield %t : tensor<4xi32>
  } else {
    %s = graph.divide %y, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    scf.yield %s : tensor<4xi32>
  }
  func.return %r : tensor<4xi32>
}

// -----

func.func @in_both_branches(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = scf.if %c -> (tensor<4xf32>) {
    %s = graph.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    // expected-error@+1 {{'graph.add': computed in branches apart, expected once in the block around them}}
    %s = graph.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

func.func @in_the_arms_of_two_branches(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = scf.if %c -> (tensor<4xf32>) {
    %s = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %q = scf.if %c -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    // expected-error@+1 {{'graph.add': computed in branches apart, expected once in the block around them}}
    %s = graph.add %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @too_high(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // expected-error@+1 {{'graph.exp': all uses are in one branch}}
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = scf.if %c -> (tensor<4xf32>) {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
