// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v4" winograd=false}' | filecheck %s --check-prefix STRICT
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v4" prepack=false}' | filecheck %s --check-prefix EACH

/// The product has tiles, and the relu is computed on them. Each decision has its reason.
// CHECK-LABEL: tensor_loop.func private @fused_matmul_relu0(
// CHECK: tensor_loop.block "matmul" {{.*}}stepwell.prepacked = false
// CHECK-SAME: stepwell.tiling = #schedule.tiling<rows = 8, columns = 48, panels_outside>, stepwell.share = 0 : i64
// CHECK-SAME: stepwell.tiling = "8x48 sums take 24 of 32 registers and the fewest cycles; b is read where it lies, as few tiles read it"
// CHECK-SAME: stepwell.share = "all of @fused_matmul_relu0 takes at most 10 microseconds"
// CHECK: tensor_loop.block "relu" {{.*}}stepwell.tiling = #schedule.on_tiles<"matmul">
// CHECK-SAME: stepwell.tiling = "each element of a tile is mapped while it is in a register"
func.func @gemm(%x: tensor<24x64xf32>, %w: tensor<64x96xf32>) -> tensor<24x96xf32> {
  %p = graph.matmul %x, %w : (tensor<24x64xf32>, tensor<64x96xf32>) -> tensor<24x96xf32>
  %y = graph.relu %p : (tensor<24x96xf32>) -> tensor<24x96xf32>
  func.return %y : tensor<24x96xf32>
}

/// A weight is laid out once if prepack-weights follows.
// CHECK-LABEL: tensor_loop.func private @matmul(
// CHECK: tensor_loop.block "matmul" {{.*}}stepwell.prepacked = true
// CHECK-SAME: stepwell.tiling = #schedule.tiling<rows = 8, columns = 48, packed, panels_outside>
// CHECK-SAME: b is laid out once
// EACH-LABEL: tensor_loop.func private @matmul(
// EACH-NOT: stepwell.prepacked
// EACH: tensor_loop.block "matmul" {{.*}}stepwell.tiling = #schedule.tiling<rows = 8, columns = 48, panels_outside>
func.func @weight(%x: tensor<24x64xf32>) -> tensor<24x96xf32> {
  %w = graph.weight "w" : tensor<64x96xf32>
  %p = graph.matmul %x, %w : (tensor<24x64xf32>, tensor<64x96xf32>) -> tensor<24x96xf32>
  func.return %p : tensor<24x96xf32>
}

/// Winograd's filtering, where it is allowed and filters are known; it needs no padded copy.
// CHECK-LABEL: tensor_loop.func private @conv2d(
// CHECK: tensor_loop.block "conv2d_pad" {{.*}}stepwell.tiling = #schedule.left_out<"conv2d">
// CHECK: tensor_loop.block "conv2d" {{.*}}stepwell.tiling = #schedule.winograd<images = 1, rows = 7, tile_rows = 6, tile_columns = 64>, stepwell.share = 100000 : i64
// CHECK-SAME: stepwell.tiling = "16 products instead of 36 save more cycles than the transforms take"
// STRICT-LABEL: tensor_loop.func private @conv2d(
// STRICT-NOT: winograd
// STRICT: tensor_loop.block "conv2d" {{.*}}stepwell.tiling = #schedule.tiling<
// EACH-LABEL: tensor_loop.func private @conv2d(
// EACH-NOT: winograd
// EACH: tensor_loop.block "conv2d" {{.*}}stepwell.tiling = #schedule.tiling<
func.func @conv(%x: tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32> {
  %w = graph.weight "v" : tensor<3x3x64x64xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x14x14x64xf32>
  func.return %y : tensor<1x14x14x64xf32>
}

/// Nothing is summed up: loops of vectors, and no right operand to lay out.
// CHECK-LABEL: tensor_loop.func private @add(
// CHECK: tensor_loop.block "add"
// CHECK-NOT: prepacked
// CHECK-SAME: stepwell.tiling = #schedule.order<[0, 1], vectorized>
func.func @no_product(%x: tensor<24x1xi64>, %w: tensor<1x96xi64>) -> tensor<24x96xi64> {
  %p = graph.add %x, %w : (tensor<24x1xi64>, tensor<1x96xi64>) -> tensor<24x96xi64>
  func.return %p : tensor<24x96xi64>
}
