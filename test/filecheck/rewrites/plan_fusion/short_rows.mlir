// RUN: stepwell-opt %s -p plan-fusion,apply-fusion-plan --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p plan-fusion --split-input-file --remarks 2>&1 | filecheck %s --check-prefix=REMARK

/// Rows of three elements are made long by one kernel, and repeated as long ones by another.
// CHECK-LABEL: func.func @rows_first
// CHECK-NEXT: %[[ROWS:.*]] = func.call @fused_broadcast_to_reshape0(%x) : (tensor<100x1x3xf32>) -> tensor<1x100x48xf32>
// CHECK-NEXT: func.call @fused_broadcast_to_reshape1(%[[ROWS]]) : (tensor<1x100x48xf32>) -> tensor<1600x48xf32>
// REMARK: repeats short rows that {{.*}} has repeated, which it reads faster from memory as long ones
func.func @rows_first(%x: tensor<100x1x3xf32>) -> tensor<1600x48xf32> {
  %0 = graph.broadcast_to %x, shape = [100, 16, 3] : (tensor<100x1x3xf32>) -> tensor<100x16x3xf32>
  %1 = graph.reshape %0, shape = [1, 100, 48] : (tensor<100x16x3xf32>) -> tensor<1x100x48xf32>
  %2 = graph.broadcast_to %1, shape = [16, 100, 48] : (tensor<1x100x48xf32>) -> tensor<16x100x48xf32>
  %3 = graph.reshape %2, shape = [1600, 48] : (tensor<16x100x48xf32>) -> tensor<1600x48xf32>
  func.return %3 : tensor<1600x48xf32>
}

// -----

/// Rows of 16 elements are worth a copy each.
// CHECK-LABEL: func.func @no_split_of_long_rows
// CHECK-NEXT: func.call @fused_broadcast_to_reshape_broadcast_to_reshape0
// CHECK-NEXT: func.return
func.func @no_split_of_long_rows(%x: tensor<100x1x16xf32>) -> tensor<1600x64xf32> {
  %0 = graph.broadcast_to %x, shape = [100, 4, 16] : (tensor<100x1x16xf32>) -> tensor<100x4x16xf32>
  %1 = graph.reshape %0, shape = [1, 100, 64] : (tensor<100x4x16xf32>) -> tensor<1x100x64xf32>
  %2 = graph.broadcast_to %1, shape = [16, 100, 64] : (tensor<1x100x64xf32>) -> tensor<16x100x64xf32>
  %3 = graph.reshape %2, shape = [1600, 64] : (tensor<16x100x64xf32>) -> tensor<1600x64xf32>
  func.return %3 : tensor<1600x64xf32>
}

// -----

/// What is repeated twice only is not worth a tensor in between.
// CHECK-LABEL: func.func @no_split_of_few
// CHECK-NEXT: func.call @fused_broadcast_to_reshape_broadcast_to_reshape0
// CHECK-NEXT: func.return
func.func @no_split_of_few(%x: tensor<100x1x3xf32>) -> tensor<200x48xf32> {
  %0 = graph.broadcast_to %x, shape = [100, 16, 3] : (tensor<100x1x3xf32>) -> tensor<100x16x3xf32>
  %1 = graph.reshape %0, shape = [1, 100, 48] : (tensor<100x16x3xf32>) -> tensor<1x100x48xf32>
  %2 = graph.broadcast_to %1, shape = [2, 100, 48] : (tensor<1x100x48xf32>) -> tensor<2x100x48xf32>
  %3 = graph.reshape %2, shape = [200, 48] : (tensor<2x100x48xf32>) -> tensor<200x48xf32>
  func.return %3 : tensor<200x48xf32>
}
