// RUN: stepwell-opt %s -p 'lower-graph-to-loops,plan-schedules{target=zen4 flush=weights}' | filecheck %s --check-prefixes=CHECK,WEIGHTS
// RUN: stepwell-opt %s -p 'lower-graph-to-loops,plan-schedules{target=zen4 flush=all}' | filecheck %s --check-prefixes=CHECK,ALL
// RUN: stepwell-opt %s -p 'lower-graph-to-loops,plan-schedules{target=zen4}' | filecheck %s --check-prefixes=CHECK,NONE
// RUN: stepwell-opt %s -p 'lower-graph-to-loops,plan-schedules{target=x86-64-v4 flush=all}' | filecheck %s --check-prefixes=CHECK,NONE
// RUN: not stepwell-opt %s -p 'lower-graph-to-loops,plan-schedules{flush=some}' 2>&1 | filecheck %s --check-prefix=WORD
// RUN: not stepwell-opt %s -p 'prepack-weights{flush=some}' 2>&1 | filecheck %s --check-prefix=PREPACK
// RUN: not stepwell-opt %s -p 'apply-schedule-plan{flush=some}' 2>&1 | filecheck %s --check-prefix=APPLY

// WORD: error: 'plan-schedules': 'flush' is 'some', expected one of none, weights, all
// PREPACK: error: 'prepack-weights': 'flush' is 'some', expected one of none, weights, all
// APPLY: error: 'apply-schedule-plan': 'flush' is 'some', expected one of none, weights, all

/// Weights of bf16 are multiplied in pairs where the target has instructions for them.
// CHECK-LABEL: tensor_loop.func private @matmul(
// WEIGHTS: #schedule.dots<
// ALL: #schedule.dots<
// NONE: #schedule.tiling<
func.func @of_weights(%x: tensor<64x128xbf16>) -> tensor<64x96xbf16> {
  %w = graph.weight "w" : tensor<128x96xbf16>
  %0 = graph.matmul %x, %w : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xbf16>
  func.return %0 : tensor<64x96xbf16>
}

/// Filters too, and not by Winograd's algorithm.
// CHECK-LABEL: tensor_loop.func private @conv2d(
// WEIGHTS: #schedule.dots<
// ALL: #schedule.dots<
// NONE: #schedule.winograd<
func.func @of_filters(%x: tensor<1x58x58x64xbf16>) -> tensor<1x56x56x64xbf16> {
  %w = graph.weight "f" : tensor<3x3x64x64xbf16>
  %0 = graph.conv2d %x, %w, data_layout = "NHWC", kernel_layout = "HWIO"
    : (tensor<1x58x58x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<1x56x56x64xbf16>
  func.return %0 : tensor<1x56x56x64xbf16>
}

// CHECK-LABEL: tensor_loop.func private @matmul_1(
// WEIGHTS: #schedule.tiling<
// ALL: #schedule.dots<
// NONE: #schedule.tiling<
func.func @no_pairs_of_two_arguments(%x: tensor<64x256xbf16>, %y: tensor<256x96xbf16>) -> tensor<64x96xbf16> {
  %0 = graph.matmul %x, %y : (tensor<64x256xbf16>, tensor<256x96xbf16>) -> tensor<64x96xbf16>
  func.return %0 : tensor<64x96xbf16>
}

/// Panels hold one matrix, so a batch of weights is laid out for products in f32.
// CHECK-LABEL: tensor_loop.func private @matmul_2(
// WEIGHTS: stepwell.prepacked = true, stepwell.tiling = #schedule.tiling<
// NONE: #schedule.tiling<
func.func @no_pairs_of_a_batch(%x: tensor<2x64x128xbf16>) -> tensor<2x64x96xbf16> {
  %w = graph.weight "b" : tensor<2x128x96xbf16>
  %0 = graph.matmul %x, %w : (tensor<2x64x128xbf16>, tensor<2x128x96xbf16>) -> tensor<2x64x96xbf16>
  func.return %0 : tensor<2x64x96xbf16>
}
