// RUN: stepwell-opt %s -p apply-fusion-plan | filecheck %s

/// The second group has no addition, and the first subtracts nothing before it multiplies. With neutral numbers they are
/// one function. -0.0 is neutral in sums, 0.0 in differences.
// CHECK-LABEL: func.func @layers(
// CHECK: %[[NONE:.*]] = graph.constant dense<0.0> : tensor<f32>
// CHECK: %[[Y:.*]] = func.call @fused_round_add_astype_astype_subtract_abs0(%x, %z, %[[NONE]]) : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
// CHECK: %[[MINUS:.*]] = graph.constant dense<-0.0> : tensor<f32>
// CHECK: func.call @fused_round_add_astype_astype_subtract_abs0(%[[Y]], %[[MINUS]], %z) : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
func.func @layers(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.round %x {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.add %0, %z {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.astype %1, dtype = i8 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xi8>
  %3 = graph.astype %2, dtype = f32 {graph.group = 0 : i64} : (tensor<4xi8>) -> tensor<4xf32>
  %4 = graph.abs %3 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.round %4 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %6 = graph.astype %5, dtype = i8 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xi8>
  %7 = graph.astype %6, dtype = f32 {graph.group = 1 : i64} : (tensor<4xi8>) -> tensor<4xf32>
  %8 = graph.subtract %7, %z {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %9 = graph.abs %8 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %9 : tensor<4xf32>
}

/// Zeros stand for a small tensor that the other group subtracts. They stay an input.
// CHECK-LABEL: func.func @tensors(
// CHECK: func.call @fused_matmul_subtract_astype0(%x, %s) : (tensor<16x16xi32>, tensor<16x1xi32>) -> tensor<16x16xf32>
// CHECK: %[[ZERO:.*]] = graph.constant {graph.apart} dense<0> : tensor<16x1xi32>
// CHECK: func.call @fused_matmul_subtract_astype0(%y, %[[ZERO]]) : (tensor<16x16xi32>, tensor<16x1xi32>) -> tensor<16x16xf32>
func.func @tensors(%x: tensor<16x16xi32>, %y: tensor<16x16xi32>, %s: tensor<16x1xi32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %0 = graph.matmul %x, %x {graph.group = 0 : i64} : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi32>
  %1 = graph.subtract %0, %s {graph.group = 0 : i64} : (tensor<16x16xi32>, tensor<16x1xi32>) -> tensor<16x16xi32>
  %2 = graph.astype %1, dtype = f32 {graph.group = 0 : i64} : (tensor<16x16xi32>) -> tensor<16x16xf32>
  %3 = graph.matmul %y, %y {graph.group = 1 : i64} : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi32>
  %4 = graph.astype %3, dtype = f32 {graph.group = 1 : i64} : (tensor<16x16xi32>) -> tensor<16x16xf32>
  func.return %2, %4 : tensor<16x16xf32>, tensor<16x16xf32>
}

/// Nothing is added where a tensor is as large as the result, where a value has two uses, where the other ops differ, or
/// where the group ends before the step.
// CHECK-LABEL: func.func @no_neutral_op(
// CHECK-NOT: graph.constant
// CHECK: func.return
func.func @no_neutral_op(%x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %0 = graph.exp %x {graph.group = 0 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  %1 = graph.subtract %0, %y {graph.group = 0 : i64} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %2 = graph.abs %1 {graph.group = 0 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  %3 = graph.exp %y {graph.group = 1 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  %4 = graph.abs %3 {graph.group = 1 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  %h = graph.full 0.5 : tensor<f32>
  %5 = graph.sqrt %x {graph.group = 2 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  %6 = graph.add %5, %h {graph.group = 2 : i64} : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  %7 = graph.maximum %6, %5 {graph.group = 2 : i64} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %8 = graph.sqrt %y {graph.group = 3 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  %9 = graph.maximum %8, %8 {graph.group = 3 : i64} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %10 = graph.tanh %x {graph.group = 4 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  %11 = graph.sin %10 {graph.group = 4 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  %12 = graph.multiply %11, %h {graph.group = 4 : i64} : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  %13 = graph.tanh %y {graph.group = 5 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  %14 = graph.sin %13 {graph.group = 5 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  func.return %2, %4, %7, %9, %12, %14 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
