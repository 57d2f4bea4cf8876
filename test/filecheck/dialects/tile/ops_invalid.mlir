// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @valid
func.func @valid(%m: memref<?x?xf32>, %i: index) {
  %0 = tile.load %m[%i, %i] : memref<?x?xf32>, vector<100x100xf32>
  func.return
}

// -----

func.func @load_of_vector(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{the tile has type vector<3xf32>, expected a vector of rows and columns}}
  %0 = tile.load %v[%i] : memref<9xf32>, vector<3xf32>
  func.return
}

// -----

func.func @indices(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{the tile has 1 indices into a buffer of 2 dimensions, expected one for each}}
  %0 = tile.load %m[%i] : memref<4x9xf32>, vector<2x3xf32>
  func.return
}

// -----

func.func @along(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{the tile runs along dimension 2, expected -1 or one of the 2 dimensions}}
  %0 = tile.load %m[%i, %i] along [0, 2] : memref<4x9xf32>, vector<2x3xf32>
  func.return
}

// -----

func.func @along_negative(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{the tile runs along dimension -2, expected -1 or one of the 2 dimensions}}
  %0 = tile.load %m[%i, %i] along [-2, 1] : memref<4x9xf32>, vector<2x3xf32>
  func.return
}

// -----

func.func @along_twice(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{the tile runs along dimension 1 with its rows and its columns}}
  %0 = tile.load %m[%i, %i] along [1, 1] : memref<4x9xf32>, vector<2x3xf32>
  func.return
}

// -----

func.func @step(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{the tile has step 0, expected 1 or more}}
  %0 = tile.load %m[%i, %i] by [0, 1] : memref<4x9xf32>, vector<2x3xf32>
  func.return
}

// -----

func.func @span(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{the tile spans 10 elements of dimension 1, which has 9}}
  %0 = tile.load %m[%i, %i] by [1, 3] : memref<4x9xf32>, vector<2x4xf32>
  func.return
}

// -----

func.func @element(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{a tile of vector<2x3xf64> cannot be loaded from memref<4x9xf32>}}
  %0 = tile.load %m[%i, %i] : memref<4x9xf32>, vector<2x3xf64>
  func.return
}

// -----

func.func @one_number(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{expected two numbers after 'along', found 1}}
  %0 = tile.load %m[%i, %i] along [0] : memref<4x9xf32>, vector<2x3xf32>
  func.return
}

// -----

func.func @pair(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{'by' is array<i64: 1>, expected two numbers}}
  %0 = "tile.load"(%m, %i, %i) <{along = array<i64: 0, 1>, by = array<i64: 1>}> : (memref<4x9xf32>, index, index) -> vector<2x3xf32>
  func.return
}

// -----

func.func @stored_rows(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{2 rows are stored in one place}}
  tile.store %t, %v[%i] : vector<2x3xf32>, memref<9xf32>
  func.return
}

// -----

func.func @stored_columns(%m: memref<4x9xf32>, %v: memref<9xf32>, %d: memref<?x?xf32>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{3 columns are stored in one place}}
  tile.store %t, %m[%i, %i] along [0, -1] : vector<2x3xf32>, memref<4x9xf32>
  func.return
}

// -----

func.func @stored_element(%m: memref<4x9xf64>, %t: vector<2x3xf32>, %i: index) {
  // expected-error@+1 {{a tile of vector<2x3xf32> cannot be stored to memref<4x9xf64>}}
  tile.store %t, %m[%i, %i] : vector<2x3xf32>, memref<4x9xf64>
  func.return
}

// -----

func.func @result(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the result has type vector<2x4xf32>, expected vector<2x3xf32>}}
  %0 = "tile.mma"(%acc, %a, %i, %i, %a, %i, %i) <{a_along = array<i64: 0, 1>, a_by = array<i64: 1, 1>, b_along = array<i64: 0, 1>, b_by = array<i64: 1, 1>, depth = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 2, 1, 2>}> : (vector<2x3xf32>, memref<4x9xf32>, index, index, memref<4x9xf32>, index, index) -> vector<2x4xf32>
  func.return
}

// -----

func.func @types(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{expected the types of the tile and of two buffers, found 2}}
  %0 = tile.mma %acc, %a[%i, %i], %a[%i, %i] depth 1 : vector<2x3xf32>, memref<4x9xf32>
  func.return
}

// -----

func.func @depth(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the depth is 65, expected 1 to 64}}
  %0 = tile.mma %acc, %a[%i, %i], %a[%i, %i] depth 65 : vector<2x3xf32>, memref<4x9xf32>, memref<4x9xf32>
  func.return
}

// -----

func.func @left_span(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the left operand spans 10 elements of dimension 1, which has 9}}
  %0 = tile.mma %acc, %a[%i, %i], %a[%i, %i] depth 10 : vector<2x3xf32>, memref<4x9xf32>, memref<4x9xf32>
  func.return
}

// -----

func.func @right_span(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the right operand spans 5 elements of dimension 0, which has 4}}
  %0 = tile.mma %acc, %a[%i, %i], %a[%i, %i] depth 5 : vector<2x3xf32>, memref<4x9xf32>, memref<4x9xf32>
  func.return
}

// -----

func.func @product(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %d: memref<4x9xf64>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{a product of f32 and f64 cannot be added to a tile of vector<2x3xf32>}}
  %0 = tile.mma %acc, %a[%i, %i], %d[%i, %i] depth 1 : vector<2x3xf32>, memref<4x9xf32>, memref<4x9xf64>
  func.return
}

// -----

func.func @integer_product(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{a product of f32 and i8 cannot be added to a tile of vector<2x3xi32>}}
  %0 = tile.mma %int, %a[%i, %i], %z[%i, %i] depth 1 : vector<2x3xi32>, memref<4x9xf32>, memref<4x16xi8>
  func.return
}

// -----

func.func @unsigned(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the left operand is unsigned, expected integers, found f32}}
  %0 = tile.mma %acc, %a[%i, %i], %a[%i, %i] depth 1 unsigned : vector<2x3xf32>, memref<4x9xf32>, memref<4x9xf32>
  func.return
}

// -----

func.func @rows_behind(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{2 rows from row 1 on, expected some of the 2 of the tile}}
  %0 = tile.mma %acc, %a[%i, %i], %a[%i, %i] depth 1 rows [1, 2] : vector<2x3xf32>, memref<4x9xf32>, memref<4x9xf32>
  func.return
}

// -----

func.func @no_rows(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{0 rows from row 1 on, expected some of the 2 of the tile}}
  %0 = tile.mma %acc, %a[%i, %i], %a[%i, %i] depth 1 rows [1, 0] : vector<2x3xf32>, memref<4x9xf32>, memref<4x9xf32>
  func.return
}

// -----

func.func @rows_are_a_pair(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{expected two numbers after 'rows', found 1}}
  %0 = tile.mma %acc, %a[%i, %i], %a[%i, %i] depth 1 rows [1] : vector<2x3xf32>, memref<4x9xf32>, memref<4x9xf32>
  func.return
}

// -----

func.func @rows_of_tile_registers(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "amx" adds to all rows of a tile}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 16 rows [0, 1] groups using "amx" : vector<2x3xi32>, memref<4x16xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @group_types(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{groups are of elements of f32, f32 and f32, expected i8, i8 and i32}}
  %0 = tile.mma %acc, %a[%i, %i], %a[%i, %i] depth 1 groups : vector<2x3xf32>, memref<4x9xf32>, memref<4x9xf32>
  func.return
}

// -----

func.func @group_size(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{groups lie in the last dimension of memref<4x16xi8>, expected 4 elements in that}}
  %0 = tile.mma %int, %z[%i, %i], %z[%i, %i] depth 1 groups : vector<2x3xi32>, memref<4x16xi8>, memref<4x16xi8>
  func.return
}

// -----

func.func @group_dimension(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the right operand runs along dimension 2, in which its groups lie}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] depth 1 groups : vector<2x3xi32>, memref<4x16xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @group_span(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the left operand spans 20 elements of dimension 1, which has 16}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [-1, 1] depth 5 groups : vector<2x3xi32>, memref<4x16xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @instruction(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction is "vdot", expected vpdpbusd or vex.vpdpbusd or vpmaddubsw or vpmaddwd or vex.vpmaddwd or pmaddwd or vdpbf16ps or sdot or udot or usdot or bfdot or amx}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups unsigned using "vdot" : vector<2x3xi32>, memref<4x16xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @instruction_signed(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %a: memref<4x9xf32>, %h: memref<4x9xf16>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "vpdpbusd" multiplies groups of which one is unsigned, the left or the right ones}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups using "vpdpbusd" : vector<2x3xi32>, memref<4x16xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @instruction_not_signed(%int: vector<2x3xi32>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "sdot" multiplies groups which all have signs}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups unsigned using "sdot" : vector<2x3xi32>, memref<4x16xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @instruction_not_unsigned(%int: vector<2x3xi32>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "udot" multiplies groups which are all unsigned}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups unsigned using "udot" : vector<2x3xi32>, memref<4x16xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @bytes_as_halves(%int: vector<2x3xi32>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "bfdot" multiplies groups of bf16}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups unsigned using "bfdot" : vector<2x3xi32>, memref<4x16xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @instruction_both_unsigned(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %big: vector<40x16xi32>, %h: memref<4x9xf16>, %z: memref<4x64xi8>, %y: memref<16x64xi8>, %p: memref<16x3x4xi8>, %q: memref<16x16x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "vpdpbusd" multiplies groups of which one is unsigned, the left or the right ones}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups unsigned right_unsigned using "vpdpbusd" : vector<2x3xi32>, memref<4x64xi8>, memref<16x3x4xi8>
  func.return
}

// -----

func.func @instruction_without_groups(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %big: vector<40x16xi32>, %h: memref<4x9xf16>, %z: memref<4x64xi8>, %y: memref<16x64xi8>, %p: memref<16x3x4xi8>, %q: memref<16x16x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "amx" multiplies groups}}
  %0 = tile.mma %int, %y[%i, %i], %y[%i, %i] depth 1 using "amx" : vector<2x3xi32>, memref<16x64xi8>, memref<16x64xi8>
  func.return
}

// -----

func.func @right_unsigned(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %big: vector<40x16xi32>, %h: memref<4x9xf16>, %z: memref<4x64xi8>, %y: memref<16x64xi8>, %p: memref<16x3x4xi8>, %q: memref<16x16x4xi8>, %i: index) {
  // expected-error@+1 {{the right operand is unsigned, expected integers, found f16}}
  %0 = tile.mma %acc, %h[%i, %i], %h[%i, %i] depth 1 right_unsigned : vector<2x3xf32>, memref<4x9xf16>, memref<4x9xf16>
  func.return
}

// -----

func.func @amx_depth(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %big: vector<40x16xi32>, %h: memref<4x9xf16>, %z: memref<4x64xi8>, %y: memref<16x64xi8>, %p: memref<16x3x4xi8>, %q: memref<16x16x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "amx" makes tiles of up to 32x32 from a multiple of 16 groups, found vector<2x3xi32> and depth 8}}
  %0 = tile.mma %int, %y[%i, %i], %q[%i, %i, %i] along [0, 1] depth 8 groups using "amx" : vector<2x3xi32>, memref<16x64xi8>, memref<16x16x4xi8>
  func.return
}

// -----

func.func @amx_size(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %big: vector<40x16xi32>, %h: memref<4x9xf16>, %z: memref<4x64xi8>, %y: memref<16x64xi8>, %p: memref<16x3x4xi8>, %q: memref<16x16x4xi8>, %i: index) {
  // expected-error@+1 {{the left operand spans 48 elements of dimension 0, which has 16}}
  %0 = tile.mma %big, %y[%i, %i], %q[%i, %i, %i] along [0, 1] depth 16 groups using "amx" : vector<40x16xi32>, memref<16x64xi8>, memref<16x16x4xi8>
  func.return
}

// -----

func.func @amx_tile(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %big: vector<40x16xi32>, %h: memref<4x9xf16>, %z: memref<4x64xi8>, %y: memref<16x64xi8>, %p: memref<16x3x4xi8>, %q: memref<16x16x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "amx" makes tiles of up to 32x32 from a multiple of 16 groups, found vector<40x16xi32> and depth 16}}
  %0 = tile.mma %big, %y[%i, %i] along [-1, 1], %q[%i, %i, %i] along [0, 1] depth 16 groups using "amx" : vector<40x16xi32>, memref<16x64xi8>, memref<16x16x4xi8>
  func.return
}

// -----

func.func @amx_rows(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %big: vector<40x16xi32>, %h: memref<4x9xf16>, %z: memref<4x64xi8>, %y: memref<16x64xi8>, %p: memref<16x3x4xi8>, %q: memref<16x16x4xi8>, %i: index) {
  // expected-error@+1 {{the left operand spans 16 elements of dimension 0, which has 4}}
  %0 = tile.mma %int, %z[%i, %i], %q[%i, %i, %i] along [0, 1] depth 16 groups using "amx" : vector<2x3xi32>, memref<4x64xi8>, memref<16x16x4xi8>
  func.return
}

// -----

func.func @amx_columns(%acc: vector<2x3xf32>, %int: vector<2x3xi32>, %big: vector<40x16xi32>, %h: memref<4x9xf16>, %z: memref<4x64xi8>, %y: memref<16x64xi8>, %p: memref<16x3x4xi8>, %q: memref<16x16x4xi8>, %i: index) {
  // expected-error@+1 {{the right operand spans 16 elements of dimension 1, which has 3}}
  %0 = tile.mma %int, %y[%i, %i], %p[%i, %i, %i] along [0, 1] depth 16 groups using "amx" : vector<2x3xi32>, memref<16x64xi8>, memref<16x3x4xi8>
  func.return
}

// -----

func.func @halves_as_bytes(%f: vector<16x16xf32>, %h: memref<16x64xbf16>, %p: memref<16x16x2xbf16>, %q: memref<16x16x4xbf16>, %i: index) {
  // expected-error@+1 {{the instruction "vpdpbusd" multiplies groups of i8}}
  %0 = tile.mma %f, %h[%i, %i], %p[%i, %i, %i] along [0, 1] depth 16 groups using "vpdpbusd" : vector<16x16xf32>, memref<16x64xbf16>, memref<16x16x2xbf16>
  func.return
}

// -----

func.func @bytes_as_halves(%int: vector<2x3xi32>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "vdpbf16ps" multiplies groups of bf16}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups using "vdpbf16ps" : vector<2x3xi32>, memref<4x16xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @groups_of_f16(%f: vector<16x16xf32>, %h: memref<16x64xf16>, %p: memref<16x16x2xf16>, %i: index) {
  // expected-error@+1 {{groups are of elements of f16, f16 and f32, expected i8, i8 and i32 or bf16, bf16 and f32}}
  %0 = tile.mma %f, %h[%i, %i], %p[%i, %i, %i] along [0, 1] depth 4 groups : vector<16x16xf32>, memref<16x64xf16>, memref<16x16x2xf16>
  func.return
}

// -----

func.func @halves_in_fours(%f: vector<16x16xf32>, %h: memref<16x64xbf16>, %p: memref<16x16x2xbf16>, %q: memref<16x16x4xbf16>, %i: index) {
  // expected-error@+1 {{groups lie in the last dimension of memref<16x16x4xbf16>, expected 2 elements in that}}
  %0 = tile.mma %f, %h[%i, %i], %q[%i, %i, %i] along [0, 1] depth 16 groups using "amx" : vector<16x16xf32>, memref<16x64xbf16>, memref<16x16x4xbf16>
  func.return
}

// -----

func.func @map_of_vector(%t: vector<2x3xf32>, %u: vector<3x2xf32>, %w: vector<3xf32>, %m: memref<4xf32>, %s: f32, %i: index) {
  // expected-error@+1 {{the op has a value of type vector<3xf32>, expected tiles}}
  %0 = tile.map(%x = %w) : (vector<3xf32>) -> vector<2x3xf32> {
    tile.yield %x : f32
  }
  func.return
}

// -----

func.func @map_shape(%t: vector<2x3xf32>, %u: vector<3x2xf32>, %w: vector<3xf32>, %m: memref<4xf32>, %s: f32, %i: index) {
  // expected-error@+1 {{a tile of type vector<3x2xf32> is mapped to one of vector<2x3xf32>: their shapes differ}}
  %0 = tile.map(%x = %u) : (vector<3x2xf32>) -> vector<2x3xf32> {
    tile.yield %x : f32
  }
  func.return
}

// -----

func.func @map_types(%t: vector<2x3xf32>, %u: vector<3x2xf32>, %w: vector<3xf32>, %m: memref<4xf32>, %s: f32, %i: index) {
  // expected-error@+1 {{1 tiles but 2 types}}
  %0 = tile.map(%x = %t) : (vector<2x3xf32>, vector<2x3xf32>) -> vector<2x3xf32> {
    tile.yield %x : f32
  }
  func.return
}

// -----

func.func @map_arguments(%t: vector<2x3xf32>, %u: vector<3x2xf32>, %w: vector<3xf32>, %m: memref<4xf32>, %s: f32, %i: index) {
  // expected-error@+1 {{the arguments of the body are not the elements of the tiles}}
  %0 = "tile.map"(%t) ({
  ^bb0(%x: f64):
    tile.yield %s : f32
  }) : (vector<2x3xf32>) -> vector<2x3xf32>
  func.return
}

// -----

func.func @map_yield(%t: vector<2x3xf32>, %u: vector<3x2xf32>, %w: vector<3xf32>, %m: memref<4xf32>, %s: f32, %i: index) {
  // expected-error@+1 {{the body must end in a tile.yield of i8}}
  %0 = tile.map(%x = %t) : (vector<2x3xf32>) -> vector<2x3xi8> {
    tile.yield %x : f32
  }
  func.return
}

// -----

func.func @map_body(%t: vector<2x3xf32>, %u: vector<3x2xf32>, %w: vector<3xf32>, %m: memref<4xf32>, %s: f32, %i: index) {
  // expected-error@+1 {{the body has 'memref.load', expected scalar arithmetic}}
  %0 = tile.map(%x = %t) : (vector<2x3xf32>) -> vector<2x3xf32> {
    %y = memref.load %m[%i] : memref<4xf32>
    tile.yield %x : f32
  }
  func.return
}

// -----

func.func @map_tile_inside(%t: vector<2x3xf32>, %u: vector<3x2xf32>, %w: vector<3xf32>, %m: memref<4xf32>, %s: f32, %i: index) {
  // expected-error@+1 {{'arith.addf' computes on vector<2x3xf32>, expected numbers}}
  %0 = tile.map(%x = %t) : (vector<2x3xf32>) -> vector<2x3xf32> {
    %y = arith.addf %t, %t : vector<2x3xf32>
    tile.yield %x : f32
  }
  func.return
}

// -----

func.func @yield_alone(%t: vector<2x3xf32>, %u: vector<3x2xf32>, %w: vector<3xf32>, %m: memref<4xf32>, %s: f32, %i: index) {
  // expected-error@+1 {{'tile.yield' expects parent op 'tile.map'}}
  tile.yield %s : f32
  func.return
}

// -----

func.func @repeat(%m: memref<4x9xf32>, %i: index) {
  // expected-error@+1 {{the tile repeats elements 0 times, expected 1 or more}}
  %0 = tile.load %m[%i, %i] repeat 0 : memref<4x9xf32>, vector<2x8xf32>
  func.return
}

// -----

func.func @repeat_beyond(%m: memref<4x9xf32>, %i: index) {
  // expected-error@+1 {{the tile spans 13 elements of dimension 1, which has 9}}
  %0 = tile.load %m[%i, %i] by [1, 4] repeat 4 : memref<4x9xf32>, vector<2x16xf32>
  func.return
}

// -----

func.func @nibbles_without_groups(%int: vector<2x3xi32>, %z: memref<4x16xi8>, %i: index) {
  // expected-error@+1 {{nibbles are multiplied in groups, which the op has not}}
  %0 = "tile.mma"(%int, %z, %i, %i, %z, %i, %i) <{a_along = array<i64: 0, 1>, a_by = array<i64: 1, 1>, b_along = array<i64: 0, 1>, b_by = array<i64: 1, 1>, depth = 1 : i64, nibbles, operandSegmentSizes = array<i32: 1, 1, 2, 1, 2>}> : (vector<2x3xi32>, memref<4x16xi8>, index, index, memref<4x16xi8>, index, index) -> vector<2x3xi32>
  func.return
}

// -----

func.func @nibbles_of_few(%int: vector<2x3xi32>, %z: memref<4x15xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the left operand spans 16 elements of dimension 1, which has 15}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 2 groups nibbles : vector<2x3xi32>, memref<4x15xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @nibbles_of_halves(%f: vector<16x16xf32>, %h: memref<16x64xbf16>, %p: memref<16x16x2xbf16>, %i: index) {
  // expected-error@+1 {{nibbles are halves of bytes in vector registers}}
  %0 = tile.mma %f, %h[%i, %i], %p[%i, %i, %i] along [0, 1] depth 8 groups nibbles : vector<16x16xf32>, memref<16x64xbf16>, memref<16x16x2xbf16>
  func.return
}

// -----

func.func @bytes_that_saturate(%int: vector<2x3xi32>, %z: memref<4x16xi8>, %p: memref<4x3x4xi8>, %i: index) {
  // expected-error@+1 {{the instruction "vpmaddubsw" multiplies groups of nibbles, as others would saturate}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups right_unsigned using "vpmaddubsw" : vector<2x3xi32>, memref<4x16xi8>, memref<4x3x4xi8>
  func.return
}

// -----

func.func @unsigned_words(%int: vector<2x3xi32>, %z: memref<4x16xi16>, %p: memref<4x3x2xi16>, %i: index) {
  // expected-error@+1 {{groups of i16 have signs}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups unsigned using "vpmaddwd" : vector<2x3xi32>, memref<4x16xi16>, memref<4x3x2xi16>
  func.return
}

// -----

func.func @words_as_bytes(%int: vector<2x3xi32>, %z: memref<4x16xi16>, %p: memref<4x3x2xi16>, %i: index) {
  // expected-error@+1 {{the instruction "vpdpbusd" multiplies groups of i8}}
  %0 = tile.mma %int, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups using "vpdpbusd" : vector<2x3xi32>, memref<4x16xi16>, memref<4x3x2xi16>
  func.return
}

// -----

func.func @halves_as_words(%f: vector<2x3xf32>, %z: memref<4x16xbf16>, %p: memref<4x3x2xbf16>, %i: index) {
  // expected-error@+1 {{the instruction "vpmaddwd" multiplies groups of i8 or i16}}
  %0 = tile.mma %f, %z[%i, %i], %p[%i, %i, %i] along [0, 1] depth 1 groups using "vpmaddwd" : vector<2x3xf32>, memref<4x16xbf16>, memref<4x3x2xbf16>
  func.return
}
