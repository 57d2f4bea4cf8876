// RUN: stepwell-opt %s -p expand-math | filecheck %s

/// A maximum is one of its operands: rounded once, after both loops.
// CHECK-LABEL: @maximum
func.func @maximum(%x: memref<4x7xbf16>, %out: memref<bf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  // CHECK: %[[A:.*]] = arith.constant 0xff80 : bf16
  // CHECK-NEXT: %[[B:.*]] = arith.extf %[[A]] : bf16 to f32
  // CHECK-NEXT: %[[OUTER:.*]] = scf.for %{{.*}} iter_args(%[[M:.*]] = %[[B]]) -> (f32) {
  // CHECK-NEXT: %[[INNER:.*]] = scf.for %{{.*}} iter_args(%[[N:.*]] = %[[M]]) -> (f32) {
  // CHECK-NEXT: memref.load
  // CHECK-NEXT: %[[W:.*]] = arith.extf
  // CHECK-NEXT: %[[Y:.*]] = arith.maximumf %[[N]], %[[W]] : f32
  // CHECK-NEXT: scf.yield %[[Y]] : f32
  // CHECK: scf.yield %[[INNER]] : f32
  // CHECK: %[[R:.*]] = arith.truncf %[[OUTER]] : f32 to bf16
  // CHECK-NEXT: memref.store %[[R]]
  %least = arith.constant 0xff80 : bf16
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%m = %least) -> (bf16) {
    %1 = scf.for %j = %c0 to %c7 step %c1 iter_args(%n = %m) -> (bf16) {
      %e = memref.load %x[%i, %j] : memref<4x7xbf16>
      %y = arith.maximumf %n, %e : bf16
      scf.yield %y : bf16
    }
    scf.yield %1 : bf16
  }
  memref.store %0, %out[] : memref<bf16>
  func.return
}

/// Of two carried values, the minimum is kept in f32; a sum of f16 is rounded in every iteration.
// CHECK-LABEL: @no_sum
func.func @no_sum(%x: memref<7xf16>, %a: f16, %b: f16) -> (f16, f16) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  // CHECK: scf.for {{.*}} -> (f32, f16) {
  // CHECK: arith.truncf
  // CHECK-NEXT: scf.yield
  %m, %s = scf.for %i = %c0 to %c7 step %c1 iter_args(%n = %a, %t = %b) -> (f16, f16) {
    %e = memref.load %x[%i] : memref<7xf16>
    %y = arith.minimumf %n, %e : f16
    %z = arith.addf %t, %e : f16
    scf.yield %y, %z : f16, f16
  }
  func.return %m, %s : f16, f16
}

/// The value before the last is needed as it is.
// CHECK-LABEL: @no_maximum_that_is_stored
func.func @no_maximum_that_is_stored(%x: memref<7xbf16>, %a: bf16) -> bf16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  // CHECK: scf.for {{.*}} -> (bf16) {
  %m = scf.for %i = %c0 to %c7 step %c1 iter_args(%n = %a) -> (bf16) {
    %e = memref.load %x[%i] : memref<7xbf16>
    memref.store %n, %x[%i] : memref<7xbf16>
    %y = arith.maximumf %n, %e : bf16
    scf.yield %y : bf16
  }
  func.return %m : bf16
}

/// What a loop hands on without computing it is no maximum.
// CHECK-LABEL: @no_exchange
func.func @no_exchange(%a: bf16, %b: bf16, %x: memref<7xbf16>) -> (bf16, bf16) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  // CHECK: scf.for {{.*}} -> (bf16, bf16) {
  %p, %q = scf.for %i = %c0 to %c7 step %c1 iter_args(%n = %a, %m = %b) -> (bf16, bf16) {
    scf.yield %m, %n : bf16, bf16
  }
  func.return %p, %q : bf16, bf16
}

/// A maximum of several numbers is one of them, and rounded once.
// CHECK-LABEL: @several
// CHECK: %[[M:.*]] = arith.maximumf
// CHECK-NOT: arith.truncf
// CHECK: arith.minimumf %[[M]]
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: func.return
func.func @several(%a: f16, %b: f16, %c: f16) -> f16 {
  %0 = arith.maximumf %a, %b : f16
  %1 = arith.minimumf %0, %c : f16
  func.return %1 : f16
}

/// A sum is none of them.
// CHECK-LABEL: @no_maximum_of_sums
// CHECK-COUNT-2: arith.truncf
// CHECK-NEXT: func.return
func.func @no_maximum_of_sums(%a: f16, %b: f16) -> f16 {
  %0 = arith.addf %a, %b : f16
  %1 = arith.maximumf %0, %b : f16
  func.return %1 : f16
}
