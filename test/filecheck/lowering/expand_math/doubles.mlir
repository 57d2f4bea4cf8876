// RUN: stepwell-opt %s -p 'expand-math{target=x86-64-v3}' | filecheck %s
// RUN: stepwell-opt %s -p 'expand-math{target=x86-64}' | filecheck %s --check-prefix NO-FMA

// CHECK-LABEL: @exp
// CHECK-NOT: math.exp
// CHECK: math.fma {{.*}} : f64
// CHECK-LABEL: @vector
// CHECK-NOT: math.log
// CHECK: math.fma {{.*}} : vector<4xf64>
// CHECK-LABEL: @no_erf
// CHECK-NEXT: math.erf %x : f64
// CHECK-LABEL: @no_sine_outside_of_loops
// CHECK-NEXT: math.sin %x : f64
// NO-FMA: math.exp %x : f64
// NO-FMA: math.log %x : vector<4xf64>
func.func @exp(%x: f64) -> f64 {
  %y = math.exp %x : f64
  func.return %y : f64
}

func.func @vector(%x: vector<4xf64>) -> vector<4xf64> {
  %y = math.log %x : vector<4xf64>
  func.return %y : vector<4xf64>
}

func.func @no_erf(%x: f64) -> f64 {
  %y = math.erf %x : f64
  func.return %y : f64
}

func.func @no_sine_outside_of_loops(%x: f64) -> f64 {
  %y = math.sin %x : f64
  func.return %y : f64
}

/// A first loop looks for large arguments. With one the loop is as before.
// CHECK-LABEL: @sines
// CHECK: %[[FAR:.*]] = scf.for %{{.*}} iter_args(%[[S:.*]] = %[[ZERO:.*]]) -> (i64) {
// CHECK-NEXT: %[[X:.*]] = memref.load %a
// CHECK: %[[D:.*]] = arith.subi %{{.*}}, %{{.*}} : i64
// CHECK-NEXT: %[[O:.*]] = arith.ori %[[S]], %[[D]] : i64
// CHECK-NEXT: scf.yield %[[O]] : i64
// CHECK-NEXT: } {stepwell.loop = "vectorize"}
// CHECK-NEXT: %[[ANY:.*]] = arith.cmpi slt, %[[FAR]], %[[ZERO]] : i64
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK: math.sin
// CHECK: } {stepwell.loop = "no-vectorize"}
// CHECK-NEXT: } else {
// CHECK-NOT: math.sin
// CHECK: } {stepwell.loop = "vectorize"}
// NO-FMA-LABEL: @sines
// NO-FMA-NOT: scf.if
// NO-FMA: math.sin
func.func @sines(%a: memref<64xf64>, %b: memref<64xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<64xf64>
    %y = math.sin %x : f64
    memref.store %y, %b[%i] : memref<64xf64>
  } {stepwell.loop = "vectorize"}
  func.return
}

/// The argument of the second is known only in the loop.
// CHECK-LABEL: @no_sine_of_a_carried_value
// CHECK-NOT: scf.if
// CHECK: math.sin
func.func @no_sine_of_a_carried_value(%x: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (f64) {
    %y = math.sin %t : f64
    scf.yield %y : f64
  } {stepwell.loop = "vectorize"}
  func.return %z : f64
}
