// RUN: stepwell-opt %s -p lower-graph-to-loops,plan-schedules | filecheck %s
// RUN: stepwell-opt %s -p 'lower-graph-to-loops,plan-schedules{file="schedules.mlir"}' | filecheck %s
// RUN: stepwell-opt %s -p 'lower-graph-to-loops,plan-schedules{file="%S/none.rules"}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not stepwell-opt %s -p 'lower-graph-to-loops,plan-schedules{file="%S/wrong.rules"}' 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: stepwell-opt %s -p 'lower-graph-to-loops,plan-schedules{target=x86-64-v4}' | filecheck %s --check-prefix=LINES

// WRONG: error: 'tensor_loop.block': block "permute_dims" cannot have 'stepwell.tiling' = #schedule.transpose<side = 4>: 4 tiles side by side do not divide the 6 of a row
// WRONG: hint: rule 'tiles-of-anything' of {{.*}}wrong.rules decides so: it needs another condition

/// Six tiles of a row do not come in fours.
// CHECK-LABEL: tensor_loop.func private @permute_dims(
// CHECK: #schedule.transpose<side = 2>{{.*}}"rows of the source are columns of the result"
// NONE-NOT: #schedule.transpose
func.func @turn_tiles(%x: tensor<64x96xf32>) -> tensor<96x64xf32> {
  %0 = graph.permute_dims %x : (tensor<64x96xf32>) -> tensor<96x64xf32>
  func.return %0 : tensor<96x64xf32>
}

// CHECK-LABEL: tensor_loop.func private @permute_dims_1(
// CHECK: #schedule.transpose<side = 4>
func.func @turn_four_tiles(%x: tensor<64x128xf32>) -> tensor<128x64xf32> {
  %0 = graph.permute_dims %x : (tensor<64x128xf32>) -> tensor<128x64xf32>
  func.return %0 : tensor<128x64xf32>
}

/// A batch of matrices, whose columns of tiles are the third axis.
// CHECK-LABEL: tensor_loop.func private @permute_dims_2(
// CHECK: #schedule.transpose<side = 4>
func.func @turn_tiles_of_a_batch(%x: tensor<5x16x64xf32>) -> tensor<5x64x16xf32> {
  %0 = graph.permute_dims %x, axes = [0, 2, 1] : (tensor<5x16x64xf32>) -> tensor<5x64x16xf32>
  func.return %0 : tensor<5x64x16xf32>
}

/// A side is shorter than a tile.
// CHECK-LABEL: tensor_loop.func private @permute_dims_3(
// CHECK: #schedule.order
func.func @no_turn_of_short_sides(%x: tensor<64x15xf32>) -> tensor<15x64xf32> {
  %0 = graph.permute_dims %x : (tensor<64x15xf32>) -> tensor<15x64xf32>
  func.return %0 : tensor<15x64xf32>
}

/// Rows stay rows.
// CHECK-LABEL: tensor_loop.func private @permute_dims_4(
// CHECK: #schedule.order
func.func @no_turn_of_rows(%x: tensor<16x32x64xf32>) -> tensor<32x16x64xf32> {
  %0 = graph.permute_dims %x, axes = [1, 0, 2] : (tensor<16x32x64xf32>) -> tensor<32x16x64xf32>
  func.return %0 : tensor<32x16x64xf32>
}

/// Rows of the result are 2 KiB apart, of which the sets of L1 hold few: as many tiles side by side as they hold.
// LINES-LABEL: tensor_loop.func private @permute_dims_5(
// LINES: #schedule.transpose<side = 1>
func.func @turn_tiles_that_share_sets(%x: tensor<512x768xf32>) -> tensor<768x512xf32> {
  %0 = graph.permute_dims %x : (tensor<512x768xf32>) -> tensor<768x512xf32>
  func.return %0 : tensor<768x512xf32>
}

// LINES-LABEL: tensor_loop.func private @permute_dims_6(
// LINES: #schedule.transpose<side = 2>
func.func @turn_two_tiles(%x: tensor<256x384xf32>) -> tensor<384x256xf32> {
  %0 = graph.permute_dims %x : (tensor<256x384xf32>) -> tensor<384x256xf32>
  func.return %0 : tensor<384x256xf32>
}

/// Rows of the result are 512 bytes apart, so that L1 holds just the 64 lines of four tiles.
// LINES-LABEL: tensor_loop.func private @permute_dims_7(
// LINES: #schedule.transpose<side = 4>
func.func @turn_as_many_tiles_as_fit(%x: tensor<128x64xf32>) -> tensor<64x128xf32> {
  %0 = graph.permute_dims %x : (tensor<128x64xf32>) -> tensor<64x128xf32>
  func.return %0 : tensor<64x128xf32>
}
