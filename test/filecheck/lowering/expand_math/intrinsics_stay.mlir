// RUN: stepwell-opt %s -p expand-math | filecheck %s

/// These are instructions, or one LLVM intrinsic that is.
// CHECK-LABEL: @no_expansion_of_intrinsics
func.func @no_expansion_of_intrinsics(%x: f32, %y: f32, %z: f32) -> f32 {
  // CHECK-NEXT: math.sqrt
  // CHECK-NEXT: math.absf
  // CHECK-NEXT: math.floor
  // CHECK-NEXT: math.ceil
  // CHECK-NEXT: math.trunc
  // CHECK-NEXT: math.roundeven
  // CHECK-NEXT: math.copysign
  // CHECK-NEXT: math.fma
  // CHECK-NEXT: func.return
  %0 = math.sqrt %x : f32
  %1 = math.absf %0 : f32
  %2 = math.floor %1 : f32
  %3 = math.ceil %2 : f32
  %4 = math.trunc %3 : f32
  %5 = math.roundeven %4 : f32
  %6 = math.copysign %5, %y : f32
  %7 = math.fma %6, %y, %z : f32
  func.return %7 : f32
}

/// Additions and products are never contracted.
// CHECK-LABEL: @no_contraction
func.func @no_contraction(%x: f32, %y: f32) -> f32 {
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: func.return
  %0 = arith.mulf %x, %y : f32
  %1 = arith.addf %0, %y : f32
  func.return %1 : f32
}
