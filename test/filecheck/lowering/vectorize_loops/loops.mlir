// RUN: stepwell-opt %s -p 'vectorize-loops{wide=true}' --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p 'vectorize-loops{wide=true},vectorize-loops{wide=true}' --split-input-file | filecheck %s

/// Four registers at a time, then what is left of whole registers, then the rest; what does not move stays a number.
// CHECK-LABEL: @map
// CHECK: scf.for %[[I:[a-z0-9]+]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT: %[[S:.*]] = memref.load %s[]
// CHECK-NEXT: %[[X:.*]] = tile.load %x[%[[I]]] {{.*}}: memref<85xf32>, vector<1x64xf32>
// CHECK-NEXT: %[[Y:.*]] = tile.map(%[[E:.*]] = %[[X]]) : (vector<1x64xf32>) -> vector<1x64xf32> {
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[E]], %[[S]] : f32
// CHECK-NEXT: tile.yield %[[P]] : f32
// CHECK: tile.store %[[Y]], %y[%[[I]]] {{.*}}: vector<1x64xf32>, memref<85xf32>
// CHECK-NEXT: } {stepwell.loop = "no-unroll"}
// CHECK: tile.store %{{.*}} : vector<1x16xf32>, memref<85xf32>
// CHECK: tile.store %{{.*}} : vector<1x5xf32>, memref<85xf32>
func.func @map(%x: memref<85xf32>, %y: memref<85xf32>, %s: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 85 : index
  scf.for %i = %c0 to %n step %c1 {
    %f = memref.load %s[] : memref<f32>
    %a = memref.load %x[%i] : memref<85xf32>
    %b = arith.mulf %a, %f : f32
    memref.store %b, %y[%i] : memref<85xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}

// -----

/// Each column of the tile has a maximum of its own. It passes over NaNs, and another tile tells where there were none.
/// A maximum that may pass over NaNs anyway is a choice.
// CHECK-LABEL: @reductions
// CHECK: %[[M:[0-9]+]], %[[N:[0-9]+]], %[[C:[0-9]+]] = scf.for {{.*}} -> (vector<1x64xf32>, vector<1x64xf32>, vector<1x64xi1>) {
// CHECK: tile.larger
// CHECK: arith.cmpf ord
// CHECK-NEXT: arith.andi
// CHECK: %[[L:.*]] = arith.cmpf ogt
// CHECK-NEXT: arith.select %[[L]]
// CHECK: %[[W:.*]] = tile.map(%{{.*}} = %[[M]], %{{.*}} = %[[C]])
// CHECK-NEXT: arith.constant 0x7fc00000 : f32
// CHECK: %[[A:.*]] = tile.reduce "maximumf", %[[W]] : vector<1x64xf32> -> f32
// CHECK-NEXT: arith.maximumf %low, %[[A]] : f32
// CHECK-NEXT: %[[B:.*]] = tile.reduce "maxnumf", %[[N]] fastmath<nsz> : vector<1x64xf32> -> f32
// CHECK-NEXT: arith.maxnumf %low, %[[B]] fastmath<nsz> : f32
func.func @reductions(%x: memref<64xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %low = arith.constant 0xff800000 : f32
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %low, %u = %low) -> (f32, f32) {
    %a = memref.load %x[%i] : memref<64xf32>
    %b = arith.maximumf %t, %a : f32
    %c = arith.maxnumf %u, %a fastmath<nsz> : f32
    scf.yield %b, %c : f32, f32
  } {stepwell.loop = "vectorize"}
  func.return %r, %s : f32, f32
}

// -----

/// A maximum and a minimum of one number share the tile that tells of NaNs.
// CHECK-LABEL: @range
// CHECK: scf.for {{.*}} -> (vector<1x64xf32>, vector<1x64xf32>, vector<1x64xi1>) {
// CHECK: arith.cmpf ord
// CHECK-NOT: arith.cmpf ord
// CHECK: no-unroll
func.func @range(%x: memref<64xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %low = arith.constant 0xff800000 : f32
  %high = arith.constant 0x7f800000 : f32
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %low, %u = %high) -> (f32, f32) {
    %a = memref.load %x[%i] : memref<64xf32>
    %b = arith.maximumf %t, %a : f32
    %c = arith.minimumf %u, %a : f32
    scf.yield %b, %c : f32, f32
  } {stepwell.loop = "vectorize"}
  func.return %r, %s : f32, f32
}

// -----

/// Those of two numbers need two, which fill the registers of masks: the tiles are half as wide.
// CHECK-LABEL: @two_numbers
// CHECK: scf.for {{.*}} -> (vector<1x32xf32>, vector<1x32xf32>, vector<1x32xi1>, vector<1x32xi1>) {
func.func @two_numbers(%x: memref<64xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %low = arith.constant 0xff800000 : f32
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %low, %u = %low) -> (f32, f32) {
    %a = memref.load %x[%i] : memref<64xf32>
    %b = arith.maximumf %t, %a : f32
    %q = math.absf %a : f32
    %c = arith.maximumf %u, %q : f32
    scf.yield %b, %c : f32, f32
  } {stepwell.loop = "vectorize"}
  func.return %r, %s : f32, f32
}

// -----

/// The sum of what the loop before it stores: one loop, which asks for the next row of what it writes; the last loop finds its row near.
// CHECK-LABEL: @rows
// CHECK: tile.prefetch write %y[%r, %[[I:.*]]] ahead 64 count 64 : memref<8x64xf32>
// CHECK: tile.store %[[E:.*]], %y[%r, %[[I]]]
// CHECK-NEXT: tile.map({{.*}} = %[[E]])
// CHECK: tile.reduce "addf"
// CHECK-NOT: tile.prefetch
// CHECK: tile.store
func.func @rows(%x: memref<64xf32>, %y: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 64 : index
  scf.for %r = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<64xf32>
      %b = math.exp %a : f32
      memref.store %b, %y[%r, %i] : memref<8x64xf32>
    } {stepwell.loop = "vectorize"}
    %zero = arith.constant 0.0 : f32
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) {
      %c = memref.load %y[%r, %j] : memref<8x64xf32>
      %d = arith.addf %t, %c fastmath<reassoc> : f32
      scf.yield %d : f32
    } {stepwell.loop = "vectorize"}
    scf.for %k = %c0 to %n step %c1 {
      %e = memref.load %y[%r, %k] : memref<8x64xf32>
      %f = arith.divf %e, %s : f32
      memref.store %f, %y[%r, %k] : memref<8x64xf32>
    } {stepwell.loop = "vectorize"}
  }
  func.return
}

// -----

/// Constants of the same value are the same index: a row in place, whose sum runs together with it.
// CHECK-LABEL: @constants
// CHECK: scf.for
// CHECK: tile.load %x
// CHECK: tile.store %[[E:.*]], %x
// CHECK: tile.map({{.*}} = %[[E]])
// CHECK: tile.reduce "addf"
// CHECK-NOT: scf.for
func.func @constants(%x: memref<2x64xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %p = arith.constant 1 : index
    %a = memref.load %x[%p, %i] : memref<2x64xf32>
    %b = math.exp %a : f32
    %q = arith.constant 1 : index
    memref.store %b, %x[%q, %i] : memref<2x64xf32>
  } {stepwell.loop = "vectorize"}
  %zero = arith.constant 0.0 : f32
  %s = scf.for %j = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) {
    %r = arith.constant 1 : index
    %c = memref.load %x[%r, %j] : memref<2x64xf32>
    %d = arith.addf %t, %c fastmath<reassoc> : f32
    scf.yield %d : f32
  } {stepwell.loop = "vectorize"}
  func.return %s : f32
}

// -----

/// Constants of other values are other rows, so the loop stays with LLVM.
// CHECK-LABEL: @no_constants
// CHECK-NOT: tile.
// CHECK: } {stepwell.loop = "vectorize"}
func.func @no_constants(%x: memref<2x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%c1, %i] : memref<2x64xf32>
    %b = math.exp %a : f32
    memref.store %b, %x[%c0, %i] : memref<2x64xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}

// -----

/// Rows backwards: the sum needs what the first loop has not stored yet.
// CHECK-LABEL: @no_jam
// CHECK: scf.for
// CHECK: tile.store
// CHECK: } {stepwell.loop = "no-unroll"}
// CHECK: scf.for
// CHECK-NOT: tile.
// CHECK: } {stepwell.loop = "vectorize"}
func.func @no_jam(%x: memref<64xf32>, %y: memref<64xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %n = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<64xf32>
    %b = arith.negf %a : f32
    memref.store %b, %y[%i] : memref<64xf32>
  } {stepwell.loop = "vectorize"}
  %s = scf.for %j = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) {
    %k = arith.subi %c63, %j : index
    %c = memref.load %y[%k] : memref<64xf32>
    %d = arith.addf %t, %c fastmath<reassoc> : f32
    scf.yield %d : f32
  } {stepwell.loop = "vectorize"}
  func.return %s : f32
}

// -----

/// No mark, no tiles.
// CHECK-LABEL: @no_mark
// CHECK-NOT: tile.
// CHECK: func.return
func.func @no_mark(%x: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<64xf32>
    %b = arith.negf %a : f32
    memref.store %b, %x[%i] : memref<64xf32>
  }
  func.return
}

// -----

/// Four rows at a time of arrays that are larger than the second-level cache: the last loop asks for the next four.
// CHECK-LABEL: @several_rows
// CHECK-NOT: tile.prefetch
// CHECK: tile.reduce
// CHECK: tile.prefetch %x[%{{.*}}, %{{.*}}] ahead 256 count 64
// CHECK: tile.prefetch write %y[%{{.*}}, %{{.*}}] ahead 256 count 64
// CHECK-NOT: tile.prefetch
// CHECK: func.return
func.func @several_rows(%x: memref<16384x64xf32>, %y: memref<16384x64xf32>, %sums: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %groups = arith.constant 4096 : index
  %n = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %groups step %c1 {
    scf.for %r = %c0 to %c4 step %c1 {
      %first = arith.muli %i, %c4 : index
      %row = arith.addi %first, %r : index
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) {
        %a = memref.load %x[%row, %k] : memref<16384x64xf32>
        %b = arith.addf %t, %a fastmath<reassoc> : f32
        scf.yield %b : f32
      } {stepwell.loop = "vectorize"}
      memref.store %s, %sums[%r] : memref<4xf32>
    }
    scf.for %r = %c0 to %c4 step %c1 {
      %first = arith.muli %i, %c4 : index
      %row = arith.addi %first, %r : index
      scf.for %j = %c0 to %n step %c1 {
        %a = memref.load %x[%row, %j] : memref<16384x64xf32>
        %s = memref.load %sums[%r] : memref<4xf32>
        %b = arith.divf %a, %s : f32
        memref.store %b, %y[%row, %j] : memref<16384x64xf32>
      } {stepwell.loop = "vectorize"}
    }
  }
  func.return
}

// -----

/// Arrays that stay in the second-level cache.
// CHECK-LABEL: @no_prefetch_from_near
// CHECK-NOT: tile.prefetch
// CHECK: func.return
func.func @no_prefetch_from_near(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %sums: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %groups = arith.constant 16 : index
  %n = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %groups step %c1 {
    scf.for %r = %c0 to %c4 step %c1 {
      %first = arith.muli %i, %c4 : index
      %row = arith.addi %first, %r : index
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) {
        %a = memref.load %x[%row, %k] : memref<64x64xf32>
        %b = arith.addf %t, %a fastmath<reassoc> : f32
        scf.yield %b : f32
      } {stepwell.loop = "vectorize"}
      memref.store %s, %sums[%r] : memref<4xf32>
    }
    scf.for %r = %c0 to %c4 step %c1 {
      %first = arith.muli %i, %c4 : index
      %row = arith.addi %first, %r : index
      scf.for %j = %c0 to %n step %c1 {
        %a = memref.load %x[%row, %j] : memref<64x64xf32>
        %s = memref.load %sums[%r] : memref<4xf32>
        %b = arith.divf %a, %s : f32
        memref.store %b, %y[%row, %j] : memref<64x64xf32>
      } {stepwell.loop = "vectorize"}
    }
  }
  func.return
}

// -----

/// The sum of bytes in 32 bits.
// CHECK-LABEL: @sum_of_bytes
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<1x64xi32>)
// CHECK: tile.load %x[%{{.*}}] : memref<64xi8>, vector<1x64xi8>
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: %[[S:.*]] = tile.reduce "addi", %{{.*}} : vector<1x64xi32> -> i32
// CHECK: arith.addi %start, %[[S]] : i32
func.func @sum_of_bytes(%x: memref<64xi8>, %start: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %start) -> (i32) {
    %a = memref.load %x[%i] : memref<64xi8>
    %b = arith.extui %a : i8 to i32
    %d = arith.addi %t, %b : i32
    scf.yield %d : i32
  } {stepwell.loop = "vectorize"}
  func.return %s : i32
}

// -----

/// The sums of bytes wrap in 8 bits.
// CHECK-LABEL: @no_sum_in_bytes
// CHECK-NOT: tile.reduce
func.func @no_sum_in_bytes(%x: memref<64xi8>, %start: i8) -> i8 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %start) -> (i8) {
    %a = memref.load %x[%i] : memref<64xi8>
    %d = arith.addi %t, %a : i8
    scf.yield %d : i8
  } {stepwell.loop = "vectorize"}
  func.return %s : i8
}

// -----

/// The whole sum does not overflow, but sums of a lane may.
// CHECK-LABEL: @no_sum_without_overflow
// CHECK-NOT: tile.reduce
func.func @no_sum_without_overflow(%x: memref<64xi8>, %start: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %start) -> (i32) {
    %a = memref.load %x[%i] : memref<64xi8>
    %b = arith.extsi %a : i8 to i32
    %d = arith.addi %t, %b overflow<nsw> : i32
    scf.yield %d : i32
  } {stepwell.loop = "vectorize"}
  func.return %s : i32
}
