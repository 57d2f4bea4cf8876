// RUN: stepwell-opt %s -p 'vectorize-loops{target="zen4"}' | filecheck %s

/// Integers that are only compared may be loaded: a softmax goes over what a mask lets pass.
// CHECK-LABEL: func.func @masked_maximum(
func.func @masked_maximum(%m: memref<256xi8>, %x: memref<256xf32>, %most: memref<f32>) {
  // CHECK: tile.load %m[%{{.*}}] : memref<256xi8>, vector<1x64xi8>
  // CHECK: tile.load %x[%{{.*}}] : memref<256xf32>, vector<1x64xf32>
  // CHECK: tile.map
  // CHECK: arith.cmpi ne
  // CHECK: arith.select
  // CHECK: tile.reduce
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %least = arith.constant 0xff800000 : f32
  %0 = scf.for %i = %c0 to %c256 step %c1 iter_args(%acc = %least) -> (f32) {
    %b = memref.load %m[%i] : memref<256xi8>
    %z = arith.constant 0 : i8
    %c = arith.cmpi ne, %b, %z : i8
    %v = memref.load %x[%i] : memref<256xf32>
    %s = arith.select %c, %v, %least : f32
    %n = arith.maximumf %acc, %s : f32
    scf.yield %n : f32
  } {stepwell.loop = "vectorize"}
  memref.store %0, %most[] : memref<f32>
  func.return
}

/// What is the same in all iterations may have any type: the number of keys that a token sees.
// CHECK-LABEL: func.func @places(
func.func @places(%p: memref<256xi32>, %n: memref<i64>, %x: memref<256xf32>, %y: memref<256xf32>) {
  // CHECK: scf.for
  // CHECK: %[[N:.*]] = memref.load %n[] : memref<i64>
  // CHECK: %[[K:.*]] = arith.trunci %[[N]] : i64 to i32
  // CHECK: tile.load %p
  // CHECK: tile.map({{.*}}) : (vector<1x64xi32>, vector<1x64xf32>) -> vector<1x64xf32> {
  // CHECK: arith.cmpi sle, %{{.*}}, %[[K]] : i32
  // CHECK: tile.store
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c256 step %c1 {
    %w = memref.load %n[] : memref<i64>
    %k = arith.trunci %w : i64 to i32
    %a = memref.load %p[%i] : memref<256xi32>
    %c = arith.cmpi sle, %a, %k : i32
    %v = memref.load %x[%i] : memref<256xf32>
    %z = arith.constant 0.0 : f32
    %s = arith.select %c, %v, %z : f32
    memref.store %s, %y[%i] : memref<256xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}

/// Integers that are computed with are left to LLVM.
// CHECK-LABEL: func.func @no_masks(
func.func @no_masks(%p: memref<256xi32>, %x: memref<256xf32>, %y: memref<256xf32>) {
  // CHECK-NOT: tile.load
  // CHECK: func.return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c256 step %c1 {
    %a = memref.load %p[%i] : memref<256xi32>
    %f = arith.sitofp %a : i32 to f32
    %v = memref.load %x[%i] : memref<256xf32>
    %s = arith.addf %f, %v : f32
    memref.store %s, %y[%i] : memref<256xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}

/// A place that moves with the loop is not the same in all iterations, and is no number of a tile.
// CHECK-LABEL: func.func @no_places(
func.func @no_places(%x: memref<256xf32>, %y: memref<256xf32>) {
  // CHECK-NOT: tile.load
  // CHECK: func.return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c256 step %c1 {
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f32
    %v = memref.load %x[%i] : memref<256xf32>
    %s = arith.addf %f, %v : f32
    memref.store %s, %y[%i] : memref<256xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}
