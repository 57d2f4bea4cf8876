// RUN: stepwell-opt %s --split-input-file --verify-diagnostics -p guard-divisions | filecheck %s

// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @division(%t: vector<2x3xi32>) {
  %0 = tile.map(%x = %t, %z = %t) : (vector<2x3xi32>, vector<2x3xi32>) -> vector<2x3xi32> {
    // expected-error@+1 {{a tile.map cannot fail, and this divisor may be 0; expected a constant or a selection that is not}}
    %y = arith.divsi %x, %z : i32
    tile.yield %y : i32
  }
  func.return
}
