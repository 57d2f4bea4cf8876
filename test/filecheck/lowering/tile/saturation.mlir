// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

/// A conversion that saturates is one op for the registers side by side, of one width.
// CHECK-LABEL: @signed
func.func @signed(%m: memref<3x24xf32>, %n: memref<3x24xi8>) {
  // CHECK: %{{.*}} = llvm_ext.saturate %{{[0-9]+}} : vector<16xf32> to vector<16xi8>
  // CHECK-NOT: fcmp
  // CHECK: llvm_ext.saturate %{{[0-9]+}} : vector<8xf32> to vector<8xi8>
  %c0 = arith.constant 0 : index
  %0 = tile.load %m[%c0, %c0] : memref<3x24xf32>, vector<3x24xf32>
  %1 = tile.map(%x = %0) : (vector<3x24xf32>) -> vector<3x24xi8> {
    %low = arith.constant -128.0 : f32
    %high = arith.constant 127.0 : f32
    %zero = arith.constant 0 : i8
    %2 = arith.cmpf ogt, %x, %low : f32
    %3 = arith.select %2, %x, %low : f32
    %4 = arith.cmpf olt, %3, %high : f32
    %5 = arith.select %4, %3, %high : f32
    %6 = arith.fptosi %5 : f32 to i32
    %7 = arith.trunci %6 : i32 to i8
    %8 = arith.cmpf uno, %x, %x : f32
    %9 = arith.select %8, %zero, %7 : i8
    tile.yield %9 : i8
  }
  tile.store %1, %n[%c0, %c0] : vector<3x24xi8>, memref<3x24xi8>
  func.return
}

/// The least unsigned number is the 0 that a NaN becomes. Four registers are done at a time.
// CHECK-LABEL: @unsigned
func.func @unsigned(%m: memref<5x16xf32>, %n: memref<5x16xi16>) {
  // CHECK: llvm_ext.saturate %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} unsigned : vector<16xf32>, {{.*}} to vector<16xi16>, {{.*}}
  // CHECK: llvm_ext.saturate %{{[0-9]+}} unsigned : vector<16xf32> to vector<16xi16>
  %c0 = arith.constant 0 : index
  %0 = tile.load %m[%c0, %c0] : memref<5x16xf32>, vector<5x16xf32>
  %1 = tile.map(%x = %0) : (vector<5x16xf32>) -> vector<5x16xi16> {
    %low = arith.constant 0.0 : f32
    %2 = arith.cmpf ogt, %x, %low : f32
    %3 = arith.select %2, %x, %low : f32
    %high = arith.constant 65535.0 : f32
    %4 = arith.cmpf olt, %3, %high : f32
    %5 = arith.select %4, %3, %high : f32
    %6 = arith.fptosi %5 : f32 to i32
    %7 = arith.trunci %6 : i32 to i16
    tile.yield %7 : i16
  }
  tile.store %1, %n[%c0, %c0] : vector<5x16xi16>, memref<5x16xi16>
  func.return
}

/// A number that is used elsewhere, and bounds that are not those of the type, stay as they are.
// CHECK-LABEL: @no_saturate
func.func @no_saturate(%m: memref<1x16xf32>, %n: memref<1x16xi8>, %p: memref<1x16xi8>) {
  // CHECK-NOT: saturate
  %c0 = arith.constant 0 : index
  %0 = tile.load %m[%c0, %c0] : memref<1x16xf32>, vector<1x16xf32>
  %1 = tile.map(%x = %0) : (vector<1x16xf32>) -> vector<1x16xi8> {
    %low = arith.constant 0.0 : f32
    %high = arith.constant 127.0 : f32
    %2 = arith.cmpf ogt, %x, %low : f32
    %3 = arith.select %2, %x, %low : f32
    %4 = arith.cmpf olt, %3, %high : f32
    %5 = arith.select %4, %3, %high : f32
    %6 = arith.fptosi %5 : f32 to i32
    %7 = arith.trunci %6 : i32 to i8
    tile.yield %7 : i8
  }
  tile.store %1, %n[%c0, %c0] : vector<1x16xi8>, memref<1x16xi8>
  %10 = tile.map(%x = %0) : (vector<1x16xf32>) -> vector<1x16xi8> {
    %low = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %2 = arith.cmpf ogt, %x, %low : f32
    %3 = arith.select %2, %x, %low : f32
    %4 = arith.cmpf olt, %3, %high : f32
    %5 = arith.select %4, %3, %high : f32
    %6 = arith.fptosi %5 : f32 to i32
    %7 = arith.trunci %6 : i32 to i8
    %8 = arith.select %4, %7, %7 : i8
    tile.yield %8 : i8
  }
  tile.store %10, %p[%c0, %c0] : vector<1x16xi8>, memref<1x16xi8>
  func.return
}
// CHECK: llvm.return
