// RUN: stepwell-opt %s -p fuse-matmul-add | filecheck %s
// RUN: stepwell-opt %s -p fuse-ewise-fma | filecheck %s
// RUN: stepwell-opt %s -p 'apply-patterns{file="matmul_add"}' | filecheck %s
// RUN: stepwell-opt %s -p 'apply-patterns{file="ewise_fma" primitives}' | filecheck %s
// RUN: stepwell-opt %s -p simplify-expr,canonicalize-ops,eliminate-common-subexpr,simplify-inference | filecheck %s
// RUN: stepwell-opt %s -p fold-scale-axis,integer-arithmetic,combine-parallel-dense,canonicalize-cast | filecheck %s
// RUN: stepwell-opt %s -p 'apply-patterns{file="matmul_add" closed}' | filecheck %s --check-prefix=TOLD
// RUN: stepwell-opt %s -p 'apply-patterns{file="simplify" closed}' | filecheck %s --check-prefix=SIMPLER

/// AUDIT E3: functions for another compiler, and those that partitioning made, are left as they are.
// CHECK-LABEL: func.func private @external(
func.func private @external(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {graph.compiler = "npu"} {
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.multiply
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: func.return
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = graph.multiply %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.add %2, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  func.return %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func private @partitioned(
func.func private @partitioned(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {graph.partitioned_from = "matmul_add_multiply_add_"} {
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.multiply
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: func.return
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = graph.multiply %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.add %2, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  func.return %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

/// A composite has the body that its pattern has, even where that could be simpler.
// CHECK-LABEL: func.func private @composite(
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.relu
// CHECK-NEXT: func.return
// TOLD-LABEL: func.func private @composite(
// TOLD-NEXT: func.call @fused_matmul_add
// SIMPLER-LABEL: func.func private @composite(
// SIMPLER: graph.relu
// SIMPLER-NEXT: func.return
func.func private @composite(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> attributes {graph.composite = "npu.dense"} {
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = graph.relu %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.relu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

/// Any other function is open.
// SIMPLER-LABEL: func.func @open(
// SIMPLER: graph.relu
// SIMPLER-NEXT: func.return
func.func @open(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}
