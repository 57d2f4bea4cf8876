// RUN: stepwell-opt %s -p fuse-matmul-add | filecheck %s
// RUN: stepwell-opt %s -p fuse-ewise-fma | filecheck %s
// RUN: stepwell-opt %s -p 'apply-patterns{file="matmul_add"}' | filecheck %s
// RUN: stepwell-opt %s -p 'apply-patterns{file="ewise_fma" primitives}' | filecheck %s

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
