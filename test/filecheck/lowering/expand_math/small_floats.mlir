// RUN: stepwell-opt %s -p expand-math | filecheck %s
// RUN: stepwell-opt %s -p 'expand-math{small-floats=false}' | filecheck %s --check-prefix=KEPT

/// One rounding in f32 and one in bf16 are one rounding, as 24 >= 2 * 8 + 2.
// CHECK-LABEL: @add
// KEPT-LABEL: @add
func.func @add(%x: bf16, %y: bf16) -> bf16 {
  // CHECK-NEXT: %[[X:.*]] = arith.extf %x : bf16 to f32
  // CHECK-NEXT: %[[Y:.*]] = arith.extf %y : bf16 to f32
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[X]], %[[Y]] : f32
  // CHECK-NEXT: %[[R:.*]] = arith.truncf %[[SUM]] : f32 to bf16
  // CHECK-NEXT: func.return %[[R]]
  // KEPT-NEXT: arith.addf %x, %y : bf16
  %0 = arith.addf %x, %y : bf16
  func.return %0 : bf16
}

/// A comparison has no float result to round.
// CHECK-LABEL: @compare
func.func @compare(%x: f16, %y: f16) -> i1 {
  // CHECK-NEXT: %[[X:.*]] = arith.extf %x : f16 to f32
  // CHECK-NEXT: %[[Y:.*]] = arith.extf %y : f16 to f32
  // CHECK-NEXT: %[[R:.*]] = arith.cmpf olt, %[[X]], %[[Y]] : f32
  // CHECK-NEXT: func.return %[[R]]
  %0 = arith.cmpf olt, %x, %y : f16
  func.return %0 : i1
}

/// The sign is a bit.
// CHECK-LABEL: @negate
func.func @negate(%x: f16) -> f16 {
  // CHECK-NEXT: %[[X:.*]] = arith.bitcast %x : f16 to i16
  // CHECK-NEXT: %[[SIGN:.*]] = arith.constant -32768 : i16
  // CHECK-NEXT: %[[R:.*]] = arith.xori %[[X]], %[[SIGN]] : i16
  // CHECK-NEXT: %[[Y:.*]] = arith.bitcast %[[R]] : i16 to f16
  // CHECK-NEXT: func.return %[[Y]]
  %0 = arith.negf %x : f16
  func.return %0 : f16
}

/// fma: product and sum in f64, rounded to odd, so that no fma of f16 and no truncation from f64 is left.
// CHECK-LABEL: @fma
func.func @fma(%x: f16, %y: f16, %z: f16) -> f16 {
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %{{.*}} : f64
  // CHECK: arith.addf %[[PRODUCT]], %{{.*}} : f64
  // CHECK-NOT: math.fma
  // CHECK-NOT: f64 to f16
  // CHECK: %[[R:.*]] = arith.truncf %{{.*}} : f32 to f16
  // CHECK-NEXT: func.return %[[R]]
  %0 = math.fma %x, %y, %z : f16
  func.return %0 : f16
}

/// A function: extend, expand in f32, round.
// CHECK-LABEL: @exp_of_bf16
func.func @exp_of_bf16(%x: vector<4xbf16>) -> vector<4xbf16> {
  // CHECK-NEXT: arith.extf %x : vector<4xbf16> to vector<4xf32>
  // CHECK-NOT: math.exp
  // CHECK: %[[R:.*]] = arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
  // CHECK-NEXT: func.return %[[R]]
  %0 = math.exp %x : vector<4xbf16>
  func.return %0 : vector<4xbf16>
}

/// f64 to bf16 meets f32 on the way, rounded to odd.
// CHECK-LABEL: @truncate
func.func @truncate(%x: f64) -> bf16 {
  // CHECK-NEXT: arith.truncf %x : f64 to f32
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  // CHECK-NEXT: func.return
  %0 = arith.truncf %x : f64 to bf16
  func.return %0 : bf16
}

// CHECK-LABEL: @no_change_of_moves_and_f32_conversions
func.func @no_change_of_moves_and_f32_conversions(%x: f16, %c: i1, %w: f32) -> f32 {
  // CHECK-NEXT: %[[C:.*]] = arith.constant
  // CHECK-NEXT: %[[S:.*]] = arith.select %c, %x, %[[C]] : f16
  // CHECK-NEXT: %[[W:.*]] = arith.truncf %w : f32 to f16
  // CHECK-NEXT: %[[E:.*]] = arith.extf %[[S]] : f16 to f32
  // CHECK-NEXT: func.return %[[E]]
  %k = arith.constant 1.5 : f16
  %0 = arith.select %c, %x, %k : f16
  %1 = arith.truncf %w : f32 to f16
  %2 = arith.extf %0 : f16 to f32
  func.return %2 : f32
}
