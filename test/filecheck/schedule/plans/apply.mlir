// RUN: stepwell-opt %s -p 'apply-schedule-plan{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'apply-schedule-plan{target="x86-64-v4"},apply-schedule-plan{target="x86-64-v4"}' | filecheck %s

/// Tiles by hand, the negation on them.
// CHECK-LABEL: @tiles
// CHECK: tensor_loop.for %m0 in 6 {
// CHECK: tile.mma {{.*}} : vector<4x48xf32>
// CHECK: tile.map
// CHECK-NOT: stepwell
tensor_loop.func @tiles(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.tiling<rows = 4, columns = 48>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) attributes {stepwell.tiling = #schedule.on_tiles<"mm">} {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

/// The negation in loops of its own.
// CHECK-LABEL: @apart
// CHECK: tile.mma {{.*}} : vector<4x48xf32>
// CHECK-NOT: tile.map
// CHECK: tensor_loop.for %y in 96 {
// CHECK-NEXT: tensor_loop.for %x in 24 {
// CHECK-NEXT: tensor_loop.block "neg"
tensor_loop.func @apart(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.tiling<rows = 4, columns = 48>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) attributes {stepwell.tiling = #schedule.order<[1, 0]>} {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

/// Plain loops, and rows of both in one loop.
// CHECK-LABEL: @rows
// CHECK: tensor_loop.for %i in 24 parallel {
// CHECK-NEXT: tensor_loop.for %j in 96 {
// CHECK-NEXT: tensor_loop.for %k in 64 {
// CHECK: tensor_loop.for %y in 96 vectorized {
// CHECK-NEXT: tensor_loop.block "neg" spatial(%vx in 24 = %i, %vy in 96 = %y)
tensor_loop.func @rows(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1, 2]>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>, stepwell.rows = 1 : i64} {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

/// The same loops, kept apart, and shared by threads from one nanosecond on.
// CHECK-LABEL: @no_rows
// CHECK: tensor_loop.for %i in 24 parallel {
// CHECK: tensor_loop.for %x in 24 parallel {
tensor_loop.func @no_rows(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1, 2]>, stepwell.share = 1 : i64} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>, stepwell.rows = 0 : i64, stepwell.share = 1 : i64} {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

/// What nothing was decided about stays.
// CHECK-LABEL: @no_plan
// CHECK: tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
// CHECK: tensor_loop.grid (%x, %y) in (24, 96) {
tensor_loop.func @no_plan(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

/// Two rows at a time, where the default is four.
// CHECK-LABEL: @two_rows_at_once
// CHECK: tensor_loop.for %[[I:[a-z0-9_]+]] in 4 {
// CHECK-NEXT: tensor_loop.for %[[R:[a-z0-9_]+]] in 2 {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 80 vectorized {
// CHECK-NEXT: tensor_loop.block "total" spatial(%{{.*}} in 8 = %[[I]] * 2 + %[[R]])
// CHECK: tensor_loop.for %{{.*}} in 2 {
// CHECK-NEXT: tensor_loop.block "scale"
// CHECK-NOT: stepwell
tensor_loop.func @two_rows_at_once(%x: memref<8x80xf32>) outs(%y: memref<8x80xf32>) {
  %t = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i, %k) in (8, 80) {
    tensor_loop.block "total" spatial(%vi in 8 = %i) reduce(%vk in 80 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>, stepwell.rows_at_once = 2 : i64} {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %t[%vi] : memref<8xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<8x80xf32>
      %a = memref.load %t[%vi] : memref<8xf32>
      %s = arith.addf %a, %v fastmath<reassoc> : f32
      memref.store %s, %t[%vi] : memref<8xf32>
    }
  }
  %u = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "scale" spatial(%vi in 8 = %i) attributes {stepwell.tiling = #schedule.order<[0]>} {
      %one = arith.constant 1.0 : f32
      %v = memref.load %t[%vi] : memref<8xf32>
      %r = arith.divf %one, %v : f32
      memref.store %r, %u[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (8, 80) {
    tensor_loop.block "scaled" spatial(%vi in 8 = %i, %vj in 80 = %j) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>} {
      %v = memref.load %x[%vi, %vj] : memref<8x80xf32>
      %r = memref.load %u[%vi] : memref<8xf32>
      %p = arith.mulf %v, %r : f32
      memref.store %p, %y[%vi, %vj] : memref<8x80xf32>
    }
  }
}

/// One row at a time.
// CHECK-LABEL: @one_row_at_once
// CHECK: tensor_loop.for %[[I:[a-z0-9_]+]] in 8 {
// CHECK: tensor_loop.block "total" spatial(%{{.*}} in 8 = %[[I]])
// CHECK: tensor_loop.block "scale" spatial(%{{.*}} in 8 = %[[I]])
// CHECK-NOT: stepwell
tensor_loop.func @one_row_at_once(%x: memref<8x80xf32>) outs(%y: memref<8x80xf32>) {
  %t = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i, %k) in (8, 80) {
    tensor_loop.block "total" spatial(%vi in 8 = %i) reduce(%vk in 80 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>, stepwell.rows_at_once = 1 : i64} {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %t[%vi] : memref<8xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<8x80xf32>
      %a = memref.load %t[%vi] : memref<8xf32>
      %s = arith.addf %a, %v fastmath<reassoc> : f32
      memref.store %s, %t[%vi] : memref<8xf32>
    }
  }
  %u = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "scale" spatial(%vi in 8 = %i) attributes {stepwell.tiling = #schedule.order<[0]>} {
      %one = arith.constant 1.0 : f32
      %v = memref.load %t[%vi] : memref<8xf32>
      %r = arith.divf %one, %v : f32
      memref.store %r, %u[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (8, 80) {
    tensor_loop.block "scaled" spatial(%vi in 8 = %i, %vj in 80 = %j) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>} {
      %v = memref.load %x[%vi, %vj] : memref<8x80xf32>
      %r = memref.load %u[%vi] : memref<8xf32>
      %p = arith.mulf %v, %r : f32
      memref.store %p, %y[%vi, %vj] : memref<8x80xf32>
    }
  }
}
