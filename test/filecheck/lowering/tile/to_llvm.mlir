// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

/// A row is cut into vectors of 16 and what is left; equal rows are loaded once.
// CHECK-LABEL: @load_store
func.func @load_store(%m: memref<4x40xf32>, %v: memref<40xf32>, %i: index) {
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  // CHECK-NOT: llvm.load
  // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  // CHECK: llvm.store
  // CHECK: llvm.store
  // CHECK: llvm.store
  // CHECK-NEXT: llvm.return
  %c0 = arith.constant 0 : index
  %0 = tile.load %v[%c0] : memref<40xf32>, vector<2x40xf32>
  tile.store %0, %m[%i, %c0] : vector<2x40xf32>, memref<4x40xf32>
  func.return
}

/// Columns that are not next to each other are elements; one element for all columns is a broadcast.
// CHECK-LABEL: @strided
func.func @strided(%m: memref<4x40xf32>, %v: memref<40xf32>) {
  // CHECK-COUNT-3: llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK: llvm.insertelement %{{.*}} : vector<3xf32>
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK: llvm.shufflevector %{{.*}} [0, 0, 0] : vector<3xf32>
  // CHECK: llvm_ext.extractelement
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr
  %c0 = arith.constant 0 : index
  %0 = tile.load %v[%c0] by [1, 2] : memref<40xf32>, vector<1x3xf32>
  %1 = tile.load %v[%c0] along [0, -1] : memref<40xf32>, vector<1x3xf32>
  %2 = tile.map(%x = %0, %y = %1) : (vector<1x3xf32>, vector<1x3xf32>) -> vector<1x3xf32> {
    %z = arith.addf %x, %y : f32
    tile.yield %z : f32
  }
  tile.store %2, %m[%c0, %c0] by [1, 2] : vector<1x3xf32>, memref<4x40xf32>
  func.return
}

/// The vectors of a row of B once, then each element of A in all lanes; the sums are carried as registers.
// CHECK-LABEL: @mma
func.func @mma(%a: memref<2x64xf32>, %b: memref<64x32xf32>, %out: memref<2x32xf32>) {
  // CHECK: llvm.br ^[[LOOP:.*]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i64, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
  // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK: %[[S:.*]] = llvm.shufflevector
  // CHECK-NEXT: llvm.call_intrinsic "llvm.fmuladd"(%[[S]],
  // CHECK-NEXT: llvm.call_intrinsic "llvm.fmuladd"(%[[S]],
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.fmuladd"
  // CHECK-NOT: llvm.call_intrinsic
  // CHECK-COUNT-4: llvm.store
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<2x32xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (vector<2x32xf32>) {
    %next = tile.mma %acc, %a[%c0, %k], %b[%k, %c0] depth 1 : vector<2x32xf32>, memref<2x64xf32>, memref<64x32xf32>
    scf.yield %next : vector<2x32xf32>
  }
  tile.store %sum, %out[%c0, %c0] : vector<2x32xf32>, memref<2x32xf32>
  func.return
}

/// Some rows: the place of A is that of the first of them; the sums of the others are what they were.
// CHECK-LABEL: @some_rows
func.func @some_rows(%a: memref<2x64xf32>, %b: memref<64x16xf32>, %out: memref<3x16xf32>) {
  // CHECK: %[[OLD:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.fmuladd"
  // CHECK-NOT: llvm.call_intrinsic
  // CHECK: llvm.store %[[OLD]]
  %c0 = arith.constant 0 : index
  %acc = tile.load %out[%c0, %c0] : memref<3x16xf32>, vector<3x16xf32>
  %next = tile.mma %acc, %a[%c0, %c0], %b[%c0, %c0] depth 1 rows [1, 2] : vector<3x16xf32>, memref<2x64xf32>, memref<64x16xf32>
  tile.store %next, %out[%c0, %c0] : vector<3x16xf32>, memref<3x16xf32>
  func.return
}

/// Narrow elements are widened before they are multiplied, with their sign or without.
// CHECK-LABEL: @widened
func.func @widened(%t: memref<1x16xi32>, %a: memref<1x4xi8>, %b: memref<4x16xi8>, %u: memref<1x16xf32>, %h: memref<4x16xf16>) {
  // CHECK: llvm.sext %{{.*}} : vector<16xi8> to vector<16xi32>
  // CHECK: llvm.zext %{{.*}} : i8 to i32
  // CHECK: llvm.mul
  // CHECK-NEXT: llvm.add
  // CHECK: llvm.fpext %{{.*}} : vector<16xf16> to vector<16xf32>
  // CHECK: llvm.fpext %{{.*}} : f16 to f32
  // CHECK: llvm.call_intrinsic "llvm.fmuladd"
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<1x16xi32>, vector<1x16xi32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0] depth 1 unsigned : vector<1x16xi32>, memref<1x4xi8>, memref<4x16xi8>
  tile.store %1, %t[%c0, %c0] : vector<1x16xi32>, memref<1x16xi32>
  %2 = tile.load %u[%c0, %c0] : memref<1x16xf32>, vector<1x16xf32>
  %3 = tile.mma %2, %h[%c0, %c0], %h[%c0, %c0] depth 1 : vector<1x16xf32>, memref<4x16xf16>, memref<4x16xf16>
  tile.store %3, %u[%c0, %c0] : vector<1x16xf32>, memref<1x16xf32>
  func.return
}

/// Four steps of each row of f16 are converted at once. They go over the stack by a pointer that LLVM cannot tell to be the slot.
// CHECK-LABEL: @half_rows
func.func @half_rows(%u: memref<2x16xf32>, %a: memref<2x5xf16>, %b: memref<5x16xf32>) {
  // CHECK: %[[SLOT:.*]] = llvm.alloca %{{.*}} x f32 {alignment = 64 : i64}
  // CHECK-NEXT: %[[SAME:.*]] = llvm.inline_asm "", "=r,0" %[[SLOT]] : (!llvm.ptr) -> !llvm.ptr
  // CHECK: llvm.fpext %{{.*}} : vector<4xf16> to vector<4xf32>
  // CHECK: llvm.getelementptr {{.*}}%[[SLOT]][0]
  // CHECK: llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr
  // CHECK: llvm.getelementptr {{.*}}%[[SLOT]][4]
  // CHECK: llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr
  // CHECK: llvm.getelementptr {{.*}}%[[SAME]][0]
  // CHECK: llvm.call_intrinsic "llvm.fmuladd"
  // CHECK: llvm.getelementptr {{.*}}%[[SAME]][4]
  // CHECK-COUNT-7: llvm.call_intrinsic "llvm.fmuladd"
  // The fifth step is what is left.
  // CHECK: llvm.fpext %{{.*}} : vector<1xf16> to vector<1xf32>
  // CHECK: llvm.return
  %c0 = arith.constant 0 : index
  %0 = tile.load %u[%c0, %c0] : memref<2x16xf32>, vector<2x16xf32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0] depth 5 : vector<2x16xf32>, memref<2x5xf16>, memref<5x16xf32>
  tile.store %1, %u[%c0, %c0] : vector<2x16xf32>, memref<2x16xf32>
  func.return
}

/// Where the steps are not next to each other, one is converted at a time.
// CHECK-LABEL: @no_half_columns
func.func @no_half_columns(%u: memref<2x16xf32>, %a: memref<4x2xf16>, %b: memref<4x16xf32>) {
  // CHECK-NOT: llvm.alloca
  // CHECK: llvm.fpext %{{.*}} : f16 to f32
  // CHECK: llvm.return
  %c0 = arith.constant 0 : index
  %0 = tile.load %u[%c0, %c0] : memref<2x16xf32>, vector<2x16xf32>
  %1 = tile.mma %0, %a[%c0, %c0] along [1, 0], %b[%c0, %c0] depth 4 : vector<2x16xf32>, memref<4x2xf16>, memref<4x16xf32>
  tile.store %1, %u[%c0, %c0] : vector<2x16xf32>, memref<2x16xf32>
  func.return
}

/// With the instruction named, a group of A is one load in all lanes and a piece of B another.
// CHECK-LABEL: @groups
func.func @groups(%t: memref<1x24xi32>, %a: memref<1x4xi8>, %b: memref<1x24x4xi8>) {
  // CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<64xi8>
  // CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<32xi8>
  // CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> i32
  // CHECK: llvm.bitcast %{{.*}} : vector<16xi32> to vector<64xi8>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<1x24xi32>, vector<1x24xi32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 1 groups unsigned using "vpdpbusd" : vector<1x24xi32>, memref<1x4xi8>, memref<1x24x4xi8>
  tile.store %1, %t[%c0, %c0] : vector<1x24xi32>, memref<1x24xi32>
  func.return
}

/// The halves of bytes are masked, the upper ones shifted before. Products with 4 bits do not saturate in 16 bits.
// CHECK-LABEL: @nibbles
func.func @nibbles(%t: memref<1x8xi32>, %a: memref<1x8xi8>, %b: memref<1x8x4xi8>) {
  // CHECK: %[[BYTES:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<32xi8>
  // CHECK-NEXT: llvm.bitcast %[[BYTES]] : vector<32xi8> to vector<8xi32>
  // CHECK: llvm.and
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
  // CHECK-NEXT: llvm.add
  // CHECK: llvm.lshr
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<1x8xi32>, vector<1x8xi32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 1 groups nibbles right_unsigned using "vpmaddubsw" : vector<1x8xi32>, memref<1x8xi8>, memref<1x8x4xi8>
  tile.store %1, %t[%c0, %c0] : vector<1x8xi32>, memref<1x8xi32>
  func.return
}

/// Without dot products, every other byte is extended to 16 bits, with its sign or without.
// CHECK-LABEL: @words
func.func @words(%t: memref<1x8xi32>, %a: memref<1x4xi8>, %b: memref<1x8x4xi8>) {
  // CHECK-DAG: %[[EIGHT:.*]] = llvm.mlir.constant(dense<8> : vector<16xi16>)
  // CHECK-DAG: %[[LOW:.*]] = llvm.mlir.constant(dense<255> : vector<16xi16>)
  // CHECK: %[[L0:.*]] = llvm.and %[[L:.*]], %[[LOW]] : vector<16xi16>
  // CHECK: %[[R:.*]] = llvm.shl %{{.*}}, %[[EIGHT]] : vector<16xi16>
  // CHECK: %[[R0:.*]] = llvm.ashr %[[R]], %[[EIGHT]] : vector<16xi16>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[L0]], %[[R0]])
  // CHECK-NEXT: llvm.add
  // CHECK: %[[L1:.*]] = llvm.lshr %[[L]], %[[EIGHT]] : vector<16xi16>
  // CHECK: %[[R1:.*]] = llvm.ashr %{{.*}}, %[[EIGHT]] : vector<16xi16>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[L1]], %[[R1]])
  // CHECK-NEXT: llvm.add
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<1x8xi32>, vector<1x8xi32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 1 groups unsigned using "vex.vpmaddwd" : vector<1x8xi32>, memref<1x4xi8>, memref<1x8x4xi8>
  tile.store %1, %t[%c0, %c0] : vector<1x8xi32>, memref<1x8xi32>
  func.return
}

/// Numbers of 16 bits are multiplied as they are.
// CHECK-LABEL: @pairs_of_words
func.func @pairs_of_words(%t: memref<1x8xi32>, %a: memref<1x2xi16>, %b: memref<1x8x2xi16>) {
  // CHECK-DAG: %[[B:.*]] = llvm.bitcast %{{.*}} : vector<32xi8> to vector<16xi16>
  // CHECK-DAG: %[[A:.*]] = llvm.bitcast %{{.*}} : vector<8xi32> to vector<16xi16>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[A]], %[[B]])
  // CHECK-NEXT: llvm.add
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<1x8xi32>, vector<1x8xi32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 1 groups using "vex.vpmaddwd" : vector<1x8xi32>, memref<1x2xi16>, memref<1x8x2xi16>
  tile.store %1, %t[%c0, %c0] : vector<1x8xi32>, memref<1x8xi32>
  func.return
}

/// Without an instruction, one product is added after the other.
// CHECK-LABEL: @words_spelled_out
func.func @words_spelled_out(%t: memref<1x4xi32>, %a: memref<1x2xi16>, %b: memref<1x4x2xi16>) {
  // CHECK: llvm.sext %{{.*}} : vector<4xi16> to vector<4xi32>
  // CHECK: llvm.mul
  // CHECK: llvm.add
  // CHECK: llvm.mul
  // CHECK: llvm.add
  // CHECK-NOT: llvm.mul
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<1x4xi32>, vector<1x4xi32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 1 groups : vector<1x4xi32>, memref<1x2xi16>, memref<1x4x2xi16>
  tile.store %1, %t[%c0, %c0] : vector<1x4xi32>, memref<1x4xi32>
  func.return
}

/// Groups of two bf16 are as long.
// CHECK-LABEL: @pairs
func.func @pairs(%t: memref<1x24xf32>, %a: memref<1x2xbf16>, %b: memref<1x24x2xbf16>) {
  // CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<64xi8>
  // CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> i32
  // CHECK: llvm.bitcast %{{.*}} : vector<16xi32> to vector<32xbf16>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.256"
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<1x24xf32>, vector<1x24xf32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 1 groups using "vdpbf16ps" : vector<1x24xf32>, memref<1x2xbf16>, memref<1x24x2xbf16>
  tile.store %1, %t[%c0, %c0] : vector<1x24xf32>, memref<1x24xf32>
  func.return
}

/// Without it, the elements are extended, and one product is added after the other. The words are read for each of them.
// CHECK-LABEL: @pairs_spelled_out
// CHECK: %[[KNOWN:.*]] = llvm.mlir.constant(0) : i64
// CHECK: %[[ZERO:.*]] = llvm.inline_asm "", "=r,0" %[[KNOWN]] : (i64) -> i64
func.func @pairs_spelled_out(%t: memref<2x8xf32>, %a: memref<2x2xbf16>, %b: memref<1x8x2xbf16>) {
  // CHECK: %[[AGAIN:.*]] = llvm.getelementptr inbounds %[[B:.*]][%[[ZERO]]]
  // CHECK: %[[W:.*]] = llvm.load %[[B]] {alignment = 2 : i64} : !llvm.ptr -> vector<8xi32>
  // CHECK: llvm.shl %[[W]]
  // CHECK: llvm.call_intrinsic "llvm.fmuladd"
  // CHECK: %[[W:.*]] = llvm.load %[[AGAIN]] {alignment = 2 : i64} : !llvm.ptr -> vector<8xi32>
  // CHECK: llvm.and %[[W]]
  // CHECK: llvm.call_intrinsic "llvm.fmuladd"
  // CHECK-NOT: llvm.call_intrinsic "llvm.fmuladd"
  // CHECK: llvm.return
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<2x8xf32>, vector<2x8xf32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 1 rows [1, 1] groups : vector<2x8xf32>, memref<2x2xbf16>, memref<1x8x2xbf16>
  tile.store %1, %t[%c0, %c0] : vector<2x8xf32>, memref<2x8xf32>
  func.return
}

/// Without it, the products are 16 bits wide and added one after the other.
// CHECK-LABEL: @groups_spelled_out
func.func @groups_spelled_out(%t: memref<1x16xi32>, %a: memref<1x4xi8>, %b: memref<1x16x4xi8>) {
  // CHECK: llvm.shufflevector %{{.*}} [0, 4, 8, 12,
  // CHECK: llvm.sext %{{.*}} : vector<16xi8> to vector<16xi16>
  // CHECK: llvm.mul %{{.*}} : vector<16xi16>
  // CHECK-NEXT: llvm.sext %{{.*}} : vector<16xi16> to vector<16xi32>
  // CHECK: llvm.shufflevector %{{.*}} [3, 7, 11, 15,
  // CHECK-NOT: llvm.call_intrinsic
  // CHECK: llvm.return
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<1x16xi32>, vector<1x16xi32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 1 groups : vector<1x16xi32>, memref<1x4xi8>, memref<1x16x4xi8>
  tile.store %1, %t[%c0, %c0] : vector<1x16xi32>, memref<1x16xi32>
  func.return
}

/// The body is on vectors, once per piece; what it uses from outside is in all lanes.
// CHECK-LABEL: @map
func.func @map(%m: memref<1x24xf32>, %o: memref<1x24xi1>, %s: f32) {
  // CHECK: llvm.mlir.constant(dense<2.000000e+00> : vector<16xf32>)
  // CHECK: llvm.fmul %{{.*}} : vector<16xf32>
  // CHECK: llvm_ext.fcmp {{.*}} : vector<16xf32>
  // CHECK: llvm.fmul %{{.*}} : vector<8xf32>
  // CHECK: llvm_ext.fcmp {{.*}} : vector<8xf32>
  // CHECK: llvm.zext %{{.*}} : vector<16xi1> to vector<16xi8>
  %c0 = arith.constant 0 : index
  %0 = tile.load %m[%c0, %c0] : memref<1x24xf32>, vector<1x24xf32>
  %1 = tile.map(%x = %0) : (vector<1x24xf32>) -> vector<1x24xi1> {
    %two = arith.constant 2.0 : f32
    %y = arith.mulf %x, %two : f32
    %z = arith.cmpf olt, %y, %s : f32
    tile.yield %z : i1
  }
  tile.store %1, %o[%c0, %c0] : vector<1x24xi1>, memref<1x24xi1>
  func.return
}

/// Of repeated elements that lie near each other only their lanes are read; two are broadcasts, one is one.
/// Those that are further apart are loaded one by one.
// CHECK-LABEL: @repeated
func.func @repeated(%m: memref<4x96xf32>, %out: memref<4x16xf32>) {
  // CHECK: %[[LANES:.*]] = llvm.mlir.constant(dense<[true, false, false, false, true, false, false, false, true, false, false, false, true, false, false, false]> : vector<16xi1>)
  // CHECK: %[[FOUR:.*]] = llvm_ext.masked_load %{{.*}}, %[[LANES]], %{{.*}} {alignment = 4 : i64} : vector<16xi1>, vector<16xf32>
  // CHECK-NEXT: llvm.shufflevector %[[FOUR]], %[[FOUR]] [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12] : vector<16xf32>
  // CHECK: llvm_ext.masked_load
  // CHECK: llvm_ext.masked_load
  // CHECK-NEXT: llvm.shufflevector %{{.*}} [0, 0, 0, 0, 8, 8, 8, 8, 16, 16, 16, 16, 24, 24, 24, 24] : vector<16xf32>
  // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK: llvm.shufflevector %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31] : vector<16xf32>
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK: llvm.shufflevector %{{.*}} [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] : vector<16xf32>
  // CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK: llvm.shufflevector %{{.*}} [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3] : vector<4xf32>
  // CHECK-NOT: llvm.load
  %c0 = arith.constant 0 : index
  %0 = tile.load %m[%c0, %c0] by [1, 4] repeat 4 : memref<4x96xf32>, vector<1x16xf32>
  %1 = tile.load %m[%c0, %c0] by [1, 8] repeat 4 : memref<4x96xf32>, vector<1x16xf32>
  %2 = tile.load %m[%c0, %c0] by [1, 20] repeat 8 : memref<4x96xf32>, vector<1x16xf32>
  %3 = tile.load %m[%c0, %c0] by [1, 20] repeat 16 : memref<4x96xf32>, vector<1x16xf32>
  %4 = tile.load %m[%c0, %c0] by [1, 20] repeat 4 : memref<4x96xf32>, vector<1x16xf32>
  tile.store %0, %out[%c0, %c0] : vector<1x16xf32>, memref<4x16xf32>
  tile.store %1, %out[%c0, %c0] : vector<1x16xf32>, memref<4x16xf32>
  tile.store %2, %out[%c0, %c0] : vector<1x16xf32>, memref<4x16xf32>
  tile.store %3, %out[%c0, %c0] : vector<1x16xf32>, memref<4x16xf32>
  tile.store %4, %out[%c0, %c0] : vector<1x16xf32>, memref<4x16xf32>
  func.return
}

/// Four rows that are stored by columns are shuffled twice: pairs of bytes, then pairs of these.
// CHECK-LABEL: @by_columns
func.func @by_columns(%x: memref<4x20xi8>, %y: memref<20x4xi8>) {
  // CHECK-COUNT-8: llvm.load
  // CHECK: llvm.shufflevector %{{.*}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xi8>
  // CHECK: llvm.shufflevector %{{.*}} [0, 4, 1, 5, 2, 6, 3, 7] : vector<4xi8>
  // CHECK: llvm.shufflevector %{{.*}} [0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23] : vector<16xi8>
  // CHECK-COUNT-5: llvm.store %{{.*}} {alignment = 1 : i64} : vector<16xi8>, !llvm.ptr
  // CHECK-NEXT: llvm.return
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%c0, %c0] : memref<4x20xi8>, vector<4x20xi8>
  tile.store %0, %y[%c0, %c0] along [1, 0] : vector<4x20xi8>, memref<20x4xi8>
  func.return
}

/// Three rows, or four in columns of five, are stored element by element.
// CHECK-LABEL: @no_shuffles
// CHECK-NOT: llvm.shufflevector
// CHECK-LABEL: @columns_of_halves
func.func @no_shuffles(%x: memref<4x20xi8>, %y: memref<20x3xi8>, %z: memref<20x5xi8>) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%c0, %c0] : memref<4x20xi8>, vector<3x20xi8>
  tile.store %0, %y[%c0, %c0] along [1, 0] : vector<3x20xi8>, memref<20x3xi8>
  %1 = tile.load %x[%c0, %c0] : memref<4x20xi8>, vector<4x20xi8>
  tile.store %1, %z[%c0, %c0] along [1, 0] : vector<4x20xi8>, memref<20x5xi8>
  func.return
}

/// bf16 moves as its bits.
// CHECK: llvm.shufflevector %{{.*}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xi16>
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 2 : i64} : vector<16xi16>, !llvm.ptr
func.func @columns_of_halves(%x: memref<2x16xbf16>, %y: memref<16x2xbf16>) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%c0, %c0] : memref<2x16xbf16>, vector<2x16xbf16>
  tile.store %0, %y[%c0, %c0] along [1, 0] : vector<2x16xbf16>, memref<16x2xbf16>
  func.return
}

/// One op for each register, for floats by an intrinsic that rounds once where the machine can.
// CHECK-LABEL: @multiply_add
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.fmuladd"(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
// CHECK: llvm.mul %{{.*}} : vector<16xi32>
// CHECK: llvm.add %{{.*}} : vector<16xi32>
func.func @multiply_add(%x: memref<3x2x16xf32>, %i: memref<3x1x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = tile.load %x[%c0, %c0, %c0] : memref<3x2x16xf32>, vector<2x16xf32>
  %1 = tile.load %x[%c1, %c0, %c0] : memref<3x2x16xf32>, vector<2x16xf32>
  %2 = tile.load %x[%c2, %c0, %c0] : memref<3x2x16xf32>, vector<2x16xf32>
  %3 = tile.multiply_add %0, %1, %2 : vector<2x16xf32>
  tile.store %3, %x[%c0, %c0, %c0] : vector<2x16xf32>, memref<3x2x16xf32>
  %4 = tile.load %i[%c0, %c0, %c0] : memref<3x1x16xi32>, vector<1x16xi32>
  %5 = tile.multiply_add %4, %4, %4 : vector<1x16xi32>
  tile.store %5, %i[%c0, %c0, %c0] : vector<1x16xi32>, memref<3x1x16xi32>
  func.return
}

/// The last five columns of a row are computed in eight lanes, of which three hold anything.
// CHECK-LABEL: @lanes_to_spare
// CHECK: llvm.shufflevector %{{.*}} [0, 1, 2, 3, 4, 5, 5, 5] : vector<5xi32>
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<20xi8>
// CHECK: llvm.shufflevector %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20] : vector<20xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// CHECK-NOT: llvm.mul
// CHECK: llvm.shufflevector %{{.*}} [0, 1, 2, 3, 4] : vector<8xi32>
// CHECK: llvm.return
func.func @lanes_to_spare(%a: memref<1x4xi8>, %b: memref<1x5x4xi8>, %out: memref<1x5xi32>) {
  %c0 = arith.constant 0 : index
  %0 = arith.constant dense<0> : vector<1x5xi32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 1 groups unsigned using "vpdpbusd" : vector<1x5xi32>, memref<1x4xi8>, memref<1x5x4xi8>
  tile.store %1, %out[%c0, %c0] : vector<1x5xi32>, memref<1x5xi32>
  func.return
}

/// Blocks pass on 16 lanes, of which 12 are looked at: LLVM would pass 12 one by one where no register holds them.
// CHECK-LABEL: @twelve_columns
func.func @twelve_columns(%a: memref<4x8xf32>, %b: memref<8x12xf32>, %c: memref<4x12xf32>) {
  // CHECK: llvm.shufflevector %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 12, 12] : vector<12xf32>
  // CHECK-NEXT: llvm.br ^{{.*}}(%{{.*}}, %{{.*}} : i64, vector<16xf32>)
  // CHECK: llvm.load %{{.*}} -> vector<12xf32>
  // CHECK: %[[SUM:.*]] = llvm.call_intrinsic "llvm.fmuladd"{{.*}} -> vector<16xf32>
  // CHECK: llvm.cond_br %{{.*}}, ^{{.*}}(%{{.*}}, %[[SUM]] : i64, vector<16xf32>), ^{{.*}}(%[[SUM]] : vector<16xf32>)
  // CHECK: %[[LAST:.*]] = llvm.shufflevector %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] : vector<16xf32>
  // CHECK: llvm.store %[[LAST]], %c
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %8 = arith.constant 8 : index
  %z = arith.constant dense<0.0> : vector<1x12xf32>
  %r = scf.for %k = %0 to %8 step %1 iter_args(%acc = %z) -> (vector<1x12xf32>) {
    %n = tile.mma %acc, %a[%0, %k], %b[%k, %0] depth 1 : vector<1x12xf32>, memref<4x8xf32>, memref<8x12xf32>
    scf.yield %n : vector<1x12xf32>
  }
  tile.store %r, %c[%0, %0] : vector<1x12xf32>, memref<4x12xf32>
  func.return
}
