// RUN: stepwell-opt %s -p lower-loops-to-scf | filecheck %s

/// A split loop: the axis is computed once, the predicate guards the body.
// CHECK-LABEL: @split
// CHECK: scf.for %[[IO:.*]] = %c0 to %c7 step %c1 {
// CHECK-NEXT: scf.for %[[II:.*]] = %c0 to %c16 step %c1 {
// CHECK-NEXT: %[[T:.*]] = arith.muli %[[IO]], %c16 : index
// CHECK-NEXT: %[[V:.*]] = arith.addi %[[T]], %[[II]] : index
// CHECK-NEXT: %[[IN:.*]] = arith.cmpi slt, %[[V]], %c100 : index
// CHECK-NEXT: scf.if %[[IN]] {
// CHECK-NEXT: memref.load %A[%[[V]]]
tensor_loop.func @split(%A: memref<100xf32>) outs(%B: memref<100xf32>) {
  tensor_loop.grid (%io, %ii) in (7, 16) {
    tensor_loop.block "copy" spatial(%vi in 100 = %io * 16 + %ii) where(%io * 16 + %ii < 100) {
      %a = memref.load %A[%vi] : memref<100xf32>
      memref.store %a, %B[%vi] : memref<100xf32>
    }
  }
}

/// A fused loop: unsigned division where the loop variable is known not to be negative.
// CHECK-LABEL: @fused
// CHECK: %[[V:.*]] = arith.divui %[[F:.*]], %c8 : index
// CHECK-NEXT: %[[W:.*]] = arith.remui %[[F]], %c8 : index
// CHECK-NEXT: memref.load %A[%[[V]], %[[W]]]
tensor_loop.func @fused(%A: memref<4x8xf32>) outs(%B: memref<4x8xf32>) {
  tensor_loop.for %f in 32 {
    tensor_loop.block "copy" spatial(%vi in 4 = %f floordiv 8, %vj in 8 = %f mod 8) {
      %a = memref.load %A[%vi, %vj] : memref<4x8xf32>
      memref.store %a, %B[%vi, %vj] : memref<4x8xf32>
    }
  }
}

/// Of a value of unknown sign, floor division and a remainder that is never negative.
// CHECK-LABEL: @signed
// CHECK: arith.floordivsi %n, %c8 : index
// CHECK: %[[Q:.*]] = arith.floordivsi %n, %c8 : index
// CHECK-NEXT: %[[M:.*]] = arith.muli %[[Q]], %c8 : index
// CHECK-NEXT: arith.subi %n, %[[M]] : index
// CHECK: arith.ceildivsi %n, %c8 : index
tensor_loop.func @signed(%n: index, %x: f32) outs(%B: memref<?x8x?xf32>) attributes {stepwell.written} {
  tensor_loop.block "one" spatial(%a in %n = %n floordiv 8, %b in 8 = %n mod 8, %c in %n = %n ceildiv 8) {
    memref.store %x, %B[%a, %b, %c] : memref<?x8x?xf32>
  }
}

/// Asserts and conditions of a body stay, in place.
// CHECK-LABEL: @asserts
// CHECK: scf.for %[[I:.*]] =
// CHECK-NEXT: %[[R:.*]] = memref.load %I[%[[I]]]
// CHECK: cf.assert %{{.*}}, "graph.take: index out of range"
// CHECK-NEXT: memref.load %A
tensor_loop.func @asserts(%A: memref<4xf32>, %I: memref<8xi64>) outs(%B: memref<8xf32>) {
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "take" spatial(%vi in 8 = %i) {
      %r = memref.load %I[%vi] : memref<8xi64>
      %index = arith.index_cast %r : i64 to index
      %c4 = arith.constant 4 : index
      %ok = arith.cmpi ult, %index, %c4 : index
      cf.assert %ok, "graph.take: index out of range"
      %a = memref.load %A[%index] : memref<4xf32>
      memref.store %a, %B[%vi] : memref<8xf32>
    }
  }
}

/// Dynamic extents come from the buffers.
// CHECK-LABEL: @dynamic
// CHECK: %[[N:.*]] = memref.dim %A
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %[[N]] step %c1
tensor_loop.func @dynamic(%A: memref<?xf32>) outs(%B: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  tensor_loop.grid (%i) in (%n) {
    tensor_loop.block "copy" spatial(%vi in %n = %i) {
      %a = memref.load %A[%vi] : memref<?xf32>
      memref.store %a, %B[%vi] : memref<?xf32>
    }
  }
}
