// RUN: stepwell-opt %s -p 'vectorize-loops{target=sapphire-rapids}' | filecheck %s --check-prefixes CHECK,VBMI
// RUN: stepwell-opt %s -p 'vectorize-loops{target=cascade-lake}' | filecheck %s --check-prefixes CHECK,SHUFFLE
// RUN: stepwell-opt %s -p 'vectorize-loops{target=x86-64-v3}' | filecheck %s --check-prefix NONE
// RUN: stepwell-opt %s -p 'vectorize-loops{target=sapphire-rapids},lower-to-llvm-dialect' -t 'asm{machine="sapphire-rapids"}' | filecheck %s --check-prefix ASM

/// 64 bytes at a time, then the bytes that are left.
// CHECK-LABEL: @table
// CHECK: %[[A:.*]] = vector.load %t[%{{.*}}] : memref<256xi8>, vector<64xi8>
// CHECK: %[[B:.*]] = vector.load %t
// CHECK: %[[C:.*]] = vector.load %t
// CHECK: %[[D:.*]] = vector.load %t
// CHECK: scf.for %i = %c0 to %[[W:.*]] step %[[S:.*]] {
// CHECK-NEXT: %[[X:.*]] = vector.load %x[%r, %i] : memref<4x200xi8>, vector<64xi8>
// VBMI-NEXT: %[[Y:.*]] = tile.translate permuted %[[X]], %[[A]], %[[B]], %[[C]], %[[D]] : vector<64xi8>
// SHUFFLE-NEXT: %[[Y:.*]] = tile.translate %[[X]], %[[A]], %[[B]], %[[C]], %[[D]] : vector<64xi8>
// CHECK-NEXT: vector.store %[[Y]], %y[%r, %i] : memref<4x200xi8>, vector<64xi8>
// CHECK: %[[L:.*]] = arith.constant 192 : index
// CHECK-NEXT: scf.for %i{{.*}} = %[[L]] to %n step %c1 {
// CHECK-NEXT: memref.load
// NONE-NOT: tile.translate
// ASM: vperm{{[it]}}2b
// ASM: vperm{{[it]}}2b
func.func @table(%x: memref<4x200xi8>, %t: memref<256xi8>, %y: memref<4x200xi8>, %r: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 200 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%r, %i] : memref<4x200xi8>
    %b = arith.extui %a : i8 to i64
    %c = arith.index_cast %b : i64 to index
    %d = memref.load %t[%c] : memref<256xi8>
    memref.store %d, %y[%r, %i] : memref<4x200xi8>
  }
  func.return
}

/// A byte with a sign is no index of this table.
// CHECK-LABEL: @no_signs
// CHECK-NOT: tile.translate
func.func @no_signs(%x: memref<64xi8>, %t: memref<256xi8>, %y: memref<64xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<64xi8>
    %b = arith.extsi %a : i8 to i64
    %c = arith.index_cast %b : i64 to index
    %d = memref.load %t[%c] : memref<256xi8>
    memref.store %d, %y[%i] : memref<64xi8>
  }
  func.return
}

/// The loop changes its table.
// CHECK-LABEL: @no_table_that_changes
// CHECK-NOT: tile.translate
func.func @no_table_that_changes(%x: memref<256xi8>, %t: memref<256xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 256 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<256xi8>
    %b = arith.extui %a : i8 to i64
    %c = arith.index_cast %b : i64 to index
    %d = memref.load %t[%c] : memref<256xi8>
    memref.store %d, %t[%i] : memref<256xi8>
  }
  func.return
}

/// Bytes that are stored for a later iteration to load.
// CHECK-LABEL: @no_bytes_to_come
// CHECK-NOT: tile.translate
func.func @no_bytes_to_come(%x: memref<65xi8>, %t: memref<256xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<65xi8>
    %b = arith.extui %a : i8 to i64
    %c = arith.index_cast %b : i64 to index
    %d = memref.load %t[%c] : memref<256xi8>
    %j = arith.addi %i, %c1 : index
    memref.store %d, %x[%j] : memref<65xi8>
  }
  func.return
}
