// RUN: stepwell-opt %s | filecheck %s

// CHECK: schedule.program {
// CHECK: schedule.reorder %[[J0:.*]], %[[I0:.*]], %[[K:.*]], %[[I1:.*]], %[[J1:.*]]
schedule.program {
  %product = schedule.get_block "product" in @gemm
  %i, %j, %k = schedule.get_loops %product : 3
  // Tiles of 6 rows and 64 columns; the sum around the elements of a tile, whose zeros come before it.
  %i0, %i1 = schedule.split %i [?, 6]
  %j0, %j1 = schedule.split %j [?, 64]
  schedule.reorder %j0, %i0, %k, %i1, %j1
  %zeros = schedule.decompose_reduction %product, %k
  // A row of a tile is four vectors of 16 floats.
  schedule.unroll %i1
  schedule.vectorize %j1
}
