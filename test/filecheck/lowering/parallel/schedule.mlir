// RUN: stepwell-opt %s -p schedule-cpu | filecheck %s

// The outermost loop, when its iterations touch different elements and the work is worth it.
// CHECK-LABEL: @rows
// CHECK: tensor_loop.for %i in 512 parallel {
// CHECK-NEXT: tensor_loop.for %j in 1024 vectorized {
tensor_loop.func @rows(%A: memref<512x1024xf32>) outs(%B: memref<512x1024xf32>) {
  tensor_loop.grid (%i, %j) in (512, 1024) {
    tensor_loop.block "rows" spatial(%vi in 512 = %i, %vj in 1024 = %j) {
      %0 = memref.load %A[%vi, %vj] : memref<512x1024xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %B[%vi, %vj] : memref<512x1024xf32>
    }
  }
}

// CHECK-LABEL: @no_small
// CHECK: tensor_loop.for %i in 16 {
tensor_loop.func @no_small(%A: memref<16x1024xf32>) outs(%B: memref<16x1024xf32>) {
  tensor_loop.grid (%i, %j) in (16, 1024) {
    tensor_loop.block "rows" spatial(%vi in 16 = %i, %vj in 1024 = %j) {
      %0 = memref.load %A[%vi, %vj] : memref<16x1024xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %B[%vi, %vj] : memref<16x1024xf32>
    }
  }
}

// A sum over all rows has an order: its loop stays serial.
// CHECK-LABEL: @no_sum
// CHECK-NOT: parallel
// CHECK: memref.store
tensor_loop.func @no_sum(%A: memref<8192x16xf32>) outs(%B: memref<16xf32>) {
  tensor_loop.grid (%k, %j) in (8192, 16) {
    tensor_loop.block "sum" reduce(%vk in 8192 = %k) spatial(%vj in 16 = %j) {
      init {
        %0 = arith.constant 0.0 : f32
        memref.store %0, %B[%vj] : memref<16xf32>
      }
      %1 = memref.load %A[%vk, %vj] : memref<8192x16xf32>
      %2 = memref.load %B[%vj] : memref<16xf32>
      %3 = arith.addf %2, %1 : f32
      memref.store %3, %B[%vj] : memref<16xf32>
    }
  }
}

// A single loop of vectors is cut into chunks, the rest behind them.
// CHECK-LABEL: @line
// CHECK: tensor_loop.for %[[OUTER:i0]] in [[COUNT:[0-9]+]] parallel {
// CHECK-NEXT: tensor_loop.for %[[INNER:i1]] in [[SIZE:[0-9]+]] vectorized {
// CHECK-NEXT: "line" spatial(%{{[a-z]+}} in 1000003 = %[[OUTER]] * [[SIZE]] + %[[INNER]])
// CHECK: tensor_loop.for %{{.*}} in {{[0-9]+}} vectorized {
// CHECK-NEXT: "line_1"
tensor_loop.func @line(%A: memref<1000003xf32>) outs(%B: memref<1000003xf32>) {
  tensor_loop.grid (%i) in (1000003) {
    tensor_loop.block "line" spatial(%vi in 1000003 = %i) {
      %0 = memref.load %A[%vi] : memref<1000003xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %B[%vi] : memref<1000003xf32>
    }
  }
}

// A function with a parallel loop has been scheduled.
// CHECK-LABEL: @scheduled
// CHECK: tensor_loop.for %i in 512 {
// CHECK-NEXT: tensor_loop.for %j in 1024 parallel {
tensor_loop.func @scheduled(%A: memref<512x1024xf32>) outs(%B: memref<512x1024xf32>) {
  tensor_loop.for %i in 512 {
    tensor_loop.for %j in 1024 parallel {
      tensor_loop.block "rows" spatial(%vi in 512 = %i, %vj in 1024 = %j) {
        %0 = memref.load %A[%vi, %vj] : memref<512x1024xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %B[%vi, %vj] : memref<512x1024xf32>
      }
    }
  }
}

// Temporaries that all iterations share keep a loop serial, those told apart by the iteration do not.
// CHECK-LABEL: @shared_temporary
// CHECK: tensor_loop.for %i in 256 {
// CHECK: tensor_loop.for %j in 4096 vectorized {
// CHECK-LABEL: @temporary_per_iteration
// CHECK: tensor_loop.for %i in 256 parallel {
tensor_loop.func @shared_temporary(%A: memref<256x4096xf32>) outs(%B: memref<256x4096xf32>) {
  %T = tensor_loop.alloc : memref<4096xf32>
  tensor_loop.for %i in 256 {
    tensor_loop.for %j in 4096 vectorized {
      tensor_loop.block "exp" spatial(%vi in 256 = %i, %vj in 4096 = %j) {
        %0 = memref.load %A[%vi, %vj] : memref<256x4096xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %T[%vj] : memref<4096xf32>
      }
    }
    tensor_loop.for %j in 4096 vectorized {
      tensor_loop.block "copy" spatial(%vi in 256 = %i, %vj in 4096 = %j) {
        %0 = memref.load %T[%vj] : memref<4096xf32>
        memref.store %0, %B[%vi, %vj] : memref<256x4096xf32>
      }
    }
  }
}
tensor_loop.func @temporary_per_iteration(%A: memref<256x4096xf32>) outs(%B: memref<256x4096xf32>) {
  %T = tensor_loop.alloc : memref<256x4096xf32>
  tensor_loop.for %i in 256 {
    tensor_loop.for %j in 4096 vectorized {
      tensor_loop.block "exp" spatial(%vi in 256 = %i, %vj in 4096 = %j) {
        %0 = memref.load %A[%vi, %vj] : memref<256x4096xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %T[%vi, %vj] : memref<256x4096xf32>
      }
    }
    tensor_loop.for %j in 4096 vectorized {
      tensor_loop.block "copy" spatial(%vi in 256 = %i, %vj in 4096 = %j) {
        %0 = memref.load %T[%vi, %vj] : memref<256x4096xf32>
        memref.store %0, %B[%vi, %vj] : memref<256x4096xf32>
      }
    }
  }
}

// A loop of few iterations goes together with the loops that are all that is in it, until there are 16.
// CHECK-LABEL: @nest
// CHECK: tensor_loop.for %i in 4 parallel {
// CHECK-NEXT: tensor_loop.for %j in 6 parallel {
// CHECK-NEXT: tensor_loop.for %k in 4 {
tensor_loop.func @nest(%A: memref<4x6x4x1024xf32>) outs(%B: memref<4x6x4x1024xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.for %j in 6 {
      tensor_loop.for %k in 4 {
        tensor_loop.for %l in 1024 vectorized {
          tensor_loop.block "exp" spatial(%vi in 4 = %i, %vj in 6 = %j, %vk in 4 = %k, %vl in 1024 = %l) attributes {stepwell.share = 10000 : i64} {
            %0 = memref.load %A[%vi, %vj, %vk, %vl] : memref<4x6x4x1024xf32>
            %1 = math.exp %0 : f32
            memref.store %1, %B[%vi, %vj, %vk, %vl] : memref<4x6x4x1024xf32>
          }
        }
      }
    }
  }
}

// The second loop writes the same elements again and again, so the nest ends with the first.
// CHECK-LABEL: @no_nest
// CHECK: tensor_loop.for %i in 8 parallel {
// CHECK-NEXT: tensor_loop.for %j in 12 {
tensor_loop.func @no_nest(%A: memref<8x12x1024xf32>) outs(%B: memref<8x1024xf32>) {
  tensor_loop.for %i in 8 {
    tensor_loop.for %j in 12 {
      tensor_loop.for %l in 1024 vectorized {
        tensor_loop.block "exp" spatial(%vi in 8 = %i, %vj in 12 = %j, %vl in 1024 = %l) attributes {stepwell.share = 10000 : i64} {
          %0 = memref.load %A[%vi, %vj, %vl] : memref<8x12x1024xf32>
          %1 = math.exp %0 : f32
          memref.store %1, %B[%vi, %vl] : memref<8x1024xf32>
        }
      }
    }
  }
}
