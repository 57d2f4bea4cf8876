// RUN: stepwell-opt %s -p 'outline-parallel-loops{grain=1000}' | filecheck %s

// CHECK-NOT: func.call
// CHECK-NOT: stepwell.parallel

// One chunk is no chunks: a thousand nanoseconds is more than all of it.
func.func @no_small(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %x[%i] : memref<8xf32>
  } {stepwell.parallel}
  func.return
}

// Carried values go from one iteration to the next.
func.func @no_carried(%x: memref<100000xf32>, %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100000 = arith.constant 100000 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %c100000 step %c1 iter_args(%total = %zero) -> (f32) {
    %0 = memref.load %x[%i] : memref<100000xf32>
    %1 = arith.addf %total, %0 : f32
    scf.yield %1 : f32
  } {stepwell.parallel}
  memref.store %sum, %y[%c0] : memref<1xf32>
  func.return
}

// How much work there is cannot be told.
func.func @no_unknown(%x: memref<100000xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %x[%i] : memref<100000xf32>
  } {stepwell.parallel}
  func.return
}

// A vector does not fit a place of the frame.
func.func @no_vector(%x: memref<100000x4xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100000 = arith.constant 100000 : index
  %four = vector.broadcast %f : f32 to vector<4xf32>
  scf.for %i = %c0 to %c100000 step %c1 {
    vector.store %four, %x[%i, %c0] : memref<100000x4xf32>, vector<4xf32>
  } {stepwell.parallel}
  func.return
}
