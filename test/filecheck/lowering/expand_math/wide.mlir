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

/// One exponential, one quotient, and the scale of its denominator at the end.
// CHECK-LABEL: @silu
// CHECK: tile.limit %x
// CHECK: tile.lookup
// CHECK: %[[D:.*]] = arith.divf
// CHECK: %[[P:.*]] = arith.mulf %[[D]],
// CHECK-NEXT: %[[Y:.*]] = tile.limit %[[P]], %x : f32
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

// -----

/// With its limit at minus infinity, which needs nothing more; what is left of the formula is found no second time.
// CHECK-LABEL: @limited_silu
// CHECK-NOT: arith.select
// CHECK-COUNT-1: arith.divf
// CHECK-NOT: arith.divf
// CHECK: %[[Y:.*]] = tile.limit %{{.*}}, %x : f32
// CHECK-NEXT: tile.yield %[[Y]] : f32
// NARROW-LABEL: @limited_silu
// NARROW: arith.cmpf oeq
func.func @limited_silu(%t: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %v = tile.load %t[%c0] : memref<16xf32>, vector<1x16xf32>
  %w = tile.map(%x = %v) : (vector<1x16xf32>) -> vector<1x16xf32> {
    %least = arith.constant 0xff800000 : f32
    %last = arith.cmpf oeq, %x, %least : f32
    %limit = arith.constant -0.0 : f32
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
    %p = arith.mulf %b, %g : f32
    %y = arith.select %last, %limit, %p : f32
    tile.yield %y : f32
  }
  tile.store %w, %t[%c0] along [-1, 0] : vector<1x16xf32>, memref<16xf32>
  func.return
}

// -----

/// Zero without the sign is no limit of silu: the selection stays.
// CHECK-LABEL: @no_limit
// CHECK: arith.cmpf oeq, %x
// CHECK: %[[S:.*]] = tile.limit %{{.*}}, %x : f32
// CHECK-NEXT: %[[Y:.*]] = arith.select %{{.*}}, %{{.*}}, %[[S]] : f32
// CHECK-NEXT: tile.yield %[[Y]] : f32
func.func @no_limit(%t: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %v = tile.load %t[%c0] : memref<16xf32>, vector<1x16xf32>
  %w = tile.map(%x = %v) : (vector<1x16xf32>) -> vector<1x16xf32> {
    %least = arith.constant 0xff800000 : f32
    %last = arith.cmpf oeq, %x, %least : f32
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
    %p = arith.mulf %b, %g : f32
    %y = arith.select %last, %zero, %p : f32
    tile.yield %y : f32
  }
  tile.store %w, %t[%c0] along [-1, 0] : vector<1x16xf32>, memref<16xf32>
  func.return
}

// -----

// CHECK-LABEL: @sigmoid
// CHECK-NOT: arith.select
// CHECK: tile.lookup
// CHECK: %[[Y:.*]] = arith.divf
// CHECK-NEXT: tile.yield %[[Y]] : f32
// NARROW-LABEL: @sigmoid
// NARROW: arith.select
func.func @sigmoid(%t: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %v = tile.load %t[%c0] : memref<16xf32>, vector<1x16xf32>
  %w = tile.map(%x = %v) : (vector<1x16xf32>) -> vector<1x16xf32> {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %positive = arith.cmpf oge, %x, %zero : f32
    %size = math.absf %x : f32
    %h = arith.negf %size : f32
    %e = math.exp %h : f32
    %c = arith.select %positive, %one, %e : f32
    %f = arith.addf %one, %e : f32
    %y = arith.divf %c, %f : f32
    tile.yield %y : f32
  }
  tile.store %w, %t[%c0] along [-1, 0] : vector<1x16xf32>, memref<16xf32>
  func.return
}

// -----

/// The centre and five coefficients of a piece; no division.
// CHECK-LABEL: @tanh_erf
// CHECK-NOT: arith.divf
// CHECK-COUNT-6: tile.lookup
// CHECK: %[[Y:.*]] = math.copysign %{{.*}}, %x
// CHECK-COUNT-6: tile.lookup
// CHECK: math.copysign %{{.*}}, %[[Y]]
// CHECK-NEXT: tile.yield
// NARROW-LABEL: @tanh_erf
// NARROW: arith.divf
// NARROW-NOT: tile.lookup
func.func @tanh_erf(%t: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %v = tile.load %t[%c0] : memref<16xf32>, vector<1x16xf32>
  %w = tile.map(%x = %v) : (vector<1x16xf32>) -> vector<1x16xf32> {
    %y = math.tanh %x : f32
    %z = math.erf %y : f32
    tile.yield %z : f32
  }
  tile.store %w, %t[%c0] along [-1, 0] : vector<1x16xf32>, memref<16xf32>
  func.return
}

// -----

/// Nothing is left of the hyperbolic tangent, nor of its argument.
// CHECK-LABEL: @gelu_by_tanh
// CHECK-NOT: math.copysign
// CHECK-COUNT-6: tile.lookup
// CHECK: %[[P:.*]] = arith.maximumf %x, %{{.*}} : f32
// CHECK: %[[Y:.*]] = math.fma %{{.*}}, %{{.*}}, %[[P]] : f32
// CHECK-NEXT: tile.yield %[[Y]] : f32
// NARROW-LABEL: @gelu_by_tanh
// NARROW: math.copysign
func.func @gelu_by_tanh(%t: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %v = tile.load %t[%c0] : memref<16xf32>, vector<1x16xf32>
  %w = tile.map(%x = %v) : (vector<1x16xf32>) -> vector<1x16xf32> {
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %a = arith.constant 0.797884583 : f32
    %b = arith.constant 0.0356774069 : f32
    %h = arith.mulf %x, %half : f32
    %s = arith.mulf %x, %x : f32
    %c = arith.mulf %b, %s : f32
    %d = arith.addf %a, %c : f32
    %z = arith.mulf %x, %d : f32
    %u = math.tanh %z : f32
    %e = arith.addf %one, %u : f32
    %y = arith.mulf %h, %e : f32
    tile.yield %y : f32
  }
  tile.store %w, %t[%c0] along [-1, 0] : vector<1x16xf32>, memref<16xf32>
  func.return
}
