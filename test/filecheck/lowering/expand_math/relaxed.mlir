// RUN: stepwell-opt %s -p 'expand-math{wide=true}' --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p 'expand-math{wide=false}' --split-input-file | filecheck %s --check-prefix=NARROW

/// Two multiply-adds for the rest, two for the polynomial, and a table. The factor is in the constants.
// CHECK-LABEL: @factor
// CHECK: %[[C:.*]] = arith.constant 0.180336878 : f32
// CHECK: %[[T:.*]] = math.fma %x, %[[C]],
// CHECK: %[[N:.*]] = arith.subf %[[T]],
// CHECK: math.fma %x, %[[C]],
// CHECK: tile.limit
// CHECK: tile.lookup
// CHECK-COUNT-2: math.fma
// CHECK-NEXT: %[[Y:.*]] = tile.scale %{{.*}}, %[[N]] : f32
// CHECK-NEXT: tile.yield %[[Y]] : f32
// NARROW-LABEL: @factor
// NARROW-NOT: tile.scale
// NARROW-COUNT-8: math.fma
// NARROW-NOT: math.fma
// NARROW: tile.yield
func.func @factor(%t: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %t[%c0] : memref<16xf32>, vector<1x16xf32>
  %b = tile.map(%x = %a) : (vector<1x16xf32>) -> vector<1x16xf32> {
    %f = arith.constant 0.125 : f32
    %s = arith.mulf %x, %f : f32
    %y = math.exp %s fastmath<afn> : f32
    tile.yield %y : f32
  }
  tile.store %b, %t[%c0] along [-1, 0] : vector<1x16xf32>, memref<16xf32>
  func.return
}

// -----

/// A factor that is 0 or near overflow stays where it is.
// CHECK-LABEL: @no_factor
// CHECK: %[[S:.*]] = arith.mulf %x
// CHECK: arith.maximumf %[[S]],
// CHECK: %[[Z:.*]] = arith.mulf %x
// CHECK: arith.maximumf %[[Z]],
func.func @no_factor(%x: f32) -> (f32, f32) {
  %f = arith.constant 1.0e30 : f32
  %s = arith.mulf %x, %f : f32
  %y = math.exp %s fastmath<afn> : f32
  %g = arith.constant 0.0 : f32
  %t = arith.mulf %x, %g : f32
  %z = math.exp %t fastmath<afn> : f32
  func.return %y, %z : f32, f32
}

// -----

/// The flag stays on f16, which goes through f32.
// CHECK-LABEL: @half
// CHECK: arith.extf
// CHECK-COUNT-8: math.fma
// CHECK-NOT: math.fma
// CHECK: arith.truncf
func.func @half(%x: f16) -> f16 {
  %y = math.exp %x fastmath<afn> : f16
  func.return %y : f16
}
