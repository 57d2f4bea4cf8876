// RUN: stepwell-opt %s -p apply-fusion-plan --split-input-file --verify-diagnostics | filecheck %s
// RUN: stepwell-opt %s -p plan-fusion --split-input-file --verify-diagnostics | filecheck %s

/// A plan that cannot be carried out is an error at the op to change.
// CHECK: @valid
func.func @valid(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.relu %x {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @two_results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{'graph.relu': group 1 has one more result: %r is used outside}}
  %r = graph.relu %x {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.exp %r {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %e : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @unused_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'graph.relu': group 1 has one more result: nothing uses %r}}
  %r = graph.relu %x {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.exp %x {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// -----

func.func @cycle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.relu %x {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %t = graph.tanh %r {graph.group = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'graph.add': group 1 needs 'graph.tanh', which is outside and needs %r of the group}}
  %a = graph.add %r, %t {graph.group = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

func.func @two_groups_that_need_each_other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.relu %x {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.tanh %x {graph.group = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.exp %a {graph.group = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'graph.add': group 1 needs 'graph.exp', which is outside and needs %a of the group}}
  %d = graph.add %b, %c {graph.group = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// -----

func.func @two_blocks(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %0 = graph.relu %x {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = scf.if %c -> (tensor<4xf32>) {
    // expected-error@+1 {{'graph.exp': group 1 has ops in two blocks}}
    %2 = graph.exp %0 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %0 : tensor<4xf32>
  }
  func.return %1 : tensor<4xf32>
}

// -----

func.func @opaque(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{'graph.divide': cannot be in group 0: it may fail at run time}}
  %0 = graph.divide %x, %x {graph.group = 0 : i64} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %0 : tensor<4xi32>
}

// -----

func.func @constant() -> tensor<4xi32> {
  // expected-error@+1 {{'graph.constant': cannot be in group 0: it is no computation on tensors}}
  %0 = graph.constant {graph.group = 0 : i64} dense<1> : tensor<4xi32>
  func.return %0 : tensor<4xi32>
}

// -----

func.func @unknown_elements(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'graph.top_k': cannot be in group 0: nothing is known about which elements it needs}}
  %0, %1 = graph.top_k %x, k = 2 {graph.group = 0 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  func.return %0 : tensor<2xf32>
}

// -----

/// An op before the last has all of its results used inside.
func.func @one_of_several_results(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // expected-error@+1 {{group 0 has one more result: %a is used outside}}
  %a, %b = graph.split %x, sections = 2 {graph.group = 0 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %y = graph.relu %b {graph.group = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %a, %y : tensor<2xf32>, tensor<2xf32>
}

// -----

func.func @no_number(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'graph.relu': 'graph.group' is "one", expected a number such as 3 : i64}}
  %0 = graph.relu %x {graph.group = "one"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

/// Reductions of one tensor may have a result each, but what needs one of them must be able to wait for all.
func.func @what_they_need_themselves(%x: tensor<4x8xf32>, %w: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.max %x, axis = [1] {graph.group = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'graph.matmul': group 1 needs 'graph.matmul', which is outside and needs a result of the group}}
  %1 = graph.matmul %0, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  %2 = graph.min %x, axis = [1] {graph.group = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
  %3 = graph.add %2, %1 {graph.group = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @call_between(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.max %x, axis = [1] {graph.group = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'func.call' needs a result of group 1 before its last op, and may not move behind that}}
  %1 = func.call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.min %x, axis = [1] {graph.group = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

/// Reductions over different rows are no siblings.
func.func @other_rows(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-error@+1 {{'graph.max': group 1 has one more result: 'graph.max' is used outside}}
  %0 = graph.max %x, axis = [1] {graph.group = 1 : i64} : (tensor<8x8xf32>) -> tensor<8xf32>
  %1 = graph.min %x, axis = [0] {graph.group = 1 : i64} : (tensor<8x8xf32>) -> tensor<8xf32>
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
