// RUN: stepwell-opt %s -p 'vectorize-loops{wide=true}' | filecheck %s

/// Beside a product, also in another part of its kernel, a loop that makes bytes of floats is one over tiles.
// CHECK-LABEL: func.func private @kernel_part(
// CHECK:       tile.load %a[%{{.*}}] : memref<64xf32>, vector<1x64xf32>
// CHECK:       tile.map{{.*}} -> vector<1x64xi8> {
// CHECK:       tile.store %{{.*}}, %q[%{{.*}}] : vector<1x64xi8>, memref<64xi8>
func.func private @kernel(%a: memref<64xf32>, %q: memref<64xi8>, %b: memref<64x16xf32>, %out: memref<1x16xf32>) {
  %c0 = arith.constant 0 : index
  func.call @kernel_part(%a, %q) : (memref<64xf32>, memref<64xi8>) -> ()
  %0 = arith.constant dense<0.0> : vector<1x16xf32>
  %1 = tile.mma %0, %a[%c0] along [-1, 0], %b[%c0, %c0] depth 4 : vector<1x16xf32>, memref<64xf32>, memref<64x16xf32>
  tile.store %1, %out[%c0, %c0] : vector<1x16xf32>, memref<1x16xf32>
  func.return
}
func.func private @kernel_part(%a: memref<64xf32>, %q: memref<64xi8>) attributes {stepwell.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %a[%i] : memref<64xf32>
    %w = arith.fptosi %x : f32 to i32
    %y = arith.trunci %w : i32 to i8
    memref.store %y, %q[%i] : memref<64xi8>
  } {stepwell.loop = "vectorize"}
  func.return
}

/// Alone it is left to LLVM.
// CHECK-LABEL: func.func private @no_product(
// CHECK-NOT:   tile.
func.func private @no_product(%a: memref<64xf32>, %q: memref<64xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %a[%i] : memref<64xf32>
    %w = arith.fptosi %x : f32 to i32
    %y = arith.trunci %w : i32 to i8
    memref.store %y, %q[%i] : memref<64xi8>
  } {stepwell.loop = "vectorize"}
  func.return
}

/// Bytes without floats in between are left to LLVM too.
// CHECK-LABEL: func.func private @no_floats(
// CHECK:       memref.store
func.func private @no_floats(%q: memref<64xi8>, %a: memref<4x4xf32>, %b: memref<4x16xf32>, %out: memref<1x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %q[%i] : memref<64xi8>
    %y = arith.addi %x, %x : i8
    memref.store %y, %q[%i] : memref<64xi8>
  } {stepwell.loop = "vectorize"}
  %0 = arith.constant dense<0.0> : vector<1x16xf32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0] depth 4 : vector<1x16xf32>, memref<4x4xf32>, memref<4x16xf32>
  tile.store %1, %out[%c0, %c0] : vector<1x16xf32>, memref<1x16xf32>
  func.return
}
