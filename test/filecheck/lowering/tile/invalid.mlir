// RUN: stepwell-opt %s --split-input-file --verify-diagnostics -p lower-to-llvm-dialect | filecheck %s

// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @constant(%m: memref<1x2xf32>, %i: index) {
  // expected-error@+1 {{a constant tile must be a splat}}
  %0 = arith.constant dense<[[1.0, 2.0]]> : vector<1x2xf32>
  %1 = tile.map(%x = %0) : (vector<1x2xf32>) -> vector<1x2xf32> {
    tile.yield %x : f32
  }
  tile.store %1, %m[%i, %i] : vector<1x2xf32>, memref<1x2xf32>
  func.return
}

// -----

func.func @carried_by_while(%m: memref<1x2xf32>, %i: index, %more: i1) {
  %0 = tile.load %m[%i, %i] : memref<1x2xf32>, vector<1x2xf32>
  // expected-error@+1 {{type vector<1x2xf32> is neither a 1-D vector nor, carried by scf or made by tile and arith ops, a tile}}
  %1 = scf.while (%t = %0) : (vector<1x2xf32>) -> vector<1x2xf32> {
    scf.condition(%more) %t : vector<1x2xf32>
  } do {
  ^bb0(%t: vector<1x2xf32>):
    scf.yield %t : vector<1x2xf32>
  }
  func.return
}

// -----

// expected-error@+1 {{type vector<1x2xf32> is neither a 1-D vector nor}}
func.func @argument(%t: vector<1x2xf32>) {
  func.return
}

// -----

func.func @groups_apart(%t: memref<1x4xi32>, %a: memref<4x2xi8>, %b: memref<1x4x4xi8>, %i: index) {
  %0 = tile.load %t[%i, %i] : memref<1x4xi32>, vector<1x4xi32>
  // expected-error@+1 {{groups are not next to each other in memory}}
  %1 = tile.mma %0, %a[%i, %i] along [1, 0], %b[%i, %i, %i] along [0, 1] depth 1 groups : vector<1x4xi32>, memref<4x2xi8>, memref<1x4x4xi8>
  func.return
}

// -----

func.func @arithmetic_on_tiles(%m: memref<1x2xf32>, %i: index) {
  %0 = tile.load %m[%i, %i] : memref<1x2xf32>, vector<1x2xf32>
  // expected-error@+1 {{the op takes a tile, vector<1x2xf32>; expected an op of the tile dialect, scf.for or scf.if (arithmetic on tiles is the body of a tile.map)}}
  %1 = arith.addf %0, %0 : vector<1x2xf32>
  tile.store %1, %m[%i, %i] : vector<1x2xf32>, memref<1x2xf32>
  func.return
}

// -----

func.func @vector_of_a_tile(%m: memref<1x2xf32>, %i: index) {
  %0 = tile.load %m[%i, %i] : memref<1x2xf32>, vector<1x2xf32>
  // expected-error@+1 {{the op takes a tile, vector<1x2xf32>; expected an op of the tile dialect, scf.for or scf.if}}
  %1 = vector.extract %0[0] : vector<2xf32> from vector<1x2xf32>
  func.return
}
