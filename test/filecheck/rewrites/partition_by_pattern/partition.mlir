// RUN: stepwell-opt %s -p 'partition-by-pattern{table="%S/matmul.rules"}' | filecheck %s
// RUN: stepwell-opt %s -p 'partition-by-pattern{table="%S/matmul.rules"},partition-by-pattern{table="%S/matmul.rules"}' | filecheck %s
// RUN: stepwell-opt %s -p 'partition-by-pattern{table="%S/matmul.rules" annotate-codegen}' | filecheck %s --check-prefix=CODEGEN
// RUN: stepwell-opt %s -p 'partition-by-pattern{table="%S/matmul.rules" bind-constants}' | filecheck %s --check-prefix=BIND
// RUN: stepwell-opt %s -p 'partition-by-pattern{table="%S/matmul.rules"}' --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: not stepwell-opt %s -p 'partition-by-pattern{table=opnblas}' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: there is no pattern table 'opnblas', did you mean 'openblas'?; there is {{.*}}openblas

/// The second pattern contains the match of the first, so it wins although it comes later.
// CHECK-LABEL: func.func @containing_match(
// CHECK-NEXT: %[[R:.*]] = func.call @acc_matmul_add_clip_0(%x, %w, %b)
// CHECK-NEXT: func.return %[[R]]
func.func @containing_match(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = graph.add %0, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %2 = graph.clip %1, min = 0.0, max = 6.0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return %2 : tensor<4x2xf32>
}

/// The third pattern shares the sum with a match of the first, which does not lie inside: the first stays.
// CHECK-LABEL: func.func @earlier_match(
// CHECK-NEXT: %[[S:.*]] = func.call @acc_matmul_add_0(%x, %w, %b)
// CHECK-NEXT: graph.relu %[[S]]
// REMARK: remark: 'graph.relu': not 'acc.add_relu': it shares an op with a match of 'acc.matmul_add'
func.func @earlier_match(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = graph.add %0, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %2 = graph.relu %1 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return %2 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @no_use_outside(
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.add
// CHECK-NEXT: func.return
// REMARK: remark: 'graph.add': not 'acc.matmul_add': 'graph.matmul' is used outside the match
func.func @no_use_outside(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = graph.add %0, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  func.return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}

/// The tanh outside lies between the product and the sum.
// CHECK-LABEL: func.func @no_cycle(
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.tanh
// CHECK-NEXT: graph.add
// REMARK: remark: 'graph.add': not 'acc.matmul_add': it would depend on itself: 'graph.matmul' is used outside on the way back into it
func.func @no_cycle(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = graph.tanh %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = graph.add %0, %1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return %2 : tensor<4x2xf32>
}

/// The remark of a condition.
// CHECK-LABEL: func.func @no_single_use(
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.relu
// REMARK: remark: 'graph.relu': the sum has 2 users
func.func @no_single_use(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

/// A constant that the pattern names is part of the function, others with bind-constants only.
// CHECK-LABEL: func.func @constants(
// CHECK-NEXT: %[[K:.*]] = graph.full 3.0
// CHECK-NEXT: func.call @acc_double_0(%[[K]])
// BIND-LABEL: func.func @constants(
// BIND-NEXT: func.call @acc_double_0()
func.func @constants() -> tensor<4xf32> {
  %k = graph.full 3.0 : tensor<4xf32>
  %two = graph.full 2.0 : tensor<4xf32>
  %0 = graph.multiply %k, %two : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK: func.func private @acc_matmul_add_clip_0(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> attributes {graph.primitive, acc.fast = true, graph.composite = "acc.matmul_add_clip"} {
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.clip
// CHECK-NEXT: func.return
// CODEGEN: func.func private @acc_matmul_add_clip_0({{.*}} attributes {{{.*}}graph.compiler = "acc"{{.*}}
// CHECK: func.func private @acc_double_0(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: graph.full 2.0
// BIND: func.func private @acc_double_0() -> tensor<4xf32>
