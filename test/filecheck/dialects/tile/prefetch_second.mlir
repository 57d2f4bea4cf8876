// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: stepwell-opt %s --split-input-file --verify-diagnostics --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK: tile.prefetch %b[%p, %k] ahead 192 count 96 second : memref<4x48xf32>
// GENERIC: "tile.prefetch"(%b, %p, %k) <{ahead = 192 : i64, count = 96 : i64, second}> : (memref<4x48xf32>, index, index) -> ()
func.func @ahead(%b: memref<4x48xf32>, %p: index, %k: index) {
  tile.prefetch %b[%p, %k] ahead 192 count 96 second : memref<4x48xf32>
  func.return
}

// -----

func.func @no_place(%b: memref<4x48xf32>, %p: index) {
  // expected-error@+1 {{the op has 1 indices into a buffer of 2 dimensions, expected one for each}}
  tile.prefetch %b[%p] ahead 0 count 16 second : memref<4x48xf32>
  func.return
}

// -----

func.func @no_elements(%b: memref<4x48xf32>, %p: index) {
  // expected-error@+1 {{the count is 0, expected 1 to 65536}}
  tile.prefetch %b[%p, %p] ahead 0 count 0 second : memref<4x48xf32>
  func.return
}
