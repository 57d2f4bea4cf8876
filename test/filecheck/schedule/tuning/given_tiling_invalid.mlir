// RUN: stepwell-opt %s -p 'schedule-cpu{target="x86-64-v4"}' --split-input-file --verify-diagnostics | filecheck %s

// CHECK: block "mm" cannot have 'stepwell.tiling' = #schedule.tiling<rows = 9, columns = 64>: 9x64 elements take 41 registers, too many for the 32 of 'x86-64-v4'
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.tiling<rows = 9, columns = 64>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %C[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %C[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %C[%vi, %vj] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: : 20 columns are no whole vectors of 16 elements
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.tiling<rows = 4, columns = 20>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %C[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %C[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %C[%vi, %vj] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: : 3 parts do not divide the 64 steps of the sum
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.tiling<rows = 4, columns = 16, parts = 3>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %C[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %C[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %C[%vi, %vj] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: : the columns of b are not next to each other in memory, so it must be 'packed'
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<96x64xf32>) outs(%C: memref<24x96xf32>) {
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.tiling<rows = 4, columns = 16>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %C[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vj, %vk] : memref<96x64xf32>
      %c = memref.load %C[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %C[%vi, %vj] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: 'stepwell.tiling' is 7 : i64, expected a #schedule.tiling
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = 7 : i64} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %C[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %C[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %C[%vi, %vj] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "relu" cannot have 'stepwell.tiling' = #schedule.tiling<rows = 4, columns = 16>: the block is no contraction that register tiles are made for
tensor_loop.func @relu(%A: memref<24xf32>) outs(%C: memref<24xf32>) {
  tensor_loop.grid (%i) in (24) {
    tensor_loop.block "relu" spatial(%vi in 24 = %i) attributes {stepwell.tiling = #schedule.tiling<rows = 4, columns = 16>} {
      %a = memref.load %A[%vi] : memref<24xf32>
      %z = arith.constant 0.0 : f32
      %m = arith.maximumf %a, %z : f32
      memref.store %m, %C[%vi] : memref<24xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: 'stepwell.grain' is 0 : i64, expected a positive number of nanoseconds
tensor_loop.func @relu(%A: memref<24xf32>) outs(%C: memref<24xf32>) {
  tensor_loop.grid (%i) in (24) {
    tensor_loop.block "copy" spatial(%vi in 24 = %i) attributes {stepwell.grain = 0 : i64} {
      %a = memref.load %A[%vi] : memref<24xf32>
      memref.store %a, %C[%vi] : memref<24xf32>
    }
  }
}
