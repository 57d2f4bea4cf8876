// RUN: stepwell-opt %s -p 'vectorize-loops{wide=true}' | filecheck %s
// RUN: stepwell-opt %s -p 'vectorize-loops{wide=true excess=true}' | filecheck %s --check-prefix=EXCESS

/// Tiles are loaded and stored as they lie in memory, and extended and rounded in registers.
// CHECK-LABEL: @map
// CHECK: %[[X:.*]] = tile.load %x[{{.*}}] {{.*}}: memref<64xf16>, vector<1x64xf16>
// CHECK-NEXT: tile.map({{.*}} = %[[X]]) : (vector<1x64xf16>) -> vector<1x64xf16> {
// CHECK: arith.extf
// CHECK: arith.mulf {{.*}} : f32
// CHECK-NEXT: arith.truncf {{.*}} : f32 to f16
// CHECK: arith.addf {{.*}} : f32
// CHECK: tile.store {{.*}} : vector<1x64xf16>, memref<64xf16>
// EXCESS-LABEL: @map
// EXCESS: arith.mulf
// EXCESS-NOT: arith.truncf
// EXCESS: arith.addf
// EXCESS-NEXT: arith.truncf
func.func @map(%x: memref<64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<64xf16>
    %b = arith.mulf %a, %a : f16
    %c = arith.addf %b, %a : f16
    memref.store %c, %x[%i] : memref<64xf16>
  } {stepwell.loop = "vectorize"}
  func.return
}

/// A maximum is carried as a tile of f32.
// CHECK-LABEL: @maximum
// CHECK: scf.for {{.*}} -> (vector<1x64xf32>, vector<1x64xi1>) {
// CHECK: tile.load {{.*}} : memref<64xbf16>, vector<1x64xbf16>
// CHECK: %[[M:.*]] = tile.reduce "maximumf"
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @maximum(%x: memref<64xbf16>, %a: bf16) -> bf16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (bf16) {
    %b = memref.load %x[%i] : memref<64xbf16>
    %c = arith.maximumf %t, %b : bf16
    scf.yield %c : bf16
  } {stepwell.loop = "vectorize"}
  func.return %m : bf16
}

/// Integers of one width to floats of another go through f64: LLVM's vectoriser gets that.
// CHECK-LABEL: @no_integers
// CHECK-NOT: tile.
// CHECK: func.return
func.func @no_integers(%x: memref<64xi32>, %y: memref<64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<64xi32>
    %b = arith.sitofp %a : i32 to f16
    memref.store %b, %y[%i] : memref<64xf16>
  } {stepwell.loop = "vectorize"}
  func.return
}
