// RUN: stepwell-opt %s -p 'expand-math{wide=true}' --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p 'expand-math{wide=false}' --split-input-file | filecheck %s --check-prefix=NARROW

/// No bounds for x and no integers: `tile.scale` overflows and rounds to denormals by itself.
// CHECK-LABEL: @exp
// CHECK-NOT: arith.maximumf
// CHECK: %[[T:.*]] = math.fma %x,
// CHECK: %[[N:.*]] = arith.subf %[[T]],
// CHECK: tile.limit
// CHECK: %[[Y:.*]] = tile.scale %{{.*}}, %[[N]] : f32
// CHECK-NEXT: tile.yield %[[Y]] : f32
// NARROW-LABEL: @exp
// NARROW-NOT: tile.scale
// NARROW: arith.shli
func.func @exp(%t: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %t[%c0] : memref<16xf32>, vector<1x16xf32>
  %b = tile.map(%x = %a) : (vector<1x16xf32>) -> vector<1x16xf32> {
    %y = math.exp %x : f32
    tile.yield %y : f32
  }
  tile.store %b, %t[%c0] along [-1, 0] : vector<1x16xf32>, memref<16xf32>
  func.return
}

// -----

/// Outside a map there may be no vectors at all.
// CHECK-LABEL: @no_map
// CHECK-NOT: tile.
// CHECK: func.return
func.func @no_map(%x: f32) -> f32 {
  %y = math.exp %x : f32
  func.return %y : f32
}

// -----

/// x/2 (1 + erf(x / sqrt 2)) is max(x, 0) less a polynomial; nothing is left of the error function.
// CHECK-LABEL: @gelu
// CHECK-NOT: 0.707
// CHECK: %[[P:.*]] = arith.maximumf %x, %{{.*}} : f32
// CHECK: %[[Y:.*]] = math.fma %{{.*}}, %{{.*}}, %[[P]] : f32
// CHECK-NEXT: func.return %[[Y]] : f32
// NARROW-LABEL: @gelu
// NARROW: arith.maximumf %x, %{{.*}} : f32
func.func @gelu(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %a = arith.mulf %x, %half : f32
  %b = arith.mulf %root, %x : f32
  %c = math.erf %b : f32
  %d = arith.addf %c, %one : f32
  %y = arith.mulf %d, %a : f32
  func.return %y : f32
}

// -----

/// Half of another number.
// CHECK-LABEL: @no_gelu
// CHECK: arith.mulf %z,
// CHECK-NOT: arith.maximumf %x
// CHECK: func.return
func.func @no_gelu(%x: f32, %z: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %a = arith.mulf %z, %half : f32
  %b = arith.mulf %root, %x : f32
  %c = math.erf %b : f32
  %d = arith.addf %c, %one : f32
  %y = arith.mulf %d, %a : f32
  func.return %y : f32
}

// -----

/// One exponential, one quotient, and the power of two at the end.
// CHECK-LABEL: @silu
// CHECK: tile.limit
// CHECK: %[[D:.*]] = arith.divf %x,
// CHECK-NEXT: %[[Y:.*]] = tile.scale %[[D]], %{{.*}} : f32
// CHECK-NEXT: tile.yield %[[Y]] : f32
// NARROW-LABEL: @silu
// NARROW: arith.select
// NARROW: arith.divf
func.func @silu(%t: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %v = tile.load %t[%c0] : memref<16xf32>, vector<1x16xf32>
  %w = tile.map(%x = %v) : (vector<1x16xf32>) -> vector<1x16xf32> {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %half = arith.constant -0.5 : f32
    %negative = arith.cmpf olt, %x, %zero : f32
    %size = math.absf %x : f32
    %h = arith.mulf %size, %half : f32
    %e = math.exp %h : f32
    %a = arith.mulf %x, %e : f32
    %b = arith.select %negative, %a, %x : f32
    %c = arith.select %negative, %e, %one : f32
    %d = arith.mulf %e, %e : f32
    %f = arith.addf %one, %d : f32
    %g = arith.divf %c, %f : f32
    %y = arith.mulf %b, %g : f32
    tile.yield %y : f32
  }
  tile.store %w, %t[%c0] along [-1, 0] : vector<1x16xf32>, memref<16xf32>
  func.return
}
