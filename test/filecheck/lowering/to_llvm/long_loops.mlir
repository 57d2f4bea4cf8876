// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

/// A loop that holds a long loop stays one, also if it runs three times only. The loop inside is left to LLVM.
// CHECK-LABEL: @heads
// CHECK: llvm.cond_br {{.*}} {stepwell.loop = "no-vectorize"}
// CHECK: llvm.cond_br {{.*}} {stepwell.loop = "no-vectorize,no-unroll"}
// CHECK: llvm.return
func.func @heads(%x: memref<3x100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c100 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<3x100xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %x[%i, %j] : memref<3x100xf32>
    }
  }
  func.return
}

/// So does one around a loop of which nobody knows how often it runs.
// CHECK-LABEL: @unknown
// CHECK: llvm.cond_br {{.*}} {stepwell.loop = "no-vectorize"}
// CHECK: llvm.cond_br {{.*}} {stepwell.loop = "no-vectorize,no-unroll"}
// CHECK: llvm.return
func.func @unknown(%x: memref<3x100xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %0 = memref.load %x[%i, %j] : memref<3x100xf32>
      memref.store %0, %x[%j, %i] : memref<3x100xf32>
    }
  }
  func.return
}

/// A loop on long rows of vectors is as long as it should be.
// CHECK-LABEL: @vectors
// CHECK: llvm.cond_br {{.*}} {stepwell.loop = "no-vectorize,no-unroll"}
// CHECK: llvm.return
func.func @vectors(%m: memref<64x32xf32>, %out: memref<32x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %0 = vector.load %m[%i, %c0] : memref<64x32xf32>, vector<16xf32>
    %1 = arith.addf %0, %0 : vector<16xf32>
    %2 = arith.addf %1, %1 : vector<16xf32>
    %3 = arith.addf %2, %2 : vector<16xf32>
    %4 = arith.addf %3, %3 : vector<16xf32>
    %5 = arith.addf %4, %4 : vector<16xf32>
    %6 = arith.addf %5, %5 : vector<16xf32>
    %7 = arith.addf %6, %6 : vector<16xf32>
    %8 = arith.addf %7, %7 : vector<16xf32>
    %9 = arith.addf %8, %8 : vector<16xf32>
    %10 = arith.addf %9, %9 : vector<16xf32>
    %11 = arith.addf %10, %10 : vector<16xf32>
    %12 = arith.addf %11, %11 : vector<16xf32>
    %13 = arith.addf %12, %12 : vector<16xf32>
    %14 = arith.addf %13, %13 : vector<16xf32>
    %15 = arith.addf %14, %14 : vector<16xf32>
    %16 = arith.addf %15, %15 : vector<16xf32>
    %17 = arith.mulf %16, %16 : vector<16xf32>
    %18 = arith.mulf %17, %17 : vector<16xf32>
    %19 = arith.mulf %18, %18 : vector<16xf32>
    %20 = arith.mulf %19, %19 : vector<16xf32>
    %21 = arith.mulf %20, %20 : vector<16xf32>
    %22 = arith.mulf %21, %21 : vector<16xf32>
    %23 = arith.mulf %22, %22 : vector<16xf32>
    %24 = arith.mulf %23, %23 : vector<16xf32>
    %25 = arith.mulf %24, %24 : vector<16xf32>
    %26 = arith.mulf %25, %25 : vector<16xf32>
    %27 = arith.mulf %26, %26 : vector<16xf32>
    %28 = arith.mulf %27, %27 : vector<16xf32>
    %29 = arith.mulf %28, %28 : vector<16xf32>
    %30 = arith.mulf %29, %29 : vector<16xf32>
    %31 = arith.mulf %30, %30 : vector<16xf32>
    %32 = arith.mulf %31, %31 : vector<16xf32>
    %33 = arith.subf %32, %0 : vector<16xf32>
    %34 = arith.subf %33, %1 : vector<16xf32>
    %35 = arith.subf %34, %2 : vector<16xf32>
    %36 = arith.subf %35, %3 : vector<16xf32>
    %37 = arith.subf %36, %4 : vector<16xf32>
    %38 = arith.subf %37, %5 : vector<16xf32>
    %39 = arith.subf %38, %6 : vector<16xf32>
    %40 = arith.subf %39, %7 : vector<16xf32>
    %41 = arith.subf %40, %8 : vector<16xf32>
    %42 = arith.subf %41, %9 : vector<16xf32>
    %43 = arith.subf %42, %10 : vector<16xf32>
    %44 = arith.subf %43, %11 : vector<16xf32>
    %45 = arith.subf %44, %12 : vector<16xf32>
    %46 = arith.subf %45, %13 : vector<16xf32>
    %47 = arith.subf %46, %14 : vector<16xf32>
    %48 = arith.subf %47, %15 : vector<16xf32>
    %49 = arith.subf %48, %16 : vector<16xf32>
    %50 = arith.subf %49, %17 : vector<16xf32>
    %51 = arith.subf %50, %18 : vector<16xf32>
    %52 = arith.subf %51, %19 : vector<16xf32>
    %53 = arith.subf %52, %20 : vector<16xf32>
    %54 = arith.subf %53, %21 : vector<16xf32>
    %55 = arith.subf %54, %22 : vector<16xf32>
    %56 = arith.subf %55, %23 : vector<16xf32>
    %57 = arith.subf %56, %24 : vector<16xf32>
    %58 = arith.subf %57, %25 : vector<16xf32>
    %59 = arith.subf %58, %26 : vector<16xf32>
    %60 = arith.subf %59, %27 : vector<16xf32>
    %61 = arith.subf %60, %28 : vector<16xf32>
    %62 = arith.subf %61, %29 : vector<16xf32>
    %63 = arith.subf %62, %30 : vector<16xf32>
    vector.store %63, %out[%i, %c0] : memref<32x16xf32>, vector<16xf32>
  }
  func.return
}

/// Small windows may become straight code, all of them. What a loop asks for itself stands.
// CHECK-LABEL: @no_windows
// CHECK: llvm.cond_br {{.*}} {stepwell.loop = "no-vectorize"}
// CHECK: llvm.cond_br {{.*}} {stepwell.loop = "no-vectorize"}
// CHECK: llvm.cond_br {{.*}} {stepwell.loop = "unroll,no-vectorize"}
// CHECK: llvm.return
func.func @no_windows(%x: memref<30x3x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c30 = arith.constant 30 : index
  scf.for %i = %c0 to %c30 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      scf.for %k = %c0 to %c3 step %c1 {
        %0 = memref.load %x[%i, %j, %k] : memref<30x3x3xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %x[%i, %j, %k] : memref<30x3x3xf32>
      }
    }
  } {stepwell.loop = "unroll"}
  func.return
}
