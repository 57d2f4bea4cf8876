// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/exp_relu.rules" attributes="target=npu"}' | filecheck %s
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/exp_relu.rules"}' --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/exp_relu.rules" function-name="group_"}' | filecheck %s --check-prefix=NAME
// RUN: not stepwell-opt %s -p 'partition-pattern{file="%S/exp_relu.rules" attributes="npu"}' 2>&1 | filecheck %s --check-prefix=INVALID
// RUN: not stepwell-opt %s -p 'apply-patterns{file="%S/exp_relu.rules"}' 2>&1 | filecheck %s --check-prefix=APPLY

// INVALID: error: partition-pattern: attribute is 'npu', expected name=text
// APPLY: error: apply-patterns: rule 'exp-relu' has no replacement; it is for the pass partition-pattern

// CHECK-LABEL: func.func @optional_op(
// CHECK-NEXT: %[[R:.*]] = func.call @partitioned0(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
// NAME: func.call @group_0(
func.func @optional_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

/// The exponential is used outside.
// CHECK-LABEL: func.func @no_use_outside(
// CHECK-NEXT: %[[E:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: graph.relu %[[E]]
// REMARK: remark: 'graph.relu': not partitioned: 'graph.exp' is used outside the match
func.func @no_use_outside(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func private @partitioned0(
// CHECK-SAME: attributes {composite = "exp_relu", target = "npu", graph.partitioned_from = "exp_relu_tanh_"}
// CHECK: graph.exp
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.tanh
