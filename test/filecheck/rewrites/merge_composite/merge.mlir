// RUN: stepwell-opt %s -p 'merge-composite{table="%S/matmul.rules"}' | filecheck %s
// RUN: stepwell-opt %s -p 'merge-composite{table="%S/matmul.rules"},merge-composite{table="%S/matmul.rules"}' | filecheck %s
// RUN: stepwell-opt %s -p 'merge-composite{table="%S/matmul.rules"},inline-primitive' | filecheck %s --check-prefix=BACK
// RUN: stepwell-opt %s -p 'merge-composite{table="%S/matmul.rules"}' --remarks 2>&1 | filecheck %s --check-prefix=REMARK

/// Here the earlier entry wins, although the later one would take more.
// CHECK-LABEL: func.func @earlier_entry(
// CHECK-NEXT: %[[S:.*]] = func.call @acc_matmul_add_0(%x, %w, %b)
// CHECK-NEXT: graph.clip %[[S]]
// REMARK: remark: 'graph.clip': not 'acc.matmul_add_clip': it shares an op with a match of 'acc.matmul_add'
// BACK-LABEL: func.func @earlier_entry(
// BACK-NEXT: graph.matmul
// BACK-NEXT: graph.add
// BACK-NEXT: graph.clip
func.func @earlier_entry(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = graph.add %0, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %2 = graph.clip %1, min = 0.0, max = 6.0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
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

/// Two equal matches are two functions; the order of the operands of the sum does not matter.
// CHECK-LABEL: func.func @two(
// CHECK-NEXT: %[[A:.*]] = func.call @acc_matmul_add_1(%x, %w, %b)
// CHECK-NEXT: func.call @acc_matmul_add_2(%x, %w, %[[A]])
func.func @two(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %2 = graph.add %0, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %3 = graph.add %2, %1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return %3 : tensor<4x2xf32>
}

// CHECK: func.func private @acc_matmul_add_0(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> attributes {graph.primitive, graph.composite = "acc.matmul_add"} {
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.add
