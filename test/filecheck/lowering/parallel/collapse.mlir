// RUN: stepwell-opt %s -p 'outline-parallel-loops{grain=1}' | filecheck %s

// Marked loops that stand directly inside each other become one, whose remainders are their variables.
// CHECK-LABEL: func.func @nest(
// CHECK: %[[LOW:[0-9]+]] = arith.constant 0 : index
// CHECK-NEXT: %[[HIGH:[0-9]+]] = arith.constant 12 : index
// CHECK: func.call @nest_part(%[[LOW]], %[[HIGH]], %x) {stepwell.chunk = 6 : i64}
// CHECK: func.func private @nest_part(
// CHECK: scf.for %[[N:[a-z]+]] = %lower to %upper
// CHECK: %[[COLUMNS:[0-9]+]] = arith.constant 3 : index
// CHECK: %[[J:[a-z]+]] = arith.remui %[[N]], %[[COLUMNS]] : index
// CHECK: %[[I:[0-9]+]] = arith.divui %[[N]], %[[COLUMNS]] : index
// CHECK: %[[DOUBLE:[0-9]+]] = arith.muli %[[I]], %{{.*}} : index
// CHECK: %[[ROW:[a-z]+]] = arith.addi %[[DOUBLE]], %{{.*}} : index
// CHECK-NOT: scf.for
// CHECK: memref.store %{{[a-z]+}}, %x[%[[ROW]], %[[J]]] : memref<16x3xf32>
func.func @nest(%x: memref<16x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c1 to %c9 step %c2 {
    scf.for %j = %c0 to %c3 step %c1 {
      memref.store %zero, %x[%i, %j] : memref<16x3xf32>
    } {stepwell.parallel}
  } {stepwell.parallel}
  func.return
}

// The loop inside is not marked, or is not all that there is.
// CHECK-LABEL: func.func @no_mark(
// CHECK: func.call @no_mark_part(%{{c[0-9]+}}, %{{c[0-9]+}}, %x) {stepwell.chunk = 2 : i64}
// CHECK-LABEL: func.func @no_more(
// CHECK: func.call @no_more_part(%{{c[0-9]+}}, %{{c[0-9]+}}, %x) {stepwell.chunk = 2 : i64}
// CHECK: func.func private @no_more_part(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: stepwell.parallel
func.func @no_mark(%x: memref<4x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      memref.store %zero, %x[%i, %j] : memref<4x3xf32>
    }
  } {stepwell.parallel}
  func.return
}
func.func @no_more(%x: memref<4x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %zero, %x[%i, %c0] : memref<4x3xf32>
    scf.for %j = %c1 to %c3 step %c1 {
      memref.store %zero, %x[%i, %j] : memref<4x3xf32>
    } {stepwell.parallel}
  } {stepwell.parallel}
  func.return
}
