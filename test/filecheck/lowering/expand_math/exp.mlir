// RUN: stepwell-opt %s -p expand-math | filecheck %s

/// exp(x) = 2^n (1 + r + r^2 P(r)): clamp, n (with two biases of the exponent) and r by Cody and Waite, the polynomial, 2^n in two factors.
// CHECK-LABEL: @exp
func.func @exp(%x: f32) -> f32 {
  // CHECK: %[[LOW:.*]] = arith.constant -1.040000e+02 : f32
  // CHECK-NEXT: %[[ABOVE:.*]] = arith.maximumf %x, %[[LOW]] : f32
  // CHECK-NEXT: %[[HIGH:.*]] = arith.constant 8.900000e+01 : f32
  // CHECK-NEXT: %[[X:.*]] = arith.minimumf %[[ABOVE]], %[[HIGH]] : f32
  // CHECK: %[[MAGIC:.*]] = arith.constant 0x4B4000FE : f32
  // CHECK-NEXT: %[[T:.*]] = math.fma %[[X]], %{{.*}}, %[[MAGIC]]
  // CHECK: math.fma %{{.*}}, %{{.*}}, %[[X]] : f32
  // CHECK-NEXT: %[[N:.*]] = arith.bitcast %[[T]] : f32 to i32
  // CHECK: %[[HALF:.*]] = arith.shrsi %[[N]]
  // CHECK: arith.subi %[[N]], %[[HALF]] : i32
  // CHECK: %[[Y:.*]] = arith.mulf
  // CHECK-NEXT: func.return %[[Y]] : f32
  %y = math.exp %x : f32
  func.return %y : f32
}

/// The same equations on vectors; constants are splats.
// CHECK-LABEL: @exp_of_vector
func.func @exp_of_vector(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK: arith.constant dense<-1.040000e+02> : vector<16xf32>
  // CHECK-NEXT: arith.maximumf %x, %{{.*}} : vector<16xf32>
  // CHECK: arith.bitcast %{{.*}} : vector<16xf32> to vector<16xi32>
  // CHECK-NOT: math.exp
  // CHECK: func.return
  %y = math.exp %x : vector<16xf32>
  func.return %y : vector<16xf32>
}

/// Flags of the source do not reach the expansion.
// CHECK-LABEL: @exp_drops_flags
func.func @exp_drops_flags(%x: f32) -> f32 {
  // CHECK-NOT: fastmath
  // CHECK: func.return
  %y = math.exp %x fastmath<fast> : f32
  func.return %y : f32
}
