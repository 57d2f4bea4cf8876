// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/effects.rules"}' --remarks 2>&1 | filecheck %s --check-prefix=KEPT
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/effects_told.rules"}' | filecheck %s
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/effects.pdl.rules"}' --remarks 2>&1 | filecheck %s --check-prefix=PDL-KEPT
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/effects_told.pdl.rules"}' | filecheck %s --check-prefix=PDL
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/effects_example.rules"}' --remarks 2>&1 | filecheck %s --check-prefix=EXAMPLE-KEPT
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/effects_example_told.rules"}' | filecheck %s --check-prefix=EXAMPLE

/// Rules of a text, of PDL and of two functions leave ops with effects alone, and make none, unless they say so.

// KEPT: remark: 'memref.store': rule 'store' leaves 'memref.store', which has an effect
// KEPT: remark: 'arith.maximumf': not applied: rule 'load-again' makes 'memref.load', which has an effect
// PDL-KEPT: remark: 'memref.store': rule 'erase_store' leaves 'memref.store', which has an effect
// EXAMPLE-KEPT: remark: 'memref.load': rule 'load' leaves 'memref.load', which has an effect

// CHECK-LABEL: func.func @stored(
// CHECK-NEXT: memref.store %x, %m[%i]
// CHECK-NEXT: func.return
// KEPT-LABEL: func.func @stored(
// KEPT-COUNT-2: arith.negf
// KEPT-NEXT: memref.store %1, %m[%i]
// PDL-LABEL: func.func @stored(
// PDL-NEXT: func.return
// PDL-KEPT-LABEL: func.func @stored(
// PDL-KEPT: memref.store %1, %m[%i]
func.func @stored(%m: memref<4xf32>, %x: f32, %i: index) {
  %0 = arith.negf %x : f32
  %1 = arith.negf %0 : f32
  memref.store %1, %m[%i] : memref<4xf32>
  func.return
}

// CHECK-LABEL: func.func @loaded(
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: %[[L:.*]] = memref.load
// CHECK-NEXT: func.return %[[L]]
// KEPT-LABEL: func.func @loaded(
// KEPT-NEXT: memref.load
// KEPT-NEXT: memref.store
// KEPT-NEXT: arith.maximumf
// EXAMPLE-LABEL: func.func @loaded(
// EXAMPLE-NEXT: arith.constant 1.0
// EXAMPLE-NEXT: memref.store
// EXAMPLE-KEPT-LABEL: func.func @loaded(
// EXAMPLE-KEPT-NEXT: memref.load
func.func @loaded(%m: memref<4xf32>, %x: f32, %i: index) -> f32 {
  %0 = memref.load %m[%i] : memref<4xf32>
  memref.store %x, %m[%i] : memref<4xf32>
  %1 = arith.maximumf %0, %0 : f32
  func.return %1 : f32
}

/// What is read below the root stays there, before the store.
// CHECK-LABEL: func.func @no_pair_of_loads(
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: memref.load
// CHECK-NEXT: arith.maximumf
func.func @no_pair_of_loads(%m: memref<4xf32>, %x: f32, %i: index) -> f32 {
  %0 = memref.load %m[%i] : memref<4xf32>
  memref.store %x, %m[%i] : memref<4xf32>
  %1 = memref.load %m[%i] : memref<4xf32>
  %2 = arith.maximumf %0, %1 : f32
  func.return %2 : f32
}
