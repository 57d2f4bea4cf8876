// RUN: stepwell-opt %s -p expand-math | filecheck %s
// RUN: stepwell-opt %s -p 'expand-math{small-floats=false}' | filecheck %s --check-prefix=KEPT

/// To f32: the bits get another bias; a subnormal is an integer times a power of two.
// CHECK-LABEL: @extend
// KEPT-LABEL: @extend
func.func @extend(%x: f8E5M2) -> f32 {
  // CHECK-NEXT: %[[BYTE:.*]] = arith.bitcast %x : f8E5M2 to i8
  // CHECK-NEXT: %[[BITS:.*]] = arith.extui %[[BYTE]] : i8 to i32
  // CHECK: %[[SIZE:.*]] = arith.andi %[[BITS]], %{{.*}} : i32
  // CHECK: %[[MOVED:.*]] = arith.shli %[[SIZE]], %{{.*}} : i32
  // CHECK: %[[INTEGER:.*]] = arith.sitofp %[[SIZE]] : i32 to f32
  // CHECK-NEXT: %[[UNIT:.*]] = arith.constant 1.52587891e-05 : f32
  // CHECK-NEXT: arith.mulf %[[INTEGER]], %[[UNIT]] : f32
  // CHECK: arith.addi %[[MOVED]], %{{.*}} : i32
  // CHECK: arith.ori %[[MOVED]], %{{.*}} : i32
  // CHECK-COUNT-2: arith.select
  // CHECK: %[[Y:.*]] = arith.bitcast %{{.*}} : i32 to f32
  // CHECK-NEXT: func.return %[[Y]]
  // KEPT-NEXT: arith.extf %x : f8E5M2 to f32
  %0 = arith.extf %x : f8E5M2 to f32
  func.return %0 : f32
}

/// From f32: one branch-free path, in which NaN is chosen at the end, since infinity comes before it.
// CHECK-LABEL: @round
func.func @round(%x: f32) -> f8E5M2 {
  // CHECK-NEXT: %[[BITS:.*]] = arith.bitcast %x : f32 to i32
  // CHECK: %[[MAGIC:.*]] = arith.constant 1.280000e+02 : f32
  // CHECK-NEXT: arith.addf %{{.*}}, %[[MAGIC]] : f32
  // CHECK-COUNT-3: arith.select
  // CHECK-NOT: arith.select
  // CHECK: %[[BYTE:.*]] = arith.trunci %{{.*}} : i32 to i8
  // CHECK-NEXT: %[[Y:.*]] = arith.bitcast %[[BYTE]] : i8 to f8E5M2
  // CHECK-NEXT: func.return %[[Y]]
  %0 = arith.truncf %x : f32 to f8E5M2
  func.return %0 : f8E5M2
}

/// Without infinity, what is too large and NaN are one: a choice less.
// CHECK-LABEL: @no_choice_of_nan
func.func @no_choice_of_nan(%x: f32) -> f8E4M3FN {
  // CHECK: arith.constant 1.638400e+04 : f32
  // CHECK-COUNT-2: arith.select
  // CHECK-NOT: arith.select
  // CHECK: func.return
  %0 = arith.truncf %x : f32 to f8E4M3FN
  func.return %0 : f8E4M3FN
}

/// f64 is rounded to odd in f32 first.
// CHECK-LABEL: @from_f64
func.func @from_f64(%x: f64) -> f8E4M3FN {
  // CHECK-NEXT: arith.truncf %x : f64 to f32
  // CHECK-NOT: f64 to f8E4M3FN
  // CHECK: arith.bitcast %{{.*}} : i8 to f8E4M3FN
  %0 = arith.truncf %x : f64 to f8E4M3FN
  func.return %0 : f8E4M3FN
}

// CHECK-LABEL: @to_and_from_f16
func.func @to_and_from_f16(%x: f16, %y: f8E5M2) -> (f8E5M2, f16) {
  // CHECK-NEXT: arith.extf %x : f16 to f32
  // CHECK-NOT: arith.extf
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %0 = arith.truncf %x : f16 to f8E5M2
  %1 = arith.extf %y : f8E5M2 to f16
  func.return %0, %1 : f8E5M2, f16
}

/// LLVM has no literals of the type.
// CHECK-LABEL: @constants
func.func @constants() -> (f8E5M2, vector<3xf8E4M3FN>) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant -66 : i8
  // CHECK-NEXT: arith.bitcast %[[C]] : i8 to f8E5M2
  // CHECK-NEXT: %[[V:.*]] = arith.constant dense<[56, -80, 126]> : vector<3xi8>
  // CHECK-NEXT: arith.bitcast %[[V]] : vector<3xi8> to vector<3xf8E4M3FN>
  %0 = arith.constant -1.5 : f8E5M2
  %1 = arith.constant dense<[1.0, -0.5, 448.0]> : vector<3xf8E4M3FN>
  func.return %0, %1 : f8E5M2, vector<3xf8E4M3FN>
}

/// Arithmetic that IR spells out is done in f32, signs by a bit.
// CHECK-LABEL: @arithmetic
func.func @arithmetic(%x: f8E4M3FN, %y: f8E4M3FN) -> (f8E4M3FN, f8E4M3FN) {
  // CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
  // CHECK: %[[BITS:.*]] = arith.bitcast %x : f8E4M3FN to i8
  // CHECK-NEXT: %[[SIGN:.*]] = arith.constant -128 : i8
  // CHECK-NEXT: arith.xori %[[BITS]], %[[SIGN]] : i8
  %0 = arith.mulf %x, %y : f8E4M3FN
  %1 = arith.negf %x : f8E4M3FN
  func.return %0, %1 : f8E4M3FN, f8E4M3FN
}

/// What only moves stays.
// CHECK-LABEL: @no_moves
func.func @no_moves(%a: memref<4xf8E5M2>, %c: i1, %y: f8E5M2, %i: index) {
  // CHECK-NEXT: %[[X:.*]] = memref.load %a[%i] : memref<4xf8E5M2>
  // CHECK-NEXT: %[[Z:.*]] = arith.select %c, %[[X]], %y : f8E5M2
  // CHECK-NEXT: memref.store %[[Z]], %a[%i] : memref<4xf8E5M2>
  // CHECK-NEXT: func.return
  %x = memref.load %a[%i] : memref<4xf8E5M2>
  %z = arith.select %c, %x, %y : f8E5M2
  memref.store %z, %a[%i] : memref<4xf8E5M2>
  func.return
}
