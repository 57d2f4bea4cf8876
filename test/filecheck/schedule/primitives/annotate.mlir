// RUN: stepwell-opt %s -p apply-schedule | filecheck %s

/// An attribute of a loop.
schedule.program {
  %mm = schedule.get_block "mm" in @f
  %i, %j, %k = schedule.get_loops %mm : 3
  %relu = schedule.get_block "relu" in @f
  %x, %y = schedule.get_loops %relu : 2
  schedule.annotate %i "my.grain" with 4 : i64
}

// CHECK-LABEL: tensor_loop.func @f
// CHECK: tensor_loop.for %[[I:.*]] in 12 attributes {my.grain = 4 : i64} {
tensor_loop.func @f(%A: memref<12x16xf32>, %B: memref<16x20xf32>) outs(%C: memref<12x20xf32>) {
  %S = tensor_loop.alloc : memref<12x20xf32>
  tensor_loop.grid (%i, %j, %k) in (12, 20, 16) {
    tensor_loop.block "mm" spatial(%vi in 12 = %i, %vj in 20 = %j) reduce(%vk in 16 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<12x20xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<12x16xf32>
      %b = memref.load %B[%vk, %vj] : memref<16x20xf32>
      %c = memref.load %S[%vi, %vj] : memref<12x20xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<12x20xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (12, 20) {
    tensor_loop.block "relu" spatial(%vx in 12 = %x, %vy in 20 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<12x20xf32>
      %zero = arith.constant 0.0 : f32
      %v = arith.maximumf %u, %zero : f32
      memref.store %v, %C[%vx, %vy] : memref<12x20xf32>
    }
  }
}
