// RUN: stepwell-opt %s -p prove-written | filecheck %s

/// Pieces that lie next to each other make up the output. What a tile reads, the loop before it has written.
// CHECK: tensor_loop.func @pieces({{.*}}) attributes {stepwell.written} {
tensor_loop.func @pieces(%A: memref<12xf32>) outs(%B: memref<20xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.for %o in 3 {
    tensor_loop.for %i in 4 {
      tensor_loop.block "fill" spatial(%vi in 12 = %o * 4 + %i, %vt in 4 = %i) {
        %x = memref.load %A[%vi] : memref<12xf32>
        memref.store %x, %T[%vt] : memref<4xf32>
      }
    }
    tensor_loop.for %j in 5 {
      tensor_loop.block "back" spatial(%vj in 12 = %o * 4 + %j, %vu in 4 = %j) where(%j < 4) {
        %x = memref.load %T[%vu] : memref<4xf32>
        memref.store %x, %B[%vj] : memref<20xf32>
      }
    }
  }
  tensor_loop.for %k in 8 {
    tensor_loop.block "rest" spatial(%vk in 8 = %k) {
      %c12 = arith.constant 12 : index
      %zero = arith.constant 0.0 : f32
      %p = arith.addi %vk, %c12 : index
      memref.store %zero, %B[%p] : memref<20xf32>
    }
  }
}

/// One loop for two axes, and an init.
// CHECK: tensor_loop.func @sums({{.*}}) attributes {stepwell.written} {
tensor_loop.func @sums(%A: memref<3x4x5xf32>) outs(%B: memref<3x4xf32>) {
  tensor_loop.grid (%f, %k) in (12, 5) {
    tensor_loop.block "sum" spatial(%vi in 3 = %f floordiv 4, %vj in 4 = %f mod 4) reduce(%vk in 5 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %B[%vi, %vj] : memref<3x4xf32>
      }
      %x = memref.load %A[%vi, %vj, %vk] : memref<3x4x5xf32>
      %y = memref.load %B[%vi, %vj] : memref<3x4xf32>
      %s = arith.addf %x, %y : f32
      memref.store %s, %B[%vi, %vj] : memref<3x4xf32>
    }
  }
}

/// Each element comes after the one that it reads.
// CHECK: tensor_loop.func @running({{.*}}) attributes {stepwell.written} {
tensor_loop.func @running(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %first = memref.load %A[%c0] : memref<8xf32>
  memref.store %first, %B[%c0] : memref<8xf32>
  tensor_loop.for %i in 7 {
    tensor_loop.block "sum" spatial(%vi in 7 = %i) {
      %c1 = arith.constant 1 : index
      %p = arith.addi %vi, %c1 : index
      %x = memref.load %A[%p] : memref<8xf32>
      %y = memref.load %B[%vi] : memref<8xf32>
      %s = arith.addf %x, %y : f32
      memref.store %s, %B[%p] : memref<8xf32>
    }
  }
}

/// Half of the output is not written.
// CHECK: tensor_loop.func @no_half
// CHECK-NOT: stepwell.written
// CHECK: tensor_loop.func @no_data
tensor_loop.func @no_half(%A: memref<8xf32>) outs(%B: memref<16xf32>) {
  tensor_loop.for %i in 8 {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %x = memref.load %A[%vi] : memref<8xf32>
      memref.store %x, %B[%vi] : memref<16xf32>
    }
  }
}

/// The data decide what is written.
// CHECK-NOT: stepwell.written
tensor_loop.func @no_data(%A: memref<8xf32>, %I: memref<8xi64>) outs(%B: memref<8xf32>) {
  tensor_loop.for %i in 8 {
    tensor_loop.block "put" spatial(%vi in 8 = %i) {
      %x = memref.load %A[%vi] : memref<8xf32>
      %k = memref.load %I[%vi] : memref<8xi64>
      %j = arith.index_cast %k : i64 to index
      memref.store %x, %B[%j] : memref<8xf32>
    }
  }
}
