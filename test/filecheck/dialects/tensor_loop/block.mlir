// RUN: %roundtrip
// RUN: %generic

/// Axes in groups of one kind, an init, the accumulator not among the reads.
// CHECK-LABEL: @matmul
tensor_loop.func @matmul(%A: memref<4x8xf32>, %B: memref<8x2xf32>) outs(%C: memref<4x2xf32>) {
  tensor_loop.grid (%i, %k, %j) in (4, 8, 2) {
    // CHECK: tensor_loop.block "matmul" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) spatial(%vj in 2 = %j) reads(%A[%vi, %vk], %B[%vk, %vj]) writes(%C[%vi, %vj]) {
    // CHECK-NEXT: init {
    // CHECK-NEXT:   %zero = arith.constant
    // CHECK-NEXT:   memref.store %zero, %C[%vi, %vj]
    // CHECK-NEXT: }
    // CHECK-NEXT: memref.load
    // GENERIC: "tensor_loop.block"(%i, %k, %j, %A, %B, %C) <{block_name = "matmul", axis_kinds = ["spatial", "reduce", "spatial"]
    // GENERIC-SAME: bindings = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
    // GENERIC: "tensor_loop.init"() ({
    tensor_loop.block "matmul" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) spatial(%vj in 2 = %j) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %C[%vi, %vj] : memref<4x2xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %B[%vk, %vj] : memref<8x2xf32>
      %c = memref.load %C[%vi, %vj] : memref<4x2xf32>
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      memref.store %s, %C[%vi, %vj] : memref<4x2xf32>
    }
  }
}

/// Affine bindings of every shape print as they were written.
// CHECK-LABEL: @bindings
tensor_loop.func @bindings(%n: index) outs() {
  tensor_loop.grid (%i, %j) in (%n, %n) {
    // CHECK: tensor_loop.block "bindings" spatial(%a in 100 = %i * 16 + %j - 3, %b in %n = %j - %i * 2, %c in 4 = (%i + %j) floordiv 4, %d in 8 = (%i * 2 + 1) mod 8, %e in 9 = 7, %f in 9 = %i ceildiv 2 + %j - %i, %g in 9 = (%i mod 4) * 3, %h in 9 = %i * -1)
    // CHECK-SAME: where(%i * 16 + %j < 100, %j - %n < 0) reads() writes() attributes {my.note} {
    // GENERIC: predicate = affine_map<(d0, d1, d2) -> (((d0 * 16) + d1), (d1 + (d2 * -1)))>, predicate_bounds = array<i64: 100, 0>
    tensor_loop.block "bindings" spatial(%a in 100 = %i * 16 + %j - 3, %b in %n = %j - %i * 2, %c in 4 = (%i + %j) floordiv 4, %d in 8 = (%i * 2 + 1) mod 8, %e in 9 = 7, %f in 9 = %i ceildiv 2 + %j - %i, %g in 9 = (%i mod 4) * 3, %h in 9 = -%i) where(%i * 16 + %j < 100, %j - %n < 0) attributes {my.note} {
    }
  }
}

/// Without axes: rank 0.
// CHECK-LABEL: @scalar
tensor_loop.func @scalar(%A: memref<f32>) outs(%B: memref<f32>) {
  // CHECK-NEXT: tensor_loop.block "copy" reads(%A[]) writes(%B[]) {
  tensor_loop.block "copy" {
    %a = memref.load %A[] : memref<f32>
    memref.store %a, %B[] : memref<f32>
  }
}

/// Inference: a hull of constant offsets, whole dimensions for what is not affine, `?` for what is not known,
/// both branches of a condition.
// CHECK-LABEL: @regions
tensor_loop.func @regions(%A: memref<10x10xf32>, %I: memref<16xi64>, %D: memref<?x10xf32>) outs(%B: memref<8xf32>) {
  tensor_loop.grid (%i) in (8) {
    // CHECK: reads(%A[%vi : 3, 2], %I[%vi * 2 + 1], %D[0 : ?, %vi]) writes(%B[%vi]) {
    tensor_loop.block "regions" spatial(%vi in 8 = %i) {
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %next = arith.addi %vi, %c2 : index
      %a0 = memref.load %A[%next, %c2] : memref<10x10xf32>
      %a1 = memref.load %A[%vi, %c2] : memref<10x10xf32>
      %twice = arith.muli %c2, %vi : index
      %after = arith.addi %twice, %c1 : index
      %row = memref.load %I[%after] : memref<16xi64>
      %r = arith.index_cast %row : i64 to index
      %positive = arith.cmpi slt, %c1, %r : index
      %x = scf.if %positive -> (f32) {
        %y = memref.load %D[%r, %vi] : memref<?x10xf32>
        scf.yield %y : f32
      } else {
        scf.yield %a0 : f32
      }
      memref.store %x, %B[%vi] : memref<8xf32>
    }
  }
}

/// Declared regions may be larger than needed; those of a buffer handed to another op are taken on trust.
// CHECK-LABEL: @declared
tensor_loop.func @declared(%A: memref<10xf32>) outs(%B: memref<10xf32>, %C: memref<10xf32>) {
  tensor_loop.grid (%i) in (4) {
    // CHECK: reads(%A[%vi - 1 : 3]) writes(%B[0 : 10], %C[%vi])
    tensor_loop.block "declared" spatial(%vi in 5 = %i + 1) reads(%A[%vi - 1 : 3]) writes(%B[0 : 10], %C[%vi]) {
      %a = memref.load %A[%vi] : memref<10xf32>
      memref.store %a, %B[%vi] : memref<10xf32>
      "test.op"(%C) : (memref<10xf32>) -> ()
    }
  }
}

/// In a block without reduce axes, reading the output is a read.
// CHECK-LABEL: @in_place
tensor_loop.func @in_place() outs(%B: memref<4xf32> {stepwell.in_place}) {
  tensor_loop.grid (%i) in (4) {
    // CHECK: reads(%B[%vi]) writes(%B[%vi])
    tensor_loop.block "in_place" spatial(%vi in 4 = %i) {
      %b = memref.load %B[%vi] : memref<4xf32>
      memref.store %b, %B[%vi] : memref<4xf32>
    }
  }
}

/// What an op on boxes touches in a loop with known bounds is one box, here rows %vi * 6 + 1 to %vi * 6 + 6. Where
/// steps leave gaps, two dimensions go with one loop, or a bound is not known, it is all of a dimension.
// CHECK-LABEL: @boxes_over_steps
tensor_loop.func @boxes_over_steps(%n: index, %A: memref<64x16xf32>) outs(%B: memref<64x16xf32>) {
  tensor_loop.for %i in 8 {
    // CHECK: tensor_loop.block "rows" spatial(%vi in 8 = %i) reads(%A[%vi * 6 + 1 : 6, 0 : 16]) writes(%B[%vi * 6 + 1 : 6, 0 : 16])
    tensor_loop.block "rows" spatial(%vi in 8 = %i) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c7 = arith.constant 7 : index
      %low = arith.muli %vi, %c6 : index
      scf.for %r = %c1 to %c7 step %c2 {
        %row = arith.addi %low, %r : index
        %t = tile.load %A[%row, %c0] : memref<64x16xf32>, vector<2x16xf32>
        tile.store %t, %B[%row, %c0] : vector<2x16xf32>, memref<64x16xf32>
      }
    }
    // CHECK: tensor_loop.block "no_box" spatial(%vi{{.*}} in 8 = %i) reads(%A[0 : 64, 0 : 16]) writes(%B[0 : 64, 0 : 16])
    tensor_loop.block "no_box" spatial(%vi in 8 = %i) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c7 = arith.constant 7 : index
      scf.for %r = %c1 to %c7 step %c2 {
        %row = arith.addi %vi, %r : index
        %t = tile.load %A[%row, %c0] : memref<64x16xf32>, vector<1x16xf32>
        %u = tile.load %A[%r, %r] : memref<64x16xf32>, vector<2x2xf32>
      }
      scf.for %r = %c1 to %n step %c1 {
        %row = arith.addi %vi, %r : index
        %t = tile.load %A[%c0, %c0] : memref<64x16xf32>, vector<1x16xf32>
        tile.store %t, %B[%row, %c0] : vector<1x16xf32>, memref<64x16xf32>
      }
    }
  }
}
