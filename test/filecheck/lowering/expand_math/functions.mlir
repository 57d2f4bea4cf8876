// RUN: stepwell-opt %s -p expand-math | filecheck %s
// RUN: stepwell-opt %s -p expand-math,expand-math | filecheck %s
// RUN: stepwell-opt %s -p 'expand-math{functions=tanh,sin}' | filecheck %s --check-prefix=CHOSEN

/// Regions are walked; nothing of the functions is left behind.
// CHECK-LABEL: @nested
// CHECK: scf.for
// CHECK-NOT: {{math\.(tanh|sin|powf|erf|log1p|atan2|cbrt|round )}}
// CHECK: func.return
// CHOSEN-LABEL: @nested
// CHOSEN-NOT: {{math\.(tanh|sin)}}
// CHOSEN: math.powf
// CHOSEN: math.erf
// CHOSEN: math.log1p
// CHOSEN: math.atan2
// CHOSEN: math.cbrt
// CHOSEN: math.round
func.func @nested(%b: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %b[%i] : memref<8xf32>
    %0 = math.tanh %x : f32
    %1 = math.sin %0 : f32
    %2 = math.powf %1, %x : f32
    %3 = math.erf %2 : f32
    %4 = math.log1p %3 : f32
    %5 = math.atan2 %4, %x : f32
    %6 = math.cbrt %5 : f32
    %7 = math.round %6 : f32
    memref.store %7, %b[%i] : memref<8xf32>
  }
  func.return
}

// CHECK-LABEL: @remainder
func.func @remainder(%x: f32, %y: f32, %z: f64) -> (f32, f64) {
  // CHECK-NOT: llvm.frem {{.*}} : f32
  // CHECK-COUNT-6: math.roundeven {{.*}} : f64
  // CHECK: arith.truncf {{.*}} : f64 to f32
  // CHECK: llvm.frem {{.*}} : f64
  %0 = llvm.frem %x, %y : f32
  %1 = llvm.frem %z, %z : f64
  func.return %0, %1 : f32, f64
}
