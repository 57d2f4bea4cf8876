// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="zen4"}' | filecheck %s --check-prefix PLAN
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="zen4"},prepack-weights{target="zen4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,prepack-weights{target="alder-lake"}' | filecheck %s --check-prefix VEX
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,prepack-weights{target="x86-64-v3"}' | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,prepack-weights{target="x86-64"}' | filecheck %s --check-prefix SSE
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,prepack-weights{target="neoverse-v2"}' | filecheck %s --check-prefix ARM
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v3"},prepack-weights{target="x86-64-v3"}' | filecheck %s --check-prefix ROWS
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v3"}' | stepwell-opt -p 'prepack-weights{target="x86-64-v3"}' | filecheck %s --check-prefix ROWS

/// Weights, scales and zero points go into panels of 64 columns when the program is loaded. Rows are put into parts.
// PLAN-LABEL: tensor_loop.func private @matmul_packed(
// PLAN: stepwell.tiling = #schedule.packed<rows = 1, columns = 64, parts = 3>
// PLAN-SAME: stepwell.tiling = "weights of 4 bits are unpacked in registers, sums of bytes are exact"
// CHECK-LABEL: func.func @main
// CHECK: graph.call_kernel @matmul_packed(%x, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<1x64xf32>, tensor<2x8x64x4xi8>, tensor<2x2x64xf32>, tensor<2x2x64xi8>)
// CHECK-LABEL: tensor_loop.func private @matmul_packed(
// CHECK: %parts = tensor_loop.alloc : memref<1x256xi8>
// CHECK: tensor_loop.block "parts"
// CHECK: tile.mma %{{.*}} depth 1 groups nibbles right_unsigned using "vpdpbusd" : vector<1x64xi32>
// CHECK: tile.mma %{{.*}} : vector<1x6xi32>
// CHECK-LABEL: tensor_loop.func private @pack_panels0
// CHECK: tensor_loop.block "pack"
// CHECK: tensor_loop.block "fill"
// VEX: tile.mma %{{.*}} using "vex.vpdpbusd" : vector<1x16xi32>
// AVX2: tile.mma %{{.*}} using "vpmaddubsw" : vector<1x8xi32>
// SSE: tile.mma %{{.*}} depth 1 groups nibbles right_unsigned using "pmaddwd" : vector<1x4xi32>
// ARM: tile.mma %{{.*}} using "usdot" : vector<1x16xi32>
func.func @main(%x: tensor<1x64xf32>) -> tensor<1x70xf32> {
  %w = graph.weight "w" : tensor<70x32xui8>
  %s = graph.weight "s" : tensor<70x2xf32>
  %z = graph.weight "z" : tensor<70x2xui8>
  %y = graph.matmul_packed %x, %w, %s, %z : (tensor<1x64xf32>, tensor<70x32xui8>, tensor<70x2xf32>, tensor<70x2xui8>) -> tensor<1x70xf32>
  func.return %y : tensor<1x70xf32>
}

/// A row of one block has one scale, wherever the quotient of its places was written.
// PLAN-LABEL: tensor_loop.func private @matmul_packed_1(
// PLAN: stepwell.tiling = #schedule.packed<
func.func @one_block(%x: tensor<2x64xf32>) -> tensor<2x70xf32> {
  %w = graph.weight "w8" : tensor<70x64xui8>
  %s = graph.weight "s8" : tensor<70x1xf32>
  %z = graph.weight "z8" : tensor<70x1xui8>
  %y = graph.matmul_packed %x, %w, %s, %z, bits = 8, block_size = 64 : (tensor<2x64xf32>, tensor<70x64xui8>, tensor<70x1xf32>, tensor<70x1xui8>) -> tensor<2x70xf32>
  func.return %y : tensor<2x70xf32>
}

/// Without dot products of bytes, the weights of a panel become floats for many rows. Groups of panels have a buffer each.
// ROWS-LABEL: func.func @many_rows
// ROWS: (tensor<20x64xf32>, tensor<3x64x24xi8>, tensor<3x1x24xf32>, tensor<ui8>)
// ROWS-LABEL: tensor_loop.func private @matmul_packed_2(
// ROWS: %floats = tensor_loop.alloc : memref<3x64x24xf32>
// ROWS: tensor_loop.for %g in 2 {
// ROWS: tensor_loop.for %k in 64 {
// ROWS: tensor_loop.block "floats" {{.*}} writes(%floats[%vg, %vk, 0 : 24])
// ROWS: arith.subf
// ROWS: arith.mulf
// ROWS: tile.store %{{.*}}, %floats[
// ROWS: tensor_loop.for %m0 in 6 {
// ROWS: tensor_loop.block "matmul_packed" {{.*}} reads(%operand[%vm0 * 3 : 3, 0 : 64], %floats[%vg_1, 0 : 64, 0 : 24])
// ROWS: tile.mma %{{.*}}, %operand[{{.*}}], %floats[{{.*}}] depth 4 : vector<3x24xf32>
func.func @many_rows(%x: tensor<20x64xf32>) -> tensor<20x70xf32> {
  %w = graph.weight "w8" : tensor<70x64xui8>
  %s = graph.weight "s8" : tensor<70x1xf32>
  %z = graph.full 128 : tensor<ui8>
  %y = graph.matmul_packed %x, %w, %s, %z, bits = 8, block_size = 64 : (tensor<20x64xf32>, tensor<70x64xui8>, tensor<70x1xf32>, tensor<ui8>) -> tensor<20x70xf32>
  func.return %y : tensor<20x70xf32>
}
