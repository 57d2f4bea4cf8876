// RUN: stepwell-opt %s | stepwell-opt | filecheck %s
// RUN: stepwell-opt %s --print-op-generic | stepwell-opt | filecheck %s

// CHECK-LABEL: @elements
func.func @elements(%t: vector<1x20xf32>) -> vector<1x20xf32> {
  %0 = tile.map(%x = %t) : (vector<1x20xf32>) -> vector<1x20xf32> {
    // CHECK: %[[L:.*]] = tile.limit %x, %{{.*}} : f32
    // CHECK-NEXT: %{{.*}} = tile.scale %[[L]], %x : f32
    %bound = arith.constant 0.35 : f32
    %l = tile.limit %x, %bound : f32
    %y = tile.scale %l, %x : f32
    // CHECK-NEXT: %[[I:.*]] = arith.bitcast %x : f32 to i32
    // CHECK-NEXT: %{{.*}} = tile.lookup %[[I]], [0.000000e+00, 1.000000e+00, {{.*}}, 0.333333343] : f32
    %i = arith.bitcast %x : f32 to i32
    %z = tile.lookup %i, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 0.333333343] : f32
    // CHECK-NEXT: %[[M:.*]] = tile.larger %x, %l : f32
    // CHECK-NEXT: %{{.*}} = tile.smaller %[[M]], %x : f32
    %m = tile.larger %x, %l : f32
    %n = tile.smaller %m, %x : f32
    tile.yield %z : f32
  }
  func.return %0 : vector<1x20xf32>
}

// CHECK-LABEL: @multiply_add
func.func @multiply_add(%t: vector<2x20xf32>, %i: vector<2x20xi32>) -> (vector<2x20xf32>, vector<2x20xi32>) {
  // CHECK: tile.multiply_add %t, %t, %t : vector<2x20xf32>
  %a = tile.multiply_add %t, %t, %t : vector<2x20xf32>
  // CHECK: tile.multiply_add %i, %i, %i : vector<2x20xi32>
  %b = tile.multiply_add %i, %i, %i : vector<2x20xi32>
  func.return %a, %b : vector<2x20xf32>, vector<2x20xi32>
}

// CHECK-LABEL: @reduce
func.func @reduce(%t: vector<2x20xf32>, %i: vector<2x20xi32>) -> (f32, f32, f32, f32, i32) {
  // CHECK: tile.reduce "addf", %t : vector<2x20xf32> -> f32
  %a = tile.reduce "addf", %t : vector<2x20xf32> -> f32
  // CHECK: tile.reduce "maximumf", %t fastmath<nsz> : vector<2x20xf32> -> f32
  %b = tile.reduce "maximumf", %t fastmath<nsz> : vector<2x20xf32> -> f32
  // CHECK: tile.reduce "minimumf", %t : vector<2x20xf32> -> f32
  %c = tile.reduce "minimumf", %t : vector<2x20xf32> -> f32
  // CHECK: tile.reduce "maxnumf", %t : vector<2x20xf32> -> f32
  %d = tile.reduce "maxnumf", %t : vector<2x20xf32> -> f32
  // CHECK: tile.reduce "addi", %i : vector<2x20xi32> -> i32
  %e = tile.reduce "addi", %i : vector<2x20xi32> -> i32
  func.return %a, %b, %c, %d, %e : f32, f32, f32, f32, i32
}

// CHECK-LABEL: @prefetch
func.func @prefetch(%m: memref<4x64xf32>, %i: index) {
  // CHECK: tile.prefetch %m[%i, %i] ahead 64 count 32 : memref<4x64xf32>
  tile.prefetch %m[%i, %i] ahead 64 count 32 : memref<4x64xf32>
  // CHECK: tile.prefetch write %m[%i, %i] ahead 64 count 32 : memref<4x64xf32>
  tile.prefetch write %m[%i, %i] ahead 64 count 32 : memref<4x64xf32>
  func.return
}
