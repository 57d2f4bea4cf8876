// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: stepwell-opt %s --split-input-file --verify-diagnostics --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK: %[[U:.*]] = tile.transpose %t : vector<16x16xf32>
// GENERIC: "tile.transpose"(%t) : (vector<16x16xf32>) -> vector<16x16xf32>
func.func @transpose(%t: vector<16x16xf32>) -> vector<16x16xf32> {
  %u = tile.transpose %t : vector<16x16xf32>
  func.return %u : vector<16x16xf32>
}

// -----

func.func @no_oblong(%t: vector<16x8xf32>) {
  // expected-error@+1 {{the tile has type vector<16x8xf32>, expected 16 rows and 16 columns}}
  %u = tile.transpose %t : vector<16x8xf32>
  func.return
}
