// RUN: stepwell-opt %s -p 'expand-math{excess=true}' | filecheck %s
// RUN: stepwell-opt %s -p expand-math | filecheck %s --check-prefix=ROUNDED

/// A product, a sum and their maximum are rounded once.
// CHECK-LABEL: @chain
// CHECK: arith.mulf {{.*}} : f32
// CHECK-NOT: arith.truncf
// CHECK: arith.addf {{.*}} : f32
// CHECK-NOT: arith.truncf
// CHECK: arith.maximumf {{.*}} : f32
// CHECK-NEXT: arith.truncf {{.*}} : f32 to bf16
// CHECK-NEXT: func.return
// ROUNDED-LABEL: @chain
// ROUNDED-COUNT-2: arith.truncf
// ROUNDED: func.return
func.func @chain(%a: bf16, %b: bf16, %c: bf16) -> bf16 {
  %0 = arith.mulf %a, %b : bf16
  %1 = arith.addf %0, %c : bf16
  %2 = arith.maximumf %1, %c : bf16
  func.return %2 : bf16
}

/// A product and a sum that are asked for at once are rounded once, exactly.
// CHECK-LABEL: @no_fma
// CHECK: f64
// CHECK: func.return
func.func @no_fma(%a: f16, %b: f16, %c: f16) -> f16 {
  %0 = math.fma %a, %b, %c : f16
  func.return %0 : f16
}

/// What is stored is rounded, and what is computed next is not.
// CHECK-LABEL: @stored
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[SUM]]
// CHECK-NEXT: memref.store %[[R]]
// CHECK: arith.mulf %[[SUM]]
func.func @stored(%a: f16, %b: f16, %x: memref<f16>) -> f16 {
  %0 = arith.addf %a, %b : f16
  memref.store %0, %x[] : memref<f16>
  %1 = arith.mulf %0, %b : f16
  func.return %1 : f16
}

/// A comparison and a floor take a rounded number: a small change may change them by much.
// CHECK-LABEL: @no_jumps
// CHECK: arith.addf
// CHECK: %[[R:.*]] = arith.truncf {{.*}} : f32 to f16
// CHECK: %[[X:.*]] = arith.extf %[[R]] : f16 to f32
// CHECK: arith.cmpf olt, %[[X]]
// CHECK: %[[Y:.*]] = arith.extf %[[R]] : f16 to f32
// CHECK: math.floor %[[Y]]
func.func @no_jumps(%a: f16, %b: f16) -> (i1, f16) {
  %0 = arith.addf %a, %b : f16
  %1 = arith.cmpf olt, %0, %b : f16
  %2 = math.floor %0 : f16
  func.return %1, %2 : i1, f16
}

/// A cast that is written stays.
// CHECK-LABEL: @no_casts
// CHECK: %[[R:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: %[[X:.*]] = arith.extf %[[R]] : f16 to f32
// CHECK: arith.addf %[[X]]
func.func @no_casts(%a: f32, %b: f16) -> f16 {
  %0 = arith.truncf %a : f32 to f16
  %1 = arith.addf %0, %b : f16
  func.return %1 : f16
}

/// A rounding that an op implies is left out where a sum takes its result.
// CHECK-LABEL: @implied
// CHECK-NOT: arith.truncf
// CHECK: arith.addf %total
// CHECK-NEXT: arith.truncf
// ROUNDED-LABEL: @implied
// ROUNDED: %[[R:.*]] = arith.truncf {{.*}} {stepwell.implied} : f32 to f16
// ROUNDED-NEXT: arith.extf %[[R]]
func.func @implied(%total: f32, %b: f16) -> f16 {
  %0 = arith.truncf %total {stepwell.implied} : f32 to f16
  %1 = arith.addf %0, %b : f16
  func.return %1 : f16
}

/// It stays for a comparison and in memory.
// CHECK-LABEL: @no_implied
// CHECK: %[[R:.*]] = arith.truncf {{.*}} {stepwell.implied} : f32 to bf16
// CHECK: memref.store %[[R]]
// CHECK: %[[X:.*]] = arith.extf %[[R]]
// CHECK: arith.cmpf olt, %[[X]]
func.func @no_implied(%total: f32, %b: bf16, %x: memref<bf16>) -> i1 {
  %0 = arith.truncf %total {stepwell.implied} : f32 to bf16
  memref.store %0, %x[] : memref<bf16>
  %1 = arith.cmpf olt, %0, %b : bf16
  func.return %1 : i1
}

/// An extension that an op implies takes the sum before that was rounded, also for a comparison inside the op.
// CHECK-LABEL: @extended
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NOT: arith.truncf
// CHECK: arith.cmpf ogt, %[[SUM]]
// ROUNDED-LABEL: @extended
// ROUNDED: %[[R:.*]] = arith.truncf
// ROUNDED-NEXT: %[[X:.*]] = arith.extf %[[R]] {stepwell.implied}
// ROUNDED-NEXT: arith.cmpf ogt, %[[X]]
func.func @extended(%a: bf16, %b: bf16, %c: f32) -> i1 {
  %0 = arith.addf %a, %b : bf16
  %1 = arith.extf %0 {stepwell.implied} : bf16 to f32
  %2 = arith.cmpf ogt, %1, %c : f32
  func.return %2 : i1
}

/// One that is written takes it rounded.
// CHECK-LABEL: @no_extended
// CHECK: %[[R:.*]] = arith.truncf
// CHECK: %[[X:.*]] = arith.extf %[[R]]
// CHECK: arith.cmpf ogt, %[[X]]
func.func @no_extended(%a: bf16, %b: bf16, %c: f32) -> i1 {
  %0 = arith.addf %a, %b : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = arith.cmpf ogt, %1, %c : f32
  func.return %2 : i1
}
