// RUN: stepwell-opt %s -p inline-loops --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p inline-loops,inline-loops --split-input-file | filecheck %s

/// A producer is computed where it is read, at the index of the load.
// CHECK-LABEL: @another_index
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.block "reverse" {{.*}} reads(%A[{{.*}}]) writes(%B[{{.*}}])
// CHECK: %[[I:.*]] = arith.subi
// CHECK-NEXT: %[[A:.*]] = memref.load %A[%[[I]]]
// CHECK-NEXT: %[[E:.*]] = arith.negf %[[A]]
// CHECK-NEXT: memref.store %[[E]], %B
// CHECK-NOT: tensor_loop.block
tensor_loop.func @another_index(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "negate" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %e = arith.negf %a : f32
      memref.store %e, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "reverse" spatial(%vi in 8 = %i) {
      %c7 = arith.constant 7 : index
      %r = arith.subi %c7, %vi : index
      %t = memref.load %T[%r] : memref<8xf32>
      memref.store %t, %B[%vi] : memref<8xf32>
    }
  }
}

// -----

/// Nor is what would leave a function such as exp without vectors: the elements are read backwards.
// CHECK-LABEL: @no_loop_off_vectors
// CHECK: tensor_loop.alloc
// CHECK: tensor_loop.block "exp"
// CHECK: tensor_loop.block "reverse"
tensor_loop.func @no_loop_off_vectors(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "exp" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %e = math.exp %a : f32
      memref.store %e, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "reverse" spatial(%vi in 8 = %i) {
      %c7 = arith.constant 7 : index
      %r = arith.subi %c7, %vi : index
      %t = memref.load %T[%r] : memref<8xf32>
      memref.store %t, %B[%vi] : memref<8xf32>
    }
  }
}

// -----

/// Nor what would do so by reading columns: the other way round, the reader computes exp.
// CHECK-LABEL: @no_columns_below_exp
// CHECK: tensor_loop.block "transpose"
// CHECK: tensor_loop.block "exp"
tensor_loop.func @no_columns_below_exp(%A: memref<8x16xf32>) outs(%B: memref<16x8xf32>) {
  %T = tensor_loop.alloc : memref<16x8xf32>
  tensor_loop.grid (%i, %j) in (16, 8) {
    tensor_loop.block "transpose" spatial(%vi in 16 = %i, %vj in 8 = %j) {
      %a = memref.load %A[%vj, %vi] : memref<8x16xf32>
      memref.store %a, %T[%vi, %vj] : memref<16x8xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (16, 8) {
    tensor_loop.block "exp" spatial(%vi in 16 = %i, %vj in 8 = %j) {
      %t = memref.load %T[%vi, %vj] : memref<16x8xf32>
      %e = math.exp %t : f32
      memref.store %e, %B[%vi, %vj] : memref<16x8xf32>
    }
  }
}

// -----

/// What only moves data is repeated as often as it is read; arithmetic is not.
// CHECK-LABEL: @moves_repeat
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.block "sum"
// CHECK-NOT: tensor_loop.block
tensor_loop.func @moves_repeat(%A: memref<8xf16>) outs(%B: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "extend" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf16>
      %e = arith.extf %a : f16 to f32
      memref.store %e, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %B[%vi] : memref<4xf32>
      }
      %t = memref.load %T[%vk] : memref<8xf32>
      %b = memref.load %B[%vi] : memref<4xf32>
      %s = arith.addf %b, %t : f32
      memref.store %s, %B[%vi] : memref<4xf32>
    }
  }
}

// -----

/// The source is written again before the reader: what the producer would load there is not what it loads here.
/// The exponentials stay where they are computed (though in the output).
// CHECK-LABEL: @no_source_rewritten_between
// CHECK: tensor_loop.block "exp" {{.*}} writes(%B[
// CHECK: math.exp
// CHECK: tensor_loop.block "clear"
// CHECK: tensor_loop.block "copy" {{.*}} reads(%B[
// CHECK-NOT: math.exp
tensor_loop.func @no_source_rewritten_between(%n: f32) outs(%A: memref<8xf32>, %B: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "fill" spatial(%vi in 8 = %i) {
      memref.store %n, %A[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "exp" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %e = math.exp %a : f32
      memref.store %e, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "clear" spatial(%vi in 8 = %i) {
      %z = arith.constant 0.0 : f32
      memref.store %z, %A[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %t = memref.load %T[%vi] : memref<8xf32>
      memref.store %t, %B[%vi] : memref<8xf32>
    }
  }
}

// -----

/// The source is a view: who writes the buffer behind it is not followed.
// CHECK-LABEL: @no_source_that_is_a_view
// CHECK: tensor_loop.block "exp"
// CHECK: tensor_loop.block "clear"
tensor_loop.func @no_source_that_is_a_view(%n: f32) outs(%A: memref<8xf32> {stepwell.in_place}, %B: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  %V = "memref.cast"(%A) : (memref<8xf32>) -> memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "exp" spatial(%vi in 8 = %i) {
      %a = memref.load %V[%vi] : memref<8xf32>
      %e = math.exp %a : f32
      memref.store %e, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "clear" spatial(%vi in 8 = %i) {
      memref.store %n, %A[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %t = memref.load %T[%vi] : memref<8xf32>
      memref.store %t, %B[%vi] : memref<8xf32>
    }
  }
}

// -----

/// Two writers.
// CHECK-LABEL: @no_second_writer
// CHECK: tensor_loop.block "low"
// CHECK: tensor_loop.block "high"
tensor_loop.func @no_second_writer(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "low" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      memref.store %a, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "high" spatial(%vi in 4 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %b = arith.negf %a : f32
      memref.store %b, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "copy" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<8xf32>
      memref.store %t, %B[%vi] : memref<8xf32>
    }
  }
}

// -----

/// A reader in front of the producer sees other contents than one behind it.
// CHECK-LABEL: @no_reader_before
// CHECK: tensor_loop.block "early"
// CHECK: tensor_loop.block "exp"
tensor_loop.func @no_reader_before(%A: memref<8xf32>) outs(%B: memref<8xf32>, %C: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "early" spatial(%vi in 8 = %i) attributes {stepwell.unchecked} {
      %t = memref.load %T[%vi] : memref<8xf32>
      memref.store %t, %B[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "exp" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %e = math.exp %a : f32
      memref.store %e, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "late" spatial(%vi in 8 = %i) {
      %t = memref.load %T[%vi] : memref<8xf32>
      memref.store %t, %C[%vi] : memref<8xf32>
    }
  }
}

// -----

/// Only half of the temporary is written, a predicate leaves elements out, a call touches it: all stay.
// CHECK-LABEL: @no_partial_producer
// CHECK: tensor_loop.block "half"
// CHECK: tensor_loop.block "some"
// CHECK: tensor_loop.call @helper
tensor_loop.func @no_partial_producer(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  %U = tensor_loop.alloc : memref<8xf32>
  %V = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "half" spatial(%vi in 4 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      memref.store %a, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (9) {
    tensor_loop.block "some" spatial(%vi in 8 = %i) where(%i < 8) {
      %a = memref.load %A[%vi] : memref<8xf32>
      memref.store %a, %U[%vi] : memref<8xf32>
    }
  }
  tensor_loop.call @helper(%A) outs(%V) : (memref<8xf32>) outs(memref<8xf32>)
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "last" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<8xf32>
      %u = memref.load %U[%vi] : memref<8xf32>
      %v = memref.load %V[%vi] : memref<8xf32>
      %s = arith.addf %t, %u : f32
      %r = arith.addf %s, %v : f32
      memref.store %r, %B[%vi] : memref<8xf32>
    }
  }
}
tensor_loop.func private @helper(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
}

// -----

/// What nothing reads goes, and then what only that has read.
// CHECK-LABEL: @unread
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.block "kept"
// CHECK-NOT: tensor_loop.block
tensor_loop.func @unread(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  %U = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "first" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      memref.store %a, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "second" spatial(%vi in 8 = %i) {
      %t = memref.load %T[%vi] : memref<8xf32>
      %e = math.exp %t : f32
      memref.store %e, %U[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "kept" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      memref.store %a, %B[%vi] : memref<8xf32>
    }
  }
}

// -----

/// A block with a run-time check stays, though nothing reads what it stores.
// CHECK-LABEL: @no_unread_check
// CHECK: tensor_loop.alloc
// CHECK: cf.assert
tensor_loop.func @no_unread_check(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "checked" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %ok = arith.cmpf oeq, %a, %a : f32
      cf.assert %ok, "a number"
      memref.store %a, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "kept" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      memref.store %a, %B[%vi] : memref<8xf32>
    }
  }
}

// -----

/// A tensor of ones is no factor and no divisor once it is inlined.
// CHECK-LABEL: @ones
// CHECK: %[[A:.*]] = memref.load %A
// CHECK-NEXT: %[[B:.*]] = memref.load %B
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT: memref.store %[[S]], %C
tensor_loop.func @ones(%A: memref<8xf32>, %B: memref<8xf32>) outs(%C: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "full" spatial(%vi in 8 = %i) {
      %one = arith.constant 1.0 : f32
      memref.store %one, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "scaled" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %t = memref.load %T[%vi] : memref<8xf32>
      %q = arith.divf %a, %t : f32
      %b = memref.load %B[%vi] : memref<8xf32>
      %u = memref.load %T[%vi] : memref<8xf32>
      %p = arith.mulf %b, %u : f32
      %s = arith.addf %q, %p : f32
      memref.store %s, %C[%vi] : memref<8xf32>
    }
  }
}

// -----

/// Zeros that are added stay, since -0 + 0 is 0, and so does a quotient of one.
// CHECK-LABEL: @no_ones
// CHECK: arith.addf
// CHECK: arith.divf
tensor_loop.func @no_ones(%A: memref<8xf32>) outs(%C: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  %U = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "ones" spatial(%vi in 8 = %i) {
      %one = arith.constant 1.0 : f32
      memref.store %one, %T[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "zeros" spatial(%vi in 8 = %i) {
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %U[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "inverse" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %u = memref.load %U[%vi] : memref<8xf32>
      %s = arith.addf %a, %u : f32
      %t = memref.load %T[%vi] : memref<8xf32>
      %q = arith.divf %t, %s : f32
      memref.store %q, %C[%vi] : memref<8xf32>
    }
  }
}

// -----

/// A conversion of integers with signs is computed where they are summed up, as one without signs is.
// CHECK-LABEL: @signed_bytes
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.block "sum"
// CHECK: %[[A:.*]] = memref.load %A
// CHECK-NEXT: arith.extsi %[[A]] : i8 to i32
// CHECK-NOT: tensor_loop.block
tensor_loop.func @signed_bytes(%A: memref<4x8xi8>) outs(%B: memref<8xi32>) {
  %T = tensor_loop.alloc : memref<4x8xi32>
  tensor_loop.grid (%i, %j) in (4, 8) {
    tensor_loop.block "astype" spatial(%vi in 4 = %i, %vj in 8 = %j) {
      %a = memref.load %A[%vi, %vj] : memref<4x8xi8>
      %w = arith.extsi %a : i8 to i32
      memref.store %w, %T[%vi, %vj] : memref<4x8xi32>
    }
  }
  tensor_loop.grid (%j, %k) in (8, 4) {
    tensor_loop.block "sum" spatial(%vj in 8 = %j) reduce(%vk in 4 = %k) {
      init {
        %z = arith.constant 0 : i32
        memref.store %z, %B[%vj] : memref<8xi32>
      }
      %t = memref.load %T[%vk, %vj] : memref<4x8xi32>
      %b = memref.load %B[%vj] : memref<8xi32>
      %s = arith.addi %b, %t : i32
      memref.store %s, %B[%vj] : memref<8xi32>
    }
  }
}
