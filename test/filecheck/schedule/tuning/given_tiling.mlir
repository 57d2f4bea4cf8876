// RUN: stepwell-opt %s -p 'apply-schedule,schedule-cpu{target="x86-64-v4"}' | filecheck %s

/// The tiling that a schedule annotates is taken in place of the rules.
// CHECK-LABEL: @product
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  // CHECK: %packed = tensor_loop.alloc : memref<1x32x32xf32>
  // CHECK: tensor_loop.for %k0 in 2
  // CHECK-NEXT: tensor_loop.for %n0 in 3
  // CHECK: tensor_loop.block "pack"
  // CHECK: tensor_loop.for %m0 in 6
  // CHECK: tile.mma {{.*}} depth 4 : vector<4x32xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) {
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

/// Without it, they choose.
// CHECK-LABEL: @no_tiling
tensor_loop.func @no_tiling(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  // CHECK-NOT: alloc
  // CHECK: tile.mma
  // CHECK-NOT: vector<4x32xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) {
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

schedule.program {
  %b = schedule.get_block "mm" in @product
  schedule.annotate %b "stepwell.tiling" with #schedule.tiling<rows = 4, columns = 32, packed, parts = 2, panels = 1>
}
