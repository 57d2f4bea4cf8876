// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/pdl.rules" numerics="fast"}' | filecheck %s
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/pdl.rules"}' | filecheck %s --check-prefix=DEFAULT
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/pdl.rules" numerics="fast"}' --statistics 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/pdl.rules" rules="difference_with_itself_negated"}' | filecheck %s --check-prefix=ONE

// COUNT: 1 difference_with_itself_negated
// COUNT-NEXT: 1 exp_of_log
// COUNT-NEXT: 1 relu-of-exp

// CHECK-LABEL: func.func @exp_of_log(
// CHECK-NEXT: func.return %x
// DEFAULT-LABEL: func.func @exp_of_log(
// DEFAULT-NEXT: graph.log
// DEFAULT-NEXT: graph.exp
func.func @exp_of_log(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_exp_of_log(
// CHECK: graph.exp
// CHECK-NEXT: graph.log
func.func @no_exp_of_log(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.log %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @difference_with_itself_negated(
// CHECK-NEXT: %[[D:.*]] = graph.subtract %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: func.return %[[D]]
func.func @difference_with_itself_negated(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = graph.negative %x : (tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.add %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %1 : tensor<4xi32>
}

/// The operands in the other order; elements that are no integers.
// CHECK-LABEL: func.func @no_difference_with_itself_negated(
// CHECK: graph.add
// CHECK: graph.add
func.func @no_difference_with_itself_negated(%x: tensor<4xi32>, %y: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %0 = graph.negative %x : (tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.add %0, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %2 = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.add %y, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %3 : tensor<4xi32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @relu_of_exp(
// CHECK-NEXT: %[[E:.*]] = graph.exp
// CHECK-NEXT: func.return %[[E]]
// ONE-LABEL: func.func @relu_of_exp(
// ONE-NEXT: graph.exp
// ONE-NEXT: graph.relu
func.func @relu_of_exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
