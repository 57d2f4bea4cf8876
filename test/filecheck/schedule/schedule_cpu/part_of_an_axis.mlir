// RUN: stepwell-opt %s -p 'schedule-cpu{target="x86-64-v4"}' | filecheck %s

/// Loops that take a part of the values of an axis only stay as they are. Tiles over the whole axis would go beyond the
/// end of the buffers.

// CHECK-LABEL: tensor_loop.func @product(
// CHECK-NOT: tile.
// CHECK-LABEL: tensor_loop.func @transposed(
// CHECK-NOT: tile.
// CHECK-LABEL: tensor_loop.func @end(
tensor_loop.func @product(%A: memref<12x16xf32>, %B: memref<16x20xf32>) outs(%C: memref<12x20xf32>) {
  tensor_loop.grid (%i, %j, %k) in (12, 20, 16) {
    tensor_loop.block "mm" spatial(%vi in 12 = %i, %vj in 21 = %j) reduce(%vk in 16 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %C[%vi, %vj] : memref<12x20xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<12x16xf32>
      %b = memref.load %B[%vk, %vj] : memref<16x20xf32>
      %c = memref.load %C[%vi, %vj] : memref<12x20xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %C[%vi, %vj] : memref<12x20xf32>
    }
  }
}

tensor_loop.func @transposed(%A: memref<64x15xf32>) outs(%C: memref<15x64xf32>) {
  tensor_loop.grid (%i, %j) in (64, 15) {
    tensor_loop.block "copy" spatial(%vi in 64 = %i, %vj in 16 = %j) {
      %a = memref.load %A[%vi, %vj] : memref<64x15xf32>
      memref.store %a, %C[%vj, %vi] : memref<15x64xf32>
    }
  }
}

tensor_loop.func @end(%A: memref<4xf32>) outs(%C: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "copy" spatial(%vi in 4 = %i) {
      %a = memref.load %A[%vi] : memref<4xf32>
      memref.store %a, %C[%vi] : memref<4xf32>
    }
  }
}
