// RUN: stepwell-opt %s -p 'outline-parallel-loops{grain=1}' | filecheck %s

// A marked loop becomes a call in chunks. Constants are copied, other values passed; of the attributes of arguments those for
// LLVM go along.
// CHECK-LABEL: func.func @scale(
// CHECK: %[[TWO:[a-z]+]] = arith.addf
// CHECK-NEXT: func.call @scale_part(%[[LOW:c0]], %[[HIGH:c64]], %x, %[[TWO]], %y) {stepwell.chunk = 1 : i64}
// CHECK-NEXT: func.return
// CHECK: func.func private @scale_part(%[[LOWER:[a-z]+]]: index, %[[UPPER:[a-z]+]]: index, %x: memref<64x96xf32> {llvm.align = 64 : i64}, %{{[a-z]+}}: f32, %y: memref<64x96xf32>) attributes {stepwell.task, stepwell.noalias} {
// CHECK: %[[STEP:c1]] = arith.constant 1 : index
// CHECK: scf.for %{{i}} = %[[LOWER]] to %[[UPPER]] step %[[STEP]] {
// CHECK: math.exp
// CHECK-NOT: stepwell.parallel
func.func @scale(%x: memref<64x96xf32> {llvm.align = 64 : i64, stepwell.name = "x"}, %y: memref<64x96xf32>, %f: f32) attributes {stepwell.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %two = arith.addf %f, %f : f32
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c96 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<64x96xf32>
      %1 = math.exp %0 : f32
      %2 = arith.mulf %1, %two : f32
      memref.store %2, %y[%i, %j] : memref<64x96xf32>
    } {stepwell.loop = "vectorize"}
  } {stepwell.parallel}
  func.return
}

// Of two marked loops in each other the outer one; chunks count iterations, steps and all.
// CHECK-LABEL: func.func @steps(
// CHECK: func.call @steps_part(%{{c[0-9]+}}, %{{c[0-9]+}}, %x) {stepwell.chunk = 3 : i64}
// CHECK: func.func private @steps_part(
// CHECK-NOT: func.call
// CHECK-LABEL: func.func @private_buffer(
func.func @steps(%x: memref<64x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c3 {
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %zero, %x[%i, %j] : memref<64x8xf32>
    } {stepwell.parallel}
  } {stepwell.parallel}
  func.return
}

// A buffer on the stack that only the loop uses becomes one of each chunk. A buffer that may be another one (%row, of %x) is
// passed without a promise.
// CHECK-NOT: memref.alloca
// CHECK: func.call @private_buffer_part(
// CHECK: func.func private @private_buffer_part({{.*}}) attributes {stepwell.task} {
// CHECK: memref.alloca
// CHECK: scf.for
func.func @private_buffer(%x: memref<64xf32>) attributes {stepwell.noalias} {
  %scratch = memref.alloca() : memref<1xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %row = "memref.cast"(%x) : (memref<64xf32>) -> memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %row[%i] : memref<64xf32>
    memref.store %0, %scratch[%c0] : memref<1xf32>
    %1 = memref.load %scratch[%c0] : memref<1xf32>
    memref.store %1, %x[%i] : memref<64xf32>
  } {stepwell.parallel}
  func.return
}
