// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

/// The shapes of all registers first; sums that start at 0 and are only stored never leave them. Steps of 16 groups are a loop.
// CHECK-LABEL: @stored
// CHECK: %[[SHAPES:.*]] = llvm.alloca {{.*}} i8 {alignment = 64 : i64}
// CHECK: llvm.mlir.constant(dense<[1, 0, 0, {{.*}}, 64, 0, 64, 0, {{.*}}, 16, 16, 16, 16, 16, 16, 16, 16, 0,
// CHECK-NEXT: llvm.store %{{.*}}, %[[SHAPES]]
// CHECK-NEXT: llvm.call_intrinsic "llvm.x86.ldtilecfg"(%[[SHAPES]])
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: ^bb1(%step: i64):
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK-NOT: llvm.x86.tileloadd64
// CHECK: llvm.call_intrinsic "llvm.x86.tileloaddt164"
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbusd"
// CHECK: llvm.cond_br
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"(%{{.*}}, %out,
// CHECK-NEXT: llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK-NEXT: llvm.return
func.func @stored(%a: memref<16x128xi8>, %b: memref<32x16x4xi8>, %out: memref<16x16xi32>) {
  %c0 = arith.constant 0 : index
  %zeros = arith.constant dense<0> : vector<16x16xi32>
  %s = tile.mma %zeros, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 32 groups unsigned using "amx" : vector<16x16xi32>, memref<16x128xi8>, memref<32x16x4xi8>
  tile.store %s, %out[%c0, %c0] : vector<16x16xi32>, memref<16x16xi32>
  func.return
}

/// Sums with a start, and sums of which only some rows are wanted, are brought there and back by way of the stack; one step is no loop.
// CHECK-LABEL: @added
// CHECK-NOT: llvm.x86.tilezero
// CHECK: %[[OLD:.*]] = llvm.load %out{{.*}} -> vector<16xi32>
// CHECK: llvm.store %[[OLD]], %[[SLOT:.*]] {alignment = 64 : i64}
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%{{.*}}, %[[SLOT]],
// CHECK-NOT: llvm.br
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbssd"
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"(%{{.*}}, %[[SLOT]],
// CHECK: %[[NEW:.*]] = llvm.load %[[SLOT]]
// CHECK: llvm.store %[[NEW]], %out{{.*}}
func.func @added(%a: memref<16x64xi8>, %b: memref<16x16x4xi8>, %out: memref<5x16xi32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %out[%c0, %c0] : memref<5x16xi32>, vector<5x16xi32>
  %s = tile.mma %t, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 16 groups using "amx" : vector<5x16xi32>, memref<16x64xi8>, memref<16x16x4xi8>
  tile.store %s, %out[%c0, %c0] : vector<5x16xi32>, memref<5x16xi32>
  func.return
}

/// What is called may have shapes of its own, and gives the registers up.
// CHECK-LABEL: @called
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: llvm.call @stored
// CHECK-NEXT: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbuud"
func.func @called(%a: memref<16x128xi8>, %b: memref<32x16x4xi8>, %out: memref<16x16xi32>) {
  func.call @stored(%a, %b, %out) : (memref<16x128xi8>, memref<32x16x4xi8>, memref<16x16xi32>) -> ()
  %c0 = arith.constant 0 : index
  %zeros = arith.constant dense<0> : vector<16x16xi32>
  %s = tile.mma %zeros, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 32 groups unsigned right_unsigned using "amx" : vector<16x16xi32>, memref<16x128xi8>, memref<32x16x4xi8>
  tile.store %s, %out[%c0, %c0] : vector<16x16xi32>, memref<16x16xi32>
  func.return
}

// CHECK-LABEL: @no_tile_registers
// CHECK-NOT: llvm.call_intrinsic
// CHECK: llvm.return
func.func @no_tile_registers(%a: memref<16x128xi8>, %b: memref<32x16x4xi8>, %out: memref<16x16xi32>) {
  func.call @called(%a, %b, %out) : (memref<16x128xi8>, memref<32x16x4xi8>, memref<16x16xi32>) -> ()
  func.return
}
