// RUN: stepwell-opt %s | stepwell-opt | filecheck %s
// RUN: stepwell-opt %s --print-op-generic | stepwell-opt | filecheck %s
// RUN: stepwell-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

/// The defaults are left out: the last two dimensions, one element at a time.
// CHECK-LABEL: @load
func.func @load(%m: memref<100x96xf32>, %v: memref<96xf32>, %s: memref<f32>, %x: memref<1x28x28x64xf32>, %i: index, %j: index) {
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<100x96xf32>, vector<8x48xf32>
  // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<100x96xf32>, vector<8x48xf32>
  // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}] : memref<96xf32>, vector<8x48xf32>
  // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}] along [0, -1] : memref<96xf32>, vector<8x48xf32>
  // CHECK-NEXT: tile.load %{{.*}}[] : memref<f32>, vector<8x48xf32>
  // CHECK-NEXT: tile.load %{{.*}} along [1, 0] : memref<100x96xf32>, vector<48x8xf32>
  // CHECK-NEXT: tile.load %{{.*}} along [1, 3] by [2, 1] : memref<1x28x28x64xf32>, vector<7x64xf32>
  // CHECK-NEXT: tile.load %{{.*}} by [1, 2] {my.note = 1 : i64} : memref<1x28x28x64xf32>, vector<7x32xf32>
  // CHECK-NEXT: tile.load %{{.*}} by [1, 4] repeat 4 {my.note = 1 : i64} : memref<100x96xf32>, vector<7x16xf32>
  // GENERIC: "tile.load"(%{{.*}}, %{{.*}}, %{{.*}}) <{along = array<i64: 0, 1>, by = array<i64: 1, 1>}> : (memref<100x96xf32>, index, index) -> vector<8x48xf32>
  %0 = tile.load %m[%i, %j] : memref<100x96xf32>, vector<8x48xf32>
  %1 = tile.load %m[%i, %j] along [0, 1] by [1, 1] : memref<100x96xf32>, vector<8x48xf32>
  %2 = tile.load %v[%j] : memref<96xf32>, vector<8x48xf32>
  %3 = tile.load %v[%j] along [0, -1] : memref<96xf32>, vector<8x48xf32>
  %4 = tile.load %s[] : memref<f32>, vector<8x48xf32>
  %5 = tile.load %m[%i, %j] along [1, 0] : memref<100x96xf32>, vector<48x8xf32>
  %6 = tile.load %x[%i, %i, %i, %j] along [1, 3] by [2, 1] : memref<1x28x28x64xf32>, vector<7x64xf32>
  %7 = tile.load %x[%i, %i, %i, %j] by [1, 2] {my.note = 1 : i64} : memref<1x28x28x64xf32>, vector<7x32xf32>
  // GENERIC: by = array<i64: 1, 4>, repeat = 4 : i64}
  %8 = tile.load %m[%i, %j] by [1, 4] repeat 4 {my.note = 1 : i64} : memref<100x96xf32>, vector<7x16xf32>
  func.return
}

// CHECK-LABEL: @store
func.func @store(%t: vector<8x48xi8>, %row: vector<1x48xi8>, %m: memref<100x?xi8, strided<[?, 1], offset: ?>>, %v: memref<96xi8>, %i: index) {
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : vector<8x48xi8>, memref<100x?xi8, strided<[?, 1], offset: ?>>
  // CHECK-NEXT: tile.store %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x48xi8>, memref<96xi8>
  // CHECK-NEXT: tile.store %{{.*}} by [3, 2] {my.note} : vector<8x48xi8>
  // GENERIC: "tile.store"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) <{along = array<i64: 0, 1>, by = array<i64: 1, 1>}>
  tile.store %t, %m[%i, %i] : vector<8x48xi8>, memref<100x?xi8, strided<[?, 1], offset: ?>>
  tile.store %row, %v[%i] : vector<1x48xi8>, memref<96xi8>
  tile.store %t, %m[%i, %i] by [3, 2] {my.note} : vector<8x48xi8>, memref<100x?xi8, strided<[?, 1], offset: ?>>
  func.return
}

// CHECK-LABEL: @mma
func.func @mma(%acc: vector<8x48xf32>, %A: memref<100x64xf32>, %B: memref<64x96xf32>, %H: memref<100x64xbf16>, %P: memref<2x64x48xbf16>, %i: index) {
  // CHECK: %[[N:.*]] = tile.mma %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] depth 4 : vector<8x48xf32>, memref<100x64xf32>, memref<64x96xf32>
  // CHECK-NEXT: tile.mma %[[N]], %{{.*}} along [1, 0] by [2, 1], %{{.*}} depth 2 {my.note} : vector<8x48xf32>, memref<100x64xf32>, memref<64x96xf32>
  // CHECK-NEXT: tile.mma %{{.*}} depth 1 : vector<8x48xf32>, memref<100x64xbf16>, memref<2x64x48xbf16>
  // GENERIC: "tile.mma"(%{{.*}}) <{a_along = array<i64: 0, 1>, a_by = array<i64: 1, 1>, b_along = array<i64: 0, 1>, b_by = array<i64: 1, 1>, depth = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 2, 1, 2>}>
  %0 = tile.mma %acc, %A[%i, %i], %B[%i, %i] depth 4 : vector<8x48xf32>, memref<100x64xf32>, memref<64x96xf32>
  %1 = tile.mma %0, %A[%i, %i] along [1, 0] by [2, 1], %B[%i, %i] depth 2 {my.note} : vector<8x48xf32>, memref<100x64xf32>, memref<64x96xf32>
  %2 = tile.mma %1, %H[%i, %i], %P[%i, %i, %i] depth 1 : vector<8x48xf32>, memref<100x64xbf16>, memref<2x64x48xbf16>
  func.return
}

// CHECK-LABEL: @mma_of_some_rows
func.func @mma_of_some_rows(%acc: vector<8x48xf32>, %A: memref<5x64xf32>, %B: memref<64x96xf32>, %i: index) {
  // CHECK: tile.mma %{{.*}} depth 4 rows [3, 5] {my.note} : vector<8x48xf32>, memref<5x64xf32>, memref<64x96xf32>
  // GENERIC: "tile.mma"(%{{.*}}) <{{.*}}depth = 4 : i64, {{.*}}rows = array<i64: 3, 5>
  %0 = tile.mma %acc, %A[%i, %i], %B[%i, %i] depth 4 rows [3, 5] {my.note} : vector<8x48xf32>, memref<5x64xf32>, memref<64x96xf32>
  func.return
}

// CHECK-LABEL: @mma_of_bytes
func.func @mma_of_bytes(%acc: vector<8x48xi32>, %A: memref<100x64xi8>, %B: memref<64x96xi8>, %P: memref<2x16x48x4xi8>, %i: index) {
  // CHECK: tile.mma %{{.*}} depth 4 unsigned : vector<8x48xi32>, memref<100x64xi8>, memref<64x96xi8>
  // CHECK-NEXT: tile.mma %{{.*}} along [1, 2] depth 2 groups : vector<8x48xi32>, memref<100x64xi8>, memref<2x16x48x4xi8>
  // CHECK-NEXT: tile.mma %{{.*}} along [1, 2] depth 2 groups unsigned using "vpdpbusd" {my.note} : vector<8x48xi32>
  // GENERIC: "tile.mma"(%{{.*}}) <{{.*}}depth = 2 : i64, groups, unsigned, using = "vpdpbusd"
  %0 = tile.mma %acc, %A[%i, %i], %B[%i, %i] depth 4 unsigned : vector<8x48xi32>, memref<100x64xi8>, memref<64x96xi8>
  %1 = tile.mma %0, %A[%i, %i], %P[%i, %i, %i, %i] along [1, 2] depth 2 groups : vector<8x48xi32>, memref<100x64xi8>, memref<2x16x48x4xi8>
  %2 = tile.mma %1, %A[%i, %i], %P[%i, %i, %i, %i] along [1, 2] depth 2 groups unsigned using "vpdpbusd" {my.note} : vector<8x48xi32>, memref<100x64xi8>, memref<2x16x48x4xi8>
  func.return
}

/// A byte of the right operand holds two numbers, so that a step takes eight elements of the left one.
// CHECK-LABEL: @mma_of_nibbles
func.func @mma_of_nibbles(%acc: vector<8x48xi32>, %A: memref<100x64xi8>, %P: memref<2x16x48x4xi8>, %i: index) {
  // CHECK: tile.mma %{{.*}} along [1, 2] depth 2 groups nibbles : vector<8x48xi32>, memref<100x64xi8>, memref<2x16x48x4xi8>
  // CHECK-NEXT: tile.mma %{{.*}} along [1, 2] depth 8 groups nibbles right_unsigned using "vpmaddubsw" : vector<8x48xi32>
  // CHECK-NEXT: tile.mma %{{.*}} along [1, 2] depth 2 groups unsigned using "vpmaddwd" : vector<8x48xi32>
  // GENERIC: "tile.mma"(%{{.*}}) <{{.*}}depth = 2 : i64, groups, nibbles
  %0 = tile.mma %acc, %A[%i, %i], %P[%i, %i, %i, %i] along [1, 2] depth 2 groups nibbles : vector<8x48xi32>, memref<100x64xi8>, memref<2x16x48x4xi8>
  %1 = tile.mma %0, %A[%i, %i], %P[%i, %i, %i, %i] along [1, 2] depth 8 groups nibbles right_unsigned using "vpmaddubsw" : vector<8x48xi32>, memref<100x64xi8>, memref<2x16x48x4xi8>
  %2 = tile.mma %1, %A[%i, %i], %P[%i, %i, %i, %i] along [1, 2] depth 2 groups unsigned using "vpmaddwd" : vector<8x48xi32>, memref<100x64xi8>, memref<2x16x48x4xi8>
  func.return
}

/// Groups of 16 bits are of two.
// CHECK-LABEL: @mma_of_words
func.func @mma_of_words(%acc: vector<4x16xi32>, %A: memref<16x64xi16>, %P: memref<32x16x2xi16>, %i: index) {
  // CHECK: tile.mma %{{.*}} along [0, 1] depth 1 groups using "vex.vpmaddwd" : vector<4x16xi32>, memref<16x64xi16>, memref<32x16x2xi16>
  %0 = tile.mma %acc, %A[%i, %i], %P[%i, %i, %i] along [0, 1] depth 1 groups using "vex.vpmaddwd" : vector<4x16xi32>, memref<16x64xi16>, memref<32x16x2xi16>
  func.return
}

/// Groups of bf16 are of two.
// CHECK-LABEL: @mma_of_halves
func.func @mma_of_halves(%acc: vector<16x16xf32>, %A: memref<16x64xbf16>, %P: memref<32x16x2xbf16>, %i: index) {
  // CHECK: tile.mma %{{.*}} along [0, 1] depth 32 groups using "amx" : vector<16x16xf32>, memref<16x64xbf16>, memref<32x16x2xbf16>
  %0 = tile.mma %acc, %A[%i, %i], %P[%i, %i, %i] along [0, 1] depth 32 groups using "amx" : vector<16x16xf32>, memref<16x64xbf16>, memref<32x16x2xbf16>
  // CHECK-NEXT: tile.mma %{{.*}} depth 2 groups using "vdpbf16ps" : vector<16x16xf32>
  %1 = tile.mma %0, %A[%i, %i], %P[%i, %i, %i] along [0, 1] depth 2 groups using "vdpbf16ps" : vector<16x16xf32>, memref<16x64xbf16>, memref<32x16x2xbf16>
  // CHECK-NEXT: tile.mma %{{.*}} depth 2 groups : vector<16x16xf32>
  %2 = tile.mma %1, %A[%i, %i], %P[%i, %i, %i] along [0, 1] depth 2 groups : vector<16x16xf32>, memref<16x64xbf16>, memref<32x16x2xbf16>
  func.return
}

/// Either side without a sign; tile registers take all of the sum at once.
// CHECK-LABEL: @mma_on_tile_registers
func.func @mma_on_tile_registers(%acc: vector<20x32xi32>, %A: memref<64x1024xi8>, %B: memref<64x96xi8>, %P: memref<3x256x32x4xi8>, %i: index) {
  // CHECK: tile.mma %{{.*}} along [1, 2] depth 256 groups right_unsigned using "amx" : vector<20x32xi32>, memref<64x1024xi8>, memref<3x256x32x4xi8>
  // CHECK-NEXT: tile.mma %{{.*}} along [1, 2] depth 4 groups unsigned right_unsigned : vector<20x32xi32>
  // CHECK-NEXT: tile.mma %{{.*}} depth 4 right_unsigned : vector<20x32xi32>
  // GENERIC: "tile.mma"(%{{.*}}) <{{.*}}depth = 256 : i64, groups, right_unsigned, using = "amx"
  %0 = tile.mma %acc, %A[%i, %i], %P[%i, %i, %i, %i] along [1, 2] depth 256 groups right_unsigned using "amx" : vector<20x32xi32>, memref<64x1024xi8>, memref<3x256x32x4xi8>
  %1 = tile.mma %0, %A[%i, %i], %P[%i, %i, %i, %i] along [1, 2] depth 4 groups unsigned right_unsigned : vector<20x32xi32>, memref<64x1024xi8>, memref<3x256x32x4xi8>
  %2 = tile.mma %1, %A[%i, %i], %B[%i, %i] depth 4 right_unsigned : vector<20x32xi32>, memref<64x1024xi8>, memref<64x96xi8>
  func.return
}

// CHECK-LABEL: @map
func.func @map(%t: vector<8x48xf32>, %u: vector<8x48xi8>, %s: f32) {
  // CHECK: tile.map(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) : (vector<8x48xf32>, vector<8x48xi8>) -> vector<8x48xf32> attributes {my.note} {
  // CHECK-NEXT: %[[C:.*]] = arith.sitofp %[[B]] : i8 to f32
  // CHECK-NEXT: %[[D:.*]] = arith.addf %[[A]], %[[C]] : f32
  // CHECK-NEXT: %[[E:.*]] = arith.mulf %[[D]], %{{.*}} : f32
  // CHECK-NEXT: tile.yield %[[E]] : f32
  // CHECK: tile.map() : () -> vector<2x3xf32> {
  // CHECK-NEXT: tile.yield %{{.*}} : f32
  // GENERIC: "tile.map"(%{{.*}}, %{{.*}}) ({
  // GENERIC-NEXT: ^{{.*}}(%{{.*}}: f32, %{{.*}}: i8):
  // GENERIC: "tile.yield"(%{{.*}}) : (f32) -> ()
  %0 = tile.map(%a = %t, %b = %u) : (vector<8x48xf32>, vector<8x48xi8>) -> vector<8x48xf32> attributes {my.note} {
    %c = arith.sitofp %b : i8 to f32
    %d = arith.addf %a, %c : f32
    %e = arith.mulf %d, %s : f32
    tile.yield %e : f32
  }
  %1 = tile.map() : () -> vector<2x3xf32> {
    tile.yield %s : f32
  }
  func.return
}
