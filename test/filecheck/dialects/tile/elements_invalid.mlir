// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @valid
func.func @valid(%t: vector<1x16xf32>) {
  %a = tile.reduce "addf", %t : vector<1x16xf32> -> f32
  func.return
}

// -----

func.func @kind(%t: vector<1x16xf32>) {
  // expected-error@+1 {{the kind is 'mulf', expected one of addf, maximumf, minimumf, maxnumf, addi}}
  %a = tile.reduce "mulf", %t : vector<1x16xf32> -> f32
  func.return
}

// -----

func.func @row(%t: vector<16xf32>) {
  // expected-error@+1 {{the tile has type vector<16xf32>, expected rows and columns of floats}}
  %a = tile.reduce "addf", %t : vector<16xf32> -> f32
  func.return
}

// -----

func.func @integers(%t: vector<1x16xi32>) {
  // expected-error@+1 {{the tile has type vector<1x16xi32>, expected rows and columns of floats}}
  %a = tile.reduce "addf", %t : vector<1x16xi32> -> i32
  func.return
}

// -----

func.func @sum_of_integers(%t: vector<1x16xf32>) {
  // expected-error@+1 {{the tile has type vector<1x16xf32>, expected rows and columns of integers}}
  %a = tile.reduce "addi", %t : vector<1x16xf32> -> f32
  func.return
}

// -----

func.func @result(%t: vector<1x16xf32>) {
  // expected-error@+1 {{the result is f64, expected f32}}
  %a = tile.reduce "addf", %t : vector<1x16xf32> -> f64
  func.return
}

// -----

func.func @outside(%x: f32) {
  // expected-error@+1 {{'tile.scale' expects parent op 'tile.map'}}
  %a = tile.scale %x, %x : f32
  func.return
}

// -----

func.func @indices(%m: memref<4x64xf32>, %i: index) {
  // expected-error@+1 {{the op has 1 indices into a buffer of 2 dimensions, expected one for each}}
  tile.prefetch %m[%i] ahead 64 count 32 : memref<4x64xf32>
  func.return
}

// -----

func.func @count(%m: memref<4x64xf32>, %i: index) {
  // expected-error@+1 {{the count is 0, expected 1 to 65536}}
  tile.prefetch %m[%i, %i] ahead 64 count 0 : memref<4x64xf32>
  func.return
}

// -----

func.func @count_of_too_many(%m: memref<4x64xf32>, %i: index) {
  // expected-error@+1 {{the count is 1000000000000, expected 1 to 65536}}
  tile.prefetch %m[%i, %i] ahead 64 count 1000000000000 : memref<4x64xf32>
  func.return
}

// -----

func.func @reduce_of_nothing(%t: vector<0x64xf32>) {
  // expected-error@+1 {{the tile has type vector<0x64xf32>, expected rows and columns of floats}}
  %0 = tile.reduce "maximumf", %t : vector<0x64xf32> -> f32
  func.return
}

// -----

func.func @reduce_of_scalable(%t: vector<[2]x64xf32>) {
  // expected-error@+1 {{the tile has type vector<[2]x64xf32>, expected rows and columns of floats}}
  %0 = tile.reduce "maximumf", %t : vector<[2]x64xf32> -> f32
  func.return
}

// -----

func.func @transpose_of_scalable(%t: vector<[16]x16xf32>) {
  // expected-error@+1 {{the tile has type vector<[16]x16xf32>, expected 16 rows and 16 columns}}
  %0 = tile.transpose %t : vector<[16]x16xf32>
  func.return
}

// -----

func.func @map_of_nothing(%t: vector<0x64xf32>) {
  // expected-error@+1 {{the op has a value of type vector<0x64xf32>, expected tiles}}
  %0 = tile.map(%x = %t) : (vector<0x64xf32>) -> vector<0x64xf32> {
    tile.yield %x : f32
  }
  func.return
}

// -----

func.func @table(%t: vector<1x16xi32>) {
  %a = tile.map(%i = %t) : (vector<1x16xi32>) -> vector<1x16xi32> {
    // expected-error@+1 {{the table has 3 numbers, expected 16 or 32}}
    %x = tile.lookup %i, [1.0, 2.0, 3.0] : f32
    tile.yield %i : i32
  }
  func.return
}

// -----

func.func @larger_of_doubles(%t: vector<1x16xf64>) {
  %0 = tile.map(%x = %t) : (vector<1x16xf64>) -> vector<1x16xf64> {
    // expected-error@+1 {{'tile.larger': f64 should be of base attribute f32}}
    %a = tile.larger %x, %x : f64
    tile.yield %a : f64
  }
  func.return
}

// -----

func.func @larger_outside(%x: f32) {
  // expected-error@+1 {{'tile.larger' expects parent op 'tile.map'}}
  %a = tile.larger %x, %x : f32
  func.return
}

// -----

func.func @multiply_add_of_halves(%t: vector<2x16xf16>) {
  // expected-error@+1 {{the tiles have type vector<2x16xf16>, expected rows and columns of f32, f64 or integers}}
  %0 = tile.multiply_add %t, %t, %t : vector<2x16xf16>
  func.return
}

// -----

func.func @multiply_add_of_vectors(%t: vector<16xf32>) {
  // expected-error@+1 {{the tiles have type vector<16xf32>, expected rows and columns of f32, f64 or integers}}
  %0 = tile.multiply_add %t, %t, %t : vector<16xf32>
  func.return
}
