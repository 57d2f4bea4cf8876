// RUN: stepwell-opt %s -p 'vectorize-loops{wide=true}' | filecheck %s

/// The row %w is extended once, before the loops over rows in which it stays the same.
// CHECK-LABEL: @weights
// CHECK: %[[ROW:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xf32>
// CHECK: tile.load %w[
// CHECK: arith.extf
// CHECK: tile.store %{{.*}}, %[[ROW]][
// CHECK: scf.for %i = %c0 to %n
// CHECK-NOT: tile.load %w[
// CHECK: tile.load %[[ROW]][
func.func @weights(%x: memref<8x64xf32>, %w: memref<64xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xf32>
      %1 = memref.load %w[%j] : memref<64xbf16>
      %2 = arith.extf %1 : bf16 to f32
      %3 = arith.mulf %0, %2 : f32
      memref.store %3, %x[%i, %j] : memref<8x64xf32>
    } {stepwell.loop = "vectorize"}
  }
  func.return
}

/// A row that is written, one of a loop of few rows and one that is another in each iteration are not.
// CHECK-LABEL: @no_weights
// CHECK-NOT: memref.alloca
// CHECK: func.return
func.func @no_weights(%x: memref<8x64xbf16>, %w: memref<64xbf16>, %v: memref<64xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xbf16>
      %1 = memref.load %w[%j] : memref<64xbf16>
      %2 = arith.addf %0, %1 : bf16
      memref.store %2, %w[%j] : memref<64xbf16>
    } {stepwell.loop = "vectorize"}
  }
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xbf16>
      %1 = memref.load %v[%j] : memref<64xbf16>
      %2 = arith.addf %0, %1 : bf16
      memref.store %2, %x[%i, %j] : memref<8x64xbf16>
    } {stepwell.loop = "vectorize"}
  }
  func.return
}

/// The first of three loops over a row keeps it. The last one may write it.
// CHECK-LABEL: @read_again
// CHECK: %[[ROW:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xf32>
// CHECK: scf.for %i
// CHECK: tile.load %x[
// CHECK: tile.store %{{.*}}, %[[ROW]][
// CHECK-NOT: tile.load %x[
// CHECK-COUNT-2: tile.load %[[ROW]][
// CHECK: tile.store %{{.*}}, %x[
func.func @read_again(%x: memref<8x64xf16>, %y: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = arith.addf %1, %1 : f32
      memref.store %2, %y[%i, %j] : memref<8x64xf32>
    } {stepwell.loop = "vectorize"}
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = memref.load %y[%i, %j] : memref<8x64xf32>
      %3 = arith.mulf %1, %2 : f32
      memref.store %3, %y[%i, %j] : memref<8x64xf32>
    } {stepwell.loop = "vectorize"}
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = memref.load %y[%i, %j] : memref<8x64xf32>
      %3 = arith.addf %1, %2 : f32
      %4 = arith.truncf %3 : f32 to f16
      memref.store %4, %x[%i, %j] : memref<8x64xf16>
    } {stepwell.loop = "vectorize"}
  }
  func.return
}

/// The second of three loops writes the row, so that the third finds other numbers.
// CHECK-LABEL: @no_read_again
// CHECK-NOT: memref.alloca
// CHECK: func.return
func.func @no_read_again(%x: memref<8x64xf16>, %y: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = arith.addf %1, %1 : f32
      memref.store %2, %y[%i, %j] : memref<8x64xf32>
    } {stepwell.loop = "vectorize"}
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xf16>
      %1 = arith.addf %0, %0 : f16
      memref.store %1, %x[%i, %j] : memref<8x64xf16>
    } {stepwell.loop = "vectorize"}
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = memref.load %y[%i, %j] : memref<8x64xf32>
      %3 = arith.addf %1, %2 : f32
      memref.store %3, %y[%i, %j] : memref<8x64xf32>
    } {stepwell.loop = "vectorize"}
  }
  func.return
}

/// A loop after the last reader may write the row.
// CHECK-LABEL: @written_later
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<64xf32>
// CHECK: func.return
func.func @written_later(%x: memref<8x64xf16>, %y: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = arith.addf %1, %1 : f32
      memref.store %2, %y[%i, %j] : memref<8x64xf32>
    } {stepwell.loop = "vectorize"}
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<8x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = memref.load %y[%i, %j] : memref<8x64xf32>
      %3 = arith.mulf %1, %2 : f32
      memref.store %3, %y[%i, %j] : memref<8x64xf32>
    } {stepwell.loop = "vectorize"}
    scf.for %j = %c0 to %c64 step %c1 {
      %2 = memref.load %y[%i, %j] : memref<8x64xf32>
      %3 = arith.mulf %2, %2 : f32
      %4 = arith.truncf %3 : f32 to f16
      memref.store %4, %x[%i, %j] : memref<8x64xf16>
    } {stepwell.loop = "vectorize"}
  }
  func.return
}
