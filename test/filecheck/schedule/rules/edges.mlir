// RUN: stepwell-opt %s -p plan-schedules | filecheck %s

/// One tile is enough.
// CHECK-LABEL: @one_tile(
// CHECK: #schedule.transpose<side = 1>
tensor_loop.func private @one_tile(%x: memref<16x16xf32>) outs(%y: memref<16x16xf32>) {
  tensor_loop.grid (%i, %j) in (16, 16) {
    tensor_loop.block "copy" spatial(%vi in 16 = %i, %vj in 16 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<16x16xf32>
      memref.store %v, %y[%vi, %vj] : memref<16x16xf32>
    }
  }
}

/// Two tiles side by side, whatever the order of the axes.
// CHECK-LABEL: @two_tiles_of_one_row(
// CHECK: #schedule.transpose<side = 2>
tensor_loop.func private @two_tiles_of_one_row(%x: memref<16x32xf32>) outs(%y: memref<32x16xf32>) {
  tensor_loop.grid (%i, %j) in (32, 16) {
    tensor_loop.block "copy" spatial(%vi in 32 = %i, %vj in 16 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<16x32xf32>
      memref.store %v, %y[%vi, %vj] : memref<32x16xf32>
    }
  }
}

// CHECK-LABEL: @two_tiles_of_rows_first(
// CHECK: #schedule.transpose<side = 2>
tensor_loop.func private @two_tiles_of_rows_first(%x: memref<16x32xf32>) outs(%y: memref<32x16xf32>) {
  tensor_loop.grid (%j, %i) in (16, 32) {
    tensor_loop.block "copy" spatial(%vj in 16 = %j, %vi in 32 = %i) {
      %v = memref.load %x[%vj, %vi] : memref<16x32xf32>
      memref.store %v, %y[%vi, %vj] : memref<32x16xf32>
    }
  }
}

/// Rows of 15 elements have no room for a tile, and neither have 15 rows.
// CHECK-LABEL: @no_tiles_of_few_rows(
// CHECK-NOT: schedule.transpose
// CHECK: #schedule.order
tensor_loop.func private @no_tiles_of_few_rows(%x: memref<15x48xf32>) outs(%y: memref<48x15xf32>) {
  tensor_loop.grid (%i, %j) in (48, 15) {
    tensor_loop.block "copy" spatial(%vi in 48 = %i, %vj in 15 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<15x48xf32>
      memref.store %v, %y[%vi, %vj] : memref<48x15xf32>
    }
  }
}

// CHECK-LABEL: @no_four_tiles_of_few_rows(
// CHECK-NOT: schedule.transpose
// CHECK: #schedule.order
tensor_loop.func private @no_four_tiles_of_few_rows(%x: memref<15x64xf32>) outs(%y: memref<64x15xf32>) {
  tensor_loop.grid (%i, %j) in (64, 15) {
    tensor_loop.block "copy" spatial(%vi in 64 = %i, %vj in 15 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<15x64xf32>
      memref.store %v, %y[%vi, %vj] : memref<64x15xf32>
    }
  }
}

/// Rows and columns move in one dimension of the result.
// CHECK-LABEL: @no_four_tiles_of_one_dimension(
// CHECK-NOT: schedule.transpose
// CHECK: #schedule.order
tensor_loop.func private @no_four_tiles_of_one_dimension(%x: memref<48x64xf32>) outs(%y: memref<3072xf32>) {
  tensor_loop.grid (%i, %j) in (64, 48) {
    tensor_loop.block "copy" spatial(%vi in 64 = %i, %vj in 48 = %j) {
      %c48 = arith.constant 48 : index
      %m = arith.muli %vi, %c48 : index
      %a = arith.addi %m, %vj : index
      %v = memref.load %x[%vj, %vi] : memref<48x64xf32>
      memref.store %v, %y[%a] : memref<3072xf32>
    }
  }
}

// CHECK-LABEL: @no_tiles_of_one_dimension(
// CHECK-NOT: schedule.transpose
// CHECK: #schedule.order
tensor_loop.func private @no_tiles_of_one_dimension(%x: memref<64x48xf32>) outs(%y: memref<3072xf32>) {
  tensor_loop.grid (%i, %j) in (48, 64) {
    tensor_loop.block "copy" spatial(%vi in 48 = %i, %vj in 64 = %j) {
      %c64 = arith.constant 64 : index
      %m = arith.muli %vi, %c64 : index
      %a = arith.addi %m, %vj : index
      %v = memref.load %x[%vj, %vi] : memref<64x48xf32>
      memref.store %v, %y[%a] : memref<3072xf32>
    }
  }
}

/// Elements are read after others have been written over them.
// CHECK-LABEL: @no_tiles_in_place(
// CHECK-NOT: schedule.transpose
tensor_loop.func private @no_tiles_in_place(%x: memref<64x64xf32>) outs(%y: memref<64x64xf32>) {
  tensor_loop.grid (%i, %j) in (64, 64) {
    tensor_loop.block "fill" spatial(%vi in 64 = %i, %vj in 64 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<64x64xf32>
      memref.store %v, %y[%vi, %vj] : memref<64x64xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (64, 64) {
    tensor_loop.block "copy" spatial(%vi in 64 = %i, %vj in 64 = %j) {
      %v = memref.load %y[%vj, %vi] : memref<64x64xf32>
      memref.store %v, %y[%vi, %vj] : memref<64x64xf32>
    }
  }
}

/// Every element is copied twice.
// CHECK-LABEL: @no_tiles_of_copies_of_copies(
// CHECK-NOT: schedule.transpose
tensor_loop.func private @no_tiles_of_copies_of_copies(%x: memref<64x64xf32>) outs(%y: memref<64x64xf32>) {
  tensor_loop.grid (%i, %j, %k) in (64, 64, 2) {
    tensor_loop.block "copy" spatial(%vi in 64 = %i, %vj in 64 = %j) reduce(%vk in 2 = %k) {
      %v = memref.load %x[%vj, %vi] : memref<64x64xf32>
      memref.store %v, %y[%vi, %vj] : memref<64x64xf32>
    }
  }
}
