// RUN: stepwell-opt %s -p lower-to-llvm-dialect --split-input-file --verify-diagnostics | filecheck %s

/// Dynamic sizes come first.
func.func @dynamic(%n: index) {
  // expected-error@+1 {{type memref<?xf32> has a dynamic dimension; run specialize-shapes first}}
  %m = memref.alloc(%n) : memref<?xf32>
  func.return
}

// -----

func.func @small_float(%x: bf16) -> bf16 {
  // expected-error@+1 {{'arith.mulf': has no native bf16 form; run expand-math first}}
  %y = arith.mulf %x, %x : bf16
  func.return %y : bf16
}

// -----

func.func @no_bytes_as_numbers(%x: f8E5M2) -> f32 {
  // expected-error@+1 {{'arith.extf': has no native f8E5M2 form; run expand-math first}}
  %0 = arith.extf %x : f8E5M2 to f32
  func.return %0 : f32
}

// -----

func.func @n_d_vector() {
  // expected-error@+1 {{type vector<2x2x2xf32> is neither a 1-D vector nor, carried by scf or made by tile and arith ops, a tile}}
  %y = arith.constant dense<0.0> : vector<2x2x2xf32>
  func.return
}

// -----

/// Every op without a lowering is named, not only the first.
func.func @unknown(%x: i64) {
  // expected-error@+1 {{'test.op': no lowering to the llvm dialect}}
  "test.op"(%x) : (i64) -> ()
  func.return
}

// -----

func.func @hint(%n: index) {
  // expected-error@+1 {{stepwell.loop is "fast", expected one of vectorize, no-vectorize, unroll, no-unroll}}
  scf.for %i = %n to %n step %n {
  } {stepwell.loop = "fast"}
  func.return
}

// -----

// expected-error@+1 {{an entry returns nothing, found 1 results}}
func.func @entry(%x: memref<4xf32> {stepwell.role = "input"}) -> index {
  %c0 = arith.constant 0 : index
  func.return %c0 : index
}

// -----

// CHECK: llvm.func @valid
func.func @valid() {
  func.return
}

// -----

// expected-error@+1 {{'func.func': type vector<0xf32> has 0 elements; a vector has 1 to 16384}}
func.func @no_lanes(%a: vector<0xf32>) {
  func.return
}

// -----

func.func @too_many_lanes(%m: memref<64xf32>, %i: index) {
  // expected-error@+1 {{'vector.load': type vector<4294967296xf32> has 4294967296 elements; a vector has 1 to 16384}}
  %v = vector.load %m[%i] : memref<64xf32>, vector<4294967296xf32>
  func.return
}

// -----

func.func @too_many_elements(%m: memref<2x2147483648xf32>, %i: index) {
  // expected-error@+1 {{'tile.load': type vector<2x2147483648xf32> has 4294967296 elements; a tile has at most 16384}}
  %t = tile.load %m[%i, %i] : memref<2x2147483648xf32>, vector<2x2147483648xf32>
  // expected-error@+1 {{'tile.store': type vector<2x2147483648xf32> has 4294967296 elements; a tile has at most 16384}}
  tile.store %t, %m[%i, %i] : vector<2x2147483648xf32>, memref<2x2147483648xf32>
  func.return
}

// -----

// expected-error@+1 {{'func.func': type i0 has no counterpart in LLVM, which has 1 to 8388608 bits}}
func.func @no_bits(%a: i0) {
  func.return
}

// -----

func.func @types_of_other_levels(%a: vector<4xindex>) {
  // expected-error@+1 {{'llvm_ext.freeze': the op is on vector<4xindex>, expected types of the llvm dialect}}
  %r = llvm_ext.freeze %a : vector<4xindex>
  func.return
}
