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
