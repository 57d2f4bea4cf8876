// RUN: stepwell-opt %s -p apply-fusion-plan | filecheck %s
// RUN: stepwell-opt %s -p apply-fusion-plan,apply-fusion-plan | filecheck %s
// RUN: stepwell-opt %s -p apply-fusion-plan,inline-primitive | filecheck %s --check-prefix=INLINED

/// A group is a function named after its ops; its last op gives the result. One op alone stays.
// CHECK-LABEL: func.func @main(
// INLINED-LABEL: func.func @main(
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: %y = func.call @fused_matmul_add1(%x, %w, %b) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: %[[Z:.*]] = graph.relu %y : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: func.return %[[Z]]
  // INLINED: graph.matmul %x, %w :
  // INLINED-NEXT: %y = graph.add %{{.*}}, %b :
  // INLINED-NEXT: graph.relu %y :
  %0 = graph.matmul %x, %w {graph.group = 3 : i64} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %y = graph.add %0, %b {graph.group = 3 : i64, graph.group_reason = "by hand"} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %2 = graph.relu %y {graph.group = 5 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %2 : tensor<4x6xf32>
}

/// Numbers belong to one function. The same computation is the same function, on other values.
// CHECK-LABEL: func.func @shared_function(
func.func @shared_function(%a: tensor<4x8xf32>, %w: tensor<8x6xf32>, %c: tensor<6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: func.call @fused_matmul_add1(%a, %w, %c)
  %0 = graph.matmul %a, %w {graph.group = 3 : i64} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = graph.add %0, %c {graph.group = 3 : i64} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return %1 : tensor<4x6xf32>
}

/// Constants of one number are copied in, others are parameters; each value is one parameter.
// CHECK-LABEL: func.func @constants(
func.func @constants(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: %many = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  // CHECK-NEXT: func.call @fused_multiply_add_add0(%x, %many) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %two = graph.constant dense<2.0> : tensor<3xf32>
  %many = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = graph.multiply %x, %two {graph.group = 0 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.add %0, %many {graph.group = 0 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.add %1, %x {graph.group = 0 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %2 : tensor<3xf32>
}

/// The call stands where the last op of the group was; ops in between stay.
// CHECK-LABEL: func.func @interleaved(
func.func @interleaved(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[T:.*]] = graph.tanh %x
  // CHECK-NEXT: %[[F:.*]] = func.call @fused_relu_multiply0(%x, %[[T]])
  // CHECK-NEXT: func.return %[[F]]
  %0 = graph.relu %x {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.tanh %x {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.multiply %0, %1 {graph.group = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

/// Reductions of one tensor have a result each. What needs the first and stands before the last moves behind the call,
/// also where it is part of another group.
// CHECK-LABEL: func.func @siblings(
func.func @siblings(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %a, %b = func.call @fused_max_min0(%x) : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK-NEXT: %[[T:.*]] = graph.tanh %a
  // CHECK-NEXT: %[[E:.*]] = func.call @fused_relu_exp0(%a)
  // CHECK-NEXT: func.return %a, %b, %[[T]], %[[E]]
  // INLINED-LABEL: func.func @siblings(
  // INLINED: graph.max %x
  // INLINED-NEXT: graph.min %x
  // INLINED-NEXT: graph.tanh
  // INLINED-NEXT: graph.relu
  %a = graph.max %x, axis = [1] {graph.group = 0 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = graph.relu %a {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.min %x, axis = [1] {graph.group = 0 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
  %3 = graph.exp %1 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

/// A name that is taken is not used again.
// CHECK-LABEL: func.func private @fused_matmul_add0(
func.func private @fused_matmul_add0(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func private @fused_matmul_add1(
// CHECK-SAME: attributes {graph.primitive}
// CHECK-NEXT: %[[P:.*]] = graph.matmul %x, %w : (
// CHECK-NEXT: %[[S:.*]] = graph.add %[[P]], %b : (
// CHECK-NEXT: func.return %[[S]]
// CHECK-LABEL: func.func private @fused_multiply_add_add0(%x: tensor<3xf32>, %many: tensor<3xf32>)
// CHECK-NEXT: %[[TWO:.*]] = graph.full 2.0 : tensor<3xf32>
// CHECK-NEXT: graph.multiply %x, %[[TWO]] : (
// CHECK-LABEL: func.func private @fused_relu_multiply0(
// CHECK-LABEL: func.func private @fused_max_min0(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %a = graph.max %x
// CHECK-NEXT: %b = graph.min %x
// CHECK-NEXT: func.return %a, %b :
