// RUN: stepwell-opt %s -p 'plan-fusion{file="%S/own.rules"}' --remarks 2>&1 | filecheck %s
// RUN: not stepwell-opt %s -p 'plan-fusion{file="no_such.mlir"}' 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not stepwell-opt %s -p 'plan-fusion{rules="fuse-into-injectiv"}' 2>&1 | filecheck %s --check-prefix=RULE
// RUN: not stepwell-opt %s -p 'plan-fusion{file="%S/wrong.rules"}' 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: not stepwell-opt --test-rules=%S/wrong_kind.rules 2>&1 | filecheck %s --check-prefix=KIND
// RUN: not stepwell-opt %s -p 'plan-fusion{file="%S/unknown.rules"}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not stepwell-opt %s -p 'plan-fusion{max-ops=0}' 2>&1 | filecheck %s --check-prefix=LIMIT

// FILE: error: cannot read 'no_such.mlir': no such file or directory
// RULE: error: plan-fusion has no rule 'fuse-into-injectiv', did you mean 'fuse-into-injective'?
// WRONG: wrong.rules:3:1: error: 'pattern.group_rule': group rule 'duplicates' does not say that all users of the producer are in the merged group
// WRONG: hint: require "single-use"(%producer) or "post-dominated"(%producer, %consumer)
// KIND: wrong_kind.rules:4:3: error: 'pattern.group': kind is 'graph.matmul', expected one of elementwise
// UNKNOWN: unknown.rules:4:3: error: 'pattern.require_groups': unknown group condition 'single-us'
// UNKNOWN: hint: did you mean 'single-use'?
// LIMIT: error: plan-fusion: max-ops is 0, expected at least 1

/// The rule of the file merges, and remarks are its own, and no other does.
// CHECK: remark: 'graph.add': not fused: no rule merges an out-fusable group into an elementwise group
// CHECK: remark: 'graph.abs': not fused: %sum is wanted by 2
// CHECK-LABEL: @main(
func.func @main(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64, graph.group_reason = "pairs"}
  // CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 2 : i64} :
  // CHECK-NEXT: graph.abs {{.*}}{graph.group = 3 : i64, graph.group_reason = "pairs"}
  // CHECK-NEXT: graph.multiply {{.*}}{graph.group = 3 : i64} :
  %0 = graph.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.sum %0, axis = [1] : (tensor<4x4xf32>) -> tensor<4xf32>
  %2 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = graph.add %2, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %4 = graph.abs %sum : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = graph.multiply %4, %sum : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1, %5 : tensor<4xf32>, tensor<4x4xf32>
}
