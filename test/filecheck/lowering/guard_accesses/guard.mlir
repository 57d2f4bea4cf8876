// RUN: stepwell-opt %s -p guard-accesses | filecheck %s
// RUN: stepwell-opt %s -p guard-accesses,guard-accesses | filecheck %s --check-prefix=TWICE
// RUN: stepwell-opt %s -p lower-loops-to-scf | filecheck %s --check-prefix=LOWERED
// RUN: stepwell-opt %s -p guard-accesses --check-bounds=off | filecheck %s --check-prefix=OFF
// RUN: stepwell-opt %s -p "lower-loops-to-scf{check-bounds=false}" | filecheck %s --check-prefix=OFF

/// An index from data is checked, once, at the place of the access. The others are proven.
// CHECK-LABEL: @by_data
// TWICE-LABEL: @by_data
// TWICE-COUNT-1: cf.assert
// TWICE-LABEL: @no_by_check
// LOWERED-LABEL: @by_data
// LOWERED-COUNT-1: cf.assert %{{.*}}, "memref.load: index out of range"
// LOWERED-LABEL: @no_by_check
// OFF-LABEL: @by_data
// OFF-COUNT-1: cf.assert %{{.*}}, "memref.load: index out of range"
tensor_loop.func @by_data(%A: memref<64xf32>, %I: memref<16xi64>) outs(%S: memref<16xf32>) {
  tensor_loop.grid (%i) in (16) {
    tensor_loop.block "take" spatial(%vi in 16 = %i) {
      // CHECK: memref.load %I[%vi]
      %k = memref.load %I[%vi] : memref<16xi64>
      // CHECK-NEXT: %[[J:.*]] = arith.index_cast
      %j = arith.index_cast %k : i64 to index
      // CHECK-NEXT: %[[END:.*]] = arith.constant 64 : index
      // CHECK-NEXT: %[[OK:.*]] = arith.cmpi ult, %[[J]], %[[END]] : index
      // CHECK-NEXT: cf.assert %[[OK]], "memref.load: index out of range"
      // CHECK-NEXT: memref.load %A[%[[J]]]
      %a = memref.load %A[%j] : memref<64xf32>
      memref.store %a, %S[%vi] : memref<16xf32>
    }
  }
}

/// A check that stands there already is a proof.
// CHECK-LABEL: @no_by_check
// CHECK-COUNT-1: cf.assert
// CHECK-NOT: cf.assert
// CHECK-LABEL: @no_by_loops
tensor_loop.func @no_by_check(%A: memref<64xf32>, %I: memref<1xi32>) outs(%S: memref<1xf32>) {
  tensor_loop.block "take" {
    %c0 = arith.constant 0 : index
    %c-8 = arith.constant -8 : index
    %c56 = arith.constant 56 : index
    %k = memref.load %I[%c0] : memref<1xi32>
    %j = arith.index_cast %k : i32 to index
    %low = arith.cmpi sge, %j, %c-8 : index
    %high = arith.cmpi slt, %j, %c56 : index
    %both = arith.andi %low, %high : i1
    cf.assert %both, "out of range"
    %c8 = arith.constant 8 : index
    %place = arith.addi %j, %c8 : index
    %a = memref.load %A[%place] : memref<64xf32>
    memref.store %a, %S[%c0] : memref<1xf32>
  }
}

/// Loops, conditions, quotients, remainders, selections and minima are proofs.
// CHECK-NOT: cf.assert
// CHECK-LABEL: @box
tensor_loop.func @no_by_loops(%A: memref<100xf32>, %B: memref<25x4xf32>, %P: memref<98xf32>) outs(%S: memref<100xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c97 = arith.constant 97 : index
  tensor_loop.grid (%io, %ii) in (7, 16) {
    tensor_loop.block "b" spatial(%vi in 100 = %io * 16 + %ii) where(%io * 16 + %ii < 100) {
      %a = memref.load %A[%vi] : memref<100xf32>
      %q = arith.floordivsi %vi, %c4 : index
      %r = arith.remui %vi, %c4 : index
      %b = memref.load %B[%q, %r] : memref<25x4xf32>
      %left = arith.subi %vi, %c1 : index
      %inside = arith.cmpi ult, %left, %c97 : index
      %x = scf.if %inside -> (f32) {
        %p = memref.load %P[%left] : memref<98xf32>
        scf.yield %p : f32
      } else {
        scf.yield %b : f32
      }
      %near = arith.minsi %vi, %c97 : index
      %far = arith.addi %near, %c1 : index
      %y = memref.load %P[%near] : memref<98xf32>
      %z = memref.load %A[%far] : memref<100xf32>
      %s = arith.addf %a, %x : f32
      %t = arith.addf %y, %z : f32
      %u = arith.addf %s, %t : f32
      memref.store %u, %S[%vi] : memref<100xf32>
    }
  }
}

/// The whole box of a tile is checked, and only the ends that are not proven.
tensor_loop.func @box(%A: memref<8x64xf32>, %I: memref<1xi8>) outs(%S: memref<4x16xf32>) {
  tensor_loop.block "b" {
    %c0 = arith.constant 0 : index
    %k = memref.load %I[%c0] : memref<1xi8>
    %wide = arith.extui %k : i8 to i32
    %j = arith.index_cast %wide : i32 to index
    // CHECK: %[[LAST:.*]] = arith.constant 48 : index
    // CHECK-NEXT: %[[OK:.*]] = arith.cmpi sle, %[[J:.*]], %[[LAST]] : index
    // CHECK-NEXT: cf.assert %[[OK]], "tile.load: index out of range"
    // CHECK-NEXT: tile.load %A[%{{.*}}, %[[J]]]
    %t = tile.load %A[%c0, %j] : memref<8x64xf32>, vector<4x16xf32>
    tile.store %t, %S[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
  }
}

/// What is `unchecked` is left as it is.
// CHECK-LABEL: @no_unchecked
// CHECK-NOT: cf.assert
tensor_loop.func @no_unchecked(%A: memref<64xf32>, %I: memref<1xi64>) outs(%S: memref<1xf32>) {
  tensor_loop.block "take" attributes {stepwell.unchecked} {
    %c0 = arith.constant 0 : index
    %k = memref.load %I[%c0] : memref<1xi64>
    %j = arith.index_cast %k : i64 to index
    %a = memref.load %A[%j] : memref<64xf32>
    memref.store %a, %S[%c0] : memref<1xf32>
  }
}

/// An index that is not negative and not zero is 1 or more.
// CHECK-LABEL: @no_previous
// CHECK-NOT: cf.assert
// CHECK-LABEL: @sizes
func.func @no_previous(%A: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %starts = arith.cmpi eq, %i, %c0 : index
    %previous = arith.subi %i, %c1 : index
    scf.if %starts {
    } else {
      %x = memref.load %A[%previous] : memref<8xf32>
      memref.store %x, %A[%i] : memref<8xf32>
    }
  }
  func.return
}

/// Sizes are asked of the buffers. Functions on memrefs are guarded as well, unless that is off.
// OFF-LABEL: func.func @sizes
// OFF-NOT: cf.assert
func.func @sizes(%A: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: %[[SIZE:.*]] = memref.dim %A, %{{.*}} : memref<?xf32>
    // CHECK: %[[LAST:.*]] = arith.subi %[[SIZE]], %{{.*}} : index
    // CHECK-NEXT: %[[OK:.*]] = arith.cmpi sle, %i, %[[LAST]] : index
    // CHECK-NEXT: cf.assert %[[OK]], "memref.store: index out of range"
    memref.store %zero, %A[%i] : memref<?xf32>
  }
  %m = memref.dim %A, %c0 : memref<?xf32>
  // CHECK: scf.for
  scf.for %i = %c0 to %m step %c1 {
    // CHECK-NEXT: memref.store
    memref.store %zero, %A[%i] : memref<?xf32>
  }
  // CHECK: cf.assert %{{.*}}, "memref.alloc: size out of range"
  // CHECK-NEXT: memref.alloc
  %T = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %T : memref<?xf32>
  func.return
}
