// RUN: stepwell-opt %s -p expand-math,guard-divisions | filecheck %s

/// Passes on scalars work in the bodies of maps: half floats are computed in f32, functions expanded, the smallest integer
/// divided by -1 wraps.
// CHECK-LABEL: @body
func.func @body(%t: vector<2x3xf16>, %u: vector<2x3xi32>) -> vector<2x3xi32> {
  // CHECK: tile.map
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // CHECK-NOT: math.exp
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  // CHECK: tile.yield %{{.*}} : f16
  %0 = tile.map(%x = %t) : (vector<2x3xf16>) -> vector<2x3xf16> {
    %y = math.exp %x : f16
    tile.yield %y : f16
  }
  // CHECK: tile.map
  // CHECK: arith.select
  // CHECK: %[[SAFE:.*]] = arith.select
  // CHECK: arith.divsi %{{.*}}, %[[SAFE]] : i32
  // CHECK-NOT: cf.assert
  // CHECK: tile.yield
  %1 = tile.map(%x = %u) : (vector<2x3xi32>) -> vector<2x3xi32> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %bad = arith.cmpi eq, %x, %zero : i32
    %safe = arith.select %bad, %one, %x : i32
    %y = arith.divsi %one, %safe : i32
    tile.yield %y : i32
  }
  func.return %1 : vector<2x3xi32>
}
