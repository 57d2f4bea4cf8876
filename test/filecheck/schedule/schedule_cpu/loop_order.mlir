// RUN: stepwell-opt %s -p schedule-cpu | filecheck %s
// RUN: stepwell-opt %s -p schedule-cpu,schedule-cpu | filecheck %s

/// The column of the product and of the right side run through memory: innermost, vectorized. (A sum in order; others go into tiles.)
// CHECK-LABEL: @matmul
// CHECK-NEXT: tensor_loop.for %i in 128 {
// CHECK-NEXT: tensor_loop.for %k in 784 {
// CHECK-NEXT: tensor_loop.for %j in 10 vectorized {
// CHECK-NEXT: tensor_loop.block "matmul" spatial(%vi in 128 = %i, %vj in 10 = %j) reduce(%vk in 784 = %k)
tensor_loop.func @matmul(%A: memref<128x784xf32>, %B: memref<784x10xf32>) outs(%C: memref<128x10xf32>) {
  tensor_loop.grid (%i, %j, %k) in (128, 10, 784) {
    tensor_loop.block "matmul" spatial(%vi in 128 = %i, %vj in 10 = %j) reduce(%vk in 784 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %C[%vi, %vj] : memref<128x10xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<128x784xf32>
      %b = memref.load %B[%vk, %vj] : memref<784x10xf32>
      %c = memref.load %C[%vi, %vj] : memref<128x10xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p : f32
      memref.store %s, %C[%vi, %vj] : memref<128x10xf32>
    }
  }
}

/// With the right side transposed both inputs run along the reduction. (A sum would go into tiles.)
// CHECK-LABEL: @matmul_transposed
// CHECK-NEXT: tensor_loop.for %i in 128 {
// CHECK-NEXT: tensor_loop.for %j in 10 {
// CHECK-NEXT: tensor_loop.for %k in 784 vectorized {
tensor_loop.func @matmul_transposed(%A: memref<128x784xf32>, %B: memref<10x784xf32>) outs(%C: memref<128x10xf32> {stepwell.in_place}) {
  tensor_loop.grid (%k, %i, %j) in (784, 128, 10) {
    tensor_loop.block "matmul" spatial(%vi in 128 = %i, %vj in 10 = %j) reduce(%vk in 784 = %k) {
      %a = memref.load %A[%vi, %vk] : memref<128x784xf32>
      %b = memref.load %B[%vj, %vk] : memref<10x784xf32>
      %c = memref.load %C[%vi, %vj] : memref<128x10xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.maximumf %c, %p : f32
      memref.store %s, %C[%vi, %vj] : memref<128x10xf32>
    }
  }
}

/// A strict sum keeps its order: the loop is innermost but not vectorized.
// CHECK-LABEL: @no_vector_strict_sum
// CHECK-NEXT: tensor_loop.for %i in 4 {
// CHECK-NEXT: tensor_loop.for %k in 64 {
tensor_loop.func @no_vector_strict_sum(%A: memref<4x64xf32>) outs(%S: memref<4xf32> {stepwell.in_place}) {
  tensor_loop.grid (%i, %k) in (4, 64) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 64 = %k) {
      %s = memref.load %S[%vi] : memref<4xf32>
      %a = memref.load %A[%vi, %vk] : memref<4x64xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[%vi] : memref<4xf32>
    }
  }
}

/// A maximum may be taken in any order.
// CHECK-LABEL: @row_max
// CHECK-NEXT: tensor_loop.for %i in 4 {
// CHECK-NEXT: tensor_loop.for %k in 64 vectorized {
tensor_loop.func @row_max(%A: memref<4x64xf32>) outs(%S: memref<4xf32> {stepwell.in_place}) {
  tensor_loop.grid (%k, %i) in (64, 4) {
    tensor_loop.block "max" spatial(%vi in 4 = %i) reduce(%vk in 64 = %k) {
      %s = memref.load %S[%vi] : memref<4xf32>
      %a = memref.load %A[%vi, %vk] : memref<4x64xf32>
      %t = arith.maximumf %s, %a : f32
      memref.store %t, %S[%vi] : memref<4xf32>
    }
  }
}

/// A column sum reads along the rows.
// CHECK-LABEL: @column_sum
// CHECK-NEXT: tensor_loop.for %k in 64 {
// CHECK-NEXT: tensor_loop.for %j in 8 vectorized {
tensor_loop.func @column_sum(%A: memref<64x8xf32>) outs(%S: memref<8xf32> {stepwell.in_place}) {
  tensor_loop.grid (%j, %k) in (8, 64) {
    tensor_loop.block "sum" spatial(%vj in 8 = %j) reduce(%vk in 64 = %k) {
      %s = memref.load %S[%vj] : memref<8xf32>
      %a = memref.load %A[%vk, %vj] : memref<64x8xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[%vj] : memref<8xf32>
    }
  }
}

/// Two reduce loops of a strict sum keep their order, although the first one walks through memory.
// CHECK-LABEL: @no_swap_strict_sum
// CHECK-NEXT: tensor_loop.for %k in 8 {
// CHECK-NEXT: tensor_loop.for %l in 8 {
tensor_loop.func @no_swap_strict_sum(%A: memref<8x8xf32>) outs(%S: memref<f32> {stepwell.in_place}) {
  tensor_loop.grid (%k, %l) in (8, 8) {
    tensor_loop.block "sum" reduce(%vk in 8 = %k, %vl in 8 = %l) {
      %s = memref.load %S[] : memref<f32>
      %a = memref.load %A[%vl, %vk] : memref<8x8xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[] : memref<f32>
    }
  }
}

/// Those of a free sum are swapped.
// CHECK-LABEL: @swap_free_sum
// CHECK-NEXT: tensor_loop.for %l in 8 {
// CHECK-NEXT: tensor_loop.for %k in 8 vectorized {
tensor_loop.func @swap_free_sum(%A: memref<8x8xi32>) outs(%S: memref<i32> {stepwell.in_place}) {
  tensor_loop.grid (%k, %l) in (8, 8) {
    tensor_loop.block "sum" reduce(%vk in 8 = %k, %vl in 8 = %l) {
      %s = memref.load %S[] : memref<i32>
      %a = memref.load %A[%vl, %vk] : memref<8x8xi32>
      %t = arith.addi %s, %a : i32
      memref.store %t, %S[] : memref<i32>
    }
  }
}

/// A transposition streams its stores; it jumps through its input, so it is not vectorized.
// CHECK-LABEL: @transpose
// CHECK-NEXT: tensor_loop.for %i in 8 {
// CHECK-NEXT: tensor_loop.for %j in 8 {
tensor_loop.func @transpose(%A: memref<8x8xf32>) outs(%B: memref<8x8xf32>) {
  tensor_loop.grid (%j, %i) in (8, 8) {
    tensor_loop.block "transpose" spatial(%vi in 8 = %i, %vj in 8 = %j) {
      %a = memref.load %A[%vj, %vi] : memref<8x8xf32>
      memref.store %a, %B[%vi, %vj] : memref<8x8xf32>
    }
  }
}

/// A reversed read runs through memory backwards: innermost, not vectorized.
// CHECK-LABEL: @reversed
// CHECK: tensor_loop.for %i in 8 {
// CHECK-NEXT: tensor_loop.for %j in 8 {
tensor_loop.func @reversed(%A: memref<8x8xf32>) outs(%B: memref<8x8xf32>) {
  %c7 = arith.constant 7 : index
  tensor_loop.grid (%i, %j) in (8, 8) {
    tensor_loop.block "flip" spatial(%vi in 8 = %i, %vj in 8 = %j) {
      %r = arith.subi %c7, %vj : index
      %a = memref.load %A[%vi, %r] : memref<8x8xf32>
      memref.store %a, %B[%vi, %vj] : memref<8x8xf32>
    }
  }
}

/// Loops of one iteration are never innermost; empty and dynamic ones are legal.
// CHECK-LABEL: @extents
// CHECK: tensor_loop.for %j in 1 {
// CHECK-NEXT: tensor_loop.for %i in %n vectorized {
// CHECK: tensor_loop.for %k in 0 {
tensor_loop.func @extents(%n: index, %x: f32) outs(%B: memref<?x1xf32>, %C: memref<0xf32>) {
  tensor_loop.grid (%i, %j) in (%n, 1) {
    tensor_loop.block "fill" spatial(%vi in %n = %i, %vj in 1 = %j) {
      memref.store %x, %B[%vi, %vj] : memref<?x1xf32>
    }
  }
  tensor_loop.grid (%k) in (0) {
    tensor_loop.block "nothing" spatial(%vk in 0 = %k) {
      memref.store %x, %C[%vk] : memref<0xf32>
    }
  }
}

/// Loops shorter than a vector are not vectorized.
// CHECK-LABEL: @no_vector_short
// CHECK-NEXT: tensor_loop.for %i in 3 {
tensor_loop.func @no_vector_short(%x: f32) outs(%B: memref<3xf32>) {
  tensor_loop.grid (%i) in (3) {
    tensor_loop.block "fill" spatial(%vi in 3 = %i) {
      memref.store %x, %B[%vi] : memref<3xf32>
    }
  }
}

/// LLVM has no vector form of a call of the C library: the error function of f64 stays scalar.
// CHECK-LABEL: @no_vector_of_library_calls
// CHECK: tensor_loop.for %{{.*}} in 64 {
tensor_loop.func @no_vector_of_library_calls(%A: memref<64xf64>) outs(%B: memref<64xf64>) {
  tensor_loop.grid (%i) in (64) {
    tensor_loop.block "erf" spatial(%vi in 64 = %i) {
      %a = memref.load %A[%vi] : memref<64xf64>
      %b = math.erf %a : f64
      memref.store %b, %B[%vi] : memref<64xf64>
    }
  }
}


/// A row that depends on data stands still while the channels run on vectors.
// CHECK-LABEL: tensor_loop.func @rows_by_number
// CHECK:       tensor_loop.for %j in 64 vectorized
tensor_loop.func @rows_by_number(%x: memref<9x64xf32>, %i: memref<4xi32>) outs(%y: memref<4x64xf32>) {
  tensor_loop.grid (%j, %r) in (64, 4) {
    tensor_loop.block "rows" spatial(%vj in 64 = %j, %vr in 4 = %r) {
      %row = memref.load %i[%vr] : memref<4xi32>
      %place = arith.index_cast %row : i32 to index
      %e = memref.load %x[%place, %vj] : memref<9x64xf32>
      %d = arith.addf %e, %e : f32
      memref.store %d, %y[%vr, %vj] : memref<4x64xf32>
    }
  }
}


// CHECK-LABEL: tensor_loop.func @no_vectors_of_numbers
// CHECK-NOT:   vectorized
tensor_loop.func @no_vectors_of_numbers(%x: memref<9x64xf32>, %i: memref<64xi32>) outs(%y: memref<64xf32>) {
  tensor_loop.grid (%j) in (64) {
    tensor_loop.block "numbers" spatial(%vj in 64 = %j) {
      %number = memref.load %i[%vj] : memref<64xi32>
      %row = arith.index_cast %number : i32 to index
      %e = memref.load %x[%row, %vj] : memref<9x64xf32>
      memref.store %e, %y[%vj] : memref<64xf32>
    }
  }
}

/// Two neighbours of each element of a row: the short loop is written out, the row runs on vectors.
// CHECK-LABEL: @pairs
// CHECK:      tensor_loop.for %r in 5 {
// CHECK-NEXT:   tensor_loop.for %j in 13 vectorized {
// CHECK-NEXT:     tensor_loop.for %b in 2 unrolled {
tensor_loop.func @pairs(%A: memref<5x13xf32>) outs(%B: memref<5x26xf32>) {
  tensor_loop.grid (%r, %j, %b) in (5, 13, 2) {
    tensor_loop.block "pairs" spatial(%vr in 5 = %r, %vj in 13 = %j, %vb in 2 = %b) {
      %a = memref.load %A[%vr, %vj] : memref<5x13xf32>
      %c2 = arith.constant 2 : index
      %0 = arith.muli %vj, %c2 : index
      %1 = arith.addi %0, %vb : index
      memref.store %a, %B[%vr, %1] : memref<5x26xf32>
    }
  }
}

/// The pairs are loaded from places that are apart.
// CHECK-LABEL: @no_pairs_of_columns
// CHECK-NOT: vectorized
tensor_loop.func @no_pairs_of_columns(%A: memref<13x5xf32>) outs(%B: memref<5x26xf32>) {
  tensor_loop.grid (%r, %j, %b) in (5, 13, 2) {
    tensor_loop.block "pairs" spatial(%vr in 5 = %r, %vj in 13 = %j, %vb in 2 = %b) {
      %a = memref.load %A[%vj, %vr] : memref<13x5xf32>
      %c2 = arith.constant 2 : index
      %0 = arith.muli %vj, %c2 : index
      %1 = arith.addi %0, %vb : index
      memref.store %a, %B[%vr, %1] : memref<5x26xf32>
    }
  }
}


/// A loop of one iteration goes outside, so that the others meet those of a kernel over %i alone.
// CHECK-LABEL: @one_iteration
// CHECK: tensor_loop.for %b in 1 {
// CHECK-NEXT: tensor_loop.for %i in 6 {
// CHECK-NEXT: tensor_loop.for %j in 80 vectorized {
tensor_loop.func @one_iteration(%x: memref<6x1x80xf32>) outs(%y: memref<6x1x80xf32>) {
  tensor_loop.grid (%i, %b, %j) in (6, 1, 80) {
    tensor_loop.block "negated" spatial(%vi in 6 = %i, %vb in 1 = %b, %vj in 80 = %j) {
      %v = memref.load %x[%vi, %vb, %vj] : memref<6x1x80xf32>
      %n = arith.negf %v : f32
      memref.store %n, %y[%vi, %vb, %vj] : memref<6x1x80xf32>
    }
  }
}


/// Those of a sum keep their order, which counts where the sum may not be regrouped.
// CHECK-LABEL: @no_iteration_of_a_sum
// CHECK: tensor_loop.for %k in 5 {
// CHECK-NEXT: tensor_loop.for %b in 1 {
// CHECK-NEXT: tensor_loop.for %l in 80 {
tensor_loop.func @no_iteration_of_a_sum(%x: memref<5x1x80xf32>) outs(%y: memref<1xf32>) {
  tensor_loop.grid (%i, %k, %b, %l) in (1, 5, 1, 80) {
    tensor_loop.block "sum" spatial(%vi in 1 = %i) reduce(%vk in 5 = %k, %vb in 1 = %b, %vl in 80 = %l) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %y[%vi] : memref<1xf32>
      }
      %v = memref.load %x[%vk, %vb, %vl] : memref<5x1x80xf32>
      %a = memref.load %y[%vi] : memref<1xf32>
      %s = arith.addf %a, %v : f32
      memref.store %s, %y[%vi] : memref<1xf32>
    }
  }
}
