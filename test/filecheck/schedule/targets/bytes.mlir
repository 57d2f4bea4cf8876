// RUN: stepwell-opt %s -p 'schedule-cpu{target="sapphire-rapids"}' | filecheck %s --check-prefix AMX
// RUN: stepwell-opt %s -p 'schedule-cpu{target="cascade-lake"}' | filecheck %s --check-prefix VNNI
// RUN: stepwell-opt %s -p 'schedule-cpu{target="x86-64-v4"}' | filecheck %s --check-prefix WORDS
// RUN: stepwell-opt %s -p 'schedule-cpu{target="x86-64-v3"}' | filecheck %s --check-prefix VEX
// RUN: stepwell-opt %s -p 'schedule-cpu{target="x86-64"}' | filecheck %s --check-prefix SSE
// RUN: stepwell-opt %s -p 'schedule-cpu{target="aarch64-neon"}' | filecheck %s --check-prefix PLAIN
// RUN: stepwell-opt %s -p 'schedule-cpu{target="sapphire-rapids"},bufferize,lower-loops-to-scf,lower-to-llvm-dialect' -t 'asm{machine="sapphire-rapids"}' | filecheck %s --check-prefix ASM

// Whole registers of rows are read where they lie; the last five rows from a copy. The last panel has 8 columns.

// AMX-LABEL: @signed
// AMX: tensor_loop.alloc : memref<16x128xi8>
// AMX: tensor_loop.alloc : memref<2x32x32x4xi8>
// AMX: block "copy"
// AMX-NOT: arith.xori
// AMX: tile.mma %{{.*}}, %A[%{{.*}}, %{{.*}}], %{{.*}} along [1, 2] depth 32 groups using "amx" : vector<32x32xi32>
// AMX: tile.store %{{.*}} : vector<32x32xi32>
// AMX: tile.mma %{{.*}} using "amx" : vector<5x32xi32>, memref<16x128xi8>, memref<2x32x32x4xi8>
// AMX: tile.mma %{{.*}} using "amx" : vector<32x8xi32>
// AMX: tile.mma %{{.*}} using "amx" : vector<5x8xi32>
// VNNI-LABEL: @signed
// VNNI: block "column_sums"
// VNNI: block "shift"
// VNNI: tile.mma %{{.*}} depth 4 groups unsigned using "vpdpbusd"
// Without dot products, both operands are extended to 16 bits, with their signs or without.
// WORDS-LABEL: @signed
// WORDS: %rows = tensor_loop.alloc : memref<37x128xi16>
// WORDS: %packed = tensor_loop.alloc : memref<1x64x40x2xi16>
// WORDS: block "pack"
// WORDS: tile.map
// WORDS: arith.extsi %{{.*}} : i8 to i16
// WORDS: block "extend"
// WORDS: arith.extsi %{{.*}} : i8 to i16
// WORDS: tile.mma %{{.*}}, %rows[%{{.*}} depth 1 groups using "vpmaddwd" : vector<8x40xi32>, memref<37x128xi16>, memref<1x64x40x2xi16>
// VEX: tile.mma %{{.*}}, %rows[%{{.*}} depth 1 groups using "vex.vpmaddwd"
// SSE: tile.mma %{{.*}}, %rows[%{{.*}} depth 1 groups using "pmaddwd"
// PLAIN-LABEL: @signed
// PLAIN: tile.mma
// PLAIN-NOT: using

// The registers get their shapes first and are given up in the end; whole tiles go straight to their place.
// ASM-LABEL: signed:
// ASM: ldtilecfg
// ASM: tilezero %tmm3
// ASM: tileloadd {{.*}}%tmm4
// ASM: tileloadd {{.*}}%tmm5
// ASM: tileloaddt1 {{.*}}%tmm6
// ASM: tileloaddt1 {{.*}}%tmm7
// ASM-NEXT: tdpbssd %tmm6, %tmm4, %tmm0
// ASM-NEXT: tdpbssd %tmm7, %tmm4, %tmm1
// ASM-NEXT: tdpbssd %tmm6, %tmm5, %tmm2
// ASM: tdpbssd %tmm7, %tmm5, %tmm3
// ASM: tilestored %tmm0
// ASM-NOT: vmovups
// ASM: tilestored %tmm3
// ASM: tilerelease
// ASM: retq
tensor_loop.func @signed(%A: memref<37x128xi8>, %B: memref<128x40xi8>) outs(%C: memref<37x40xi32>) {
  tensor_loop.grid (%i, %j, %k) in (37, 40, 128) {
    tensor_loop.block "matmul" spatial(%vi in 37 = %i, %vj in 40 = %j) reduce(%vk in 128 = %k) {
      tensor_loop.init {
        %zero = arith.constant 0 : i32
        memref.store %zero, %C[%vi, %vj] : memref<37x40xi32>
      }
      %a = memref.load %A[%vi, %vk] : memref<37x128xi8>
      %aw = arith.extsi %a : i8 to i32
      %b = memref.load %B[%vk, %vj] : memref<128x40xi8>
      %bw = arith.extsi %b : i8 to i32
      %c = memref.load %C[%vi, %vj] : memref<37x40xi32>
      %p = arith.muli %aw, %bw : i32
      %s = arith.addi %c, %p : i32
      memref.store %s, %C[%vi, %vj] : memref<37x40xi32>
    }
  }
}

// One side without a sign: nothing is shifted; 100 steps are no whole registers, so all of a is copied for them.
// AMX-LABEL: @mixed
// AMX: tensor_loop.alloc : memref<32x128xi8>
// AMX: block "copy"
// AMX: block "fill"
// AMX: tile.mma %{{.*}} depth 32 groups right_unsigned using "amx" : vector<32x16xi32>
// VNNI-LABEL: @mixed
// VNNI-NOT: column_sums
// VNNI-NOT: arith.xori
// VNNI: tile.mma %{{.*}}, %A[%{{.*}} depth 4 groups right_unsigned using "vpdpbusd"
// WORDS-LABEL: @mixed
// WORDS: arith.extui %{{.*}} : i8 to i16
// WORDS: arith.extsi %{{.*}} : i8 to i16
// WORDS: tile.mma %{{.*}} depth 1 groups using "vpmaddwd"
// PLAIN-LABEL: @mixed
// PLAIN: tile.mma %{{.*}} depth 1 right_unsigned :
tensor_loop.func @mixed(%A: memref<32x100xi8>, %B: memref<100x16xi8>) outs(%C: memref<32x16xi32>) {
  tensor_loop.grid (%i, %j, %k) in (32, 16, 100) {
    tensor_loop.block "matmul" spatial(%vi in 32 = %i, %vj in 16 = %j) reduce(%vk in 100 = %k) {
      tensor_loop.init {
        %zero = arith.constant 0 : i32
        memref.store %zero, %C[%vi, %vj] : memref<32x16xi32>
      }
      %a = memref.load %A[%vi, %vk] : memref<32x100xi8>
      %aw = arith.extsi %a : i8 to i32
      %b = memref.load %B[%vk, %vj] : memref<100x16xi8>
      %bw = arith.extui %b : i8 to i32
      %c = memref.load %C[%vi, %vj] : memref<32x16xi32>
      %p = arith.muli %aw, %bw : i32
      %s = arith.addi %c, %p : i32
      memref.store %s, %C[%vi, %vj] : memref<32x16xi32>
    }
  }
}

// Sums that do not start at 0 are left to vpdpbusd; too few columns to all but plain tiles.
// AMX-LABEL: @no_zeros
// AMX-NOT: amx
// AMX: using "vpdpbusd"
// AMX-LABEL: @no_columns
// AMX-NOT: using
tensor_loop.func @no_zeros(%A: memref<32x64xi8>, %B: memref<64x16xi8>) outs(%C: memref<32x16xi32>) {
  tensor_loop.grid (%i, %j, %k) in (32, 16, 64) {
    tensor_loop.block "matmul" spatial(%vi in 32 = %i, %vj in 16 = %j) reduce(%vk in 64 = %k) {
      tensor_loop.init {
        %seven = arith.constant 7 : i32
        memref.store %seven, %C[%vi, %vj] : memref<32x16xi32>
      }
      %a = memref.load %A[%vi, %vk] : memref<32x64xi8>
      %aw = arith.extsi %a : i8 to i32
      %b = memref.load %B[%vk, %vj] : memref<64x16xi8>
      %bw = arith.extsi %b : i8 to i32
      %c = memref.load %C[%vi, %vj] : memref<32x16xi32>
      %p = arith.muli %aw, %bw : i32
      %s = arith.addi %c, %p : i32
      memref.store %s, %C[%vi, %vj] : memref<32x16xi32>
    }
  }
}

tensor_loop.func @no_columns(%A: memref<32x64xi8>, %B: memref<64x8xi8>) outs(%C: memref<32x8xi32>) {
  tensor_loop.grid (%i, %j, %k) in (32, 8, 64) {
    tensor_loop.block "matmul" spatial(%vi in 32 = %i, %vj in 8 = %j) reduce(%vk in 64 = %k) {
      tensor_loop.init {
        %zero = arith.constant 0 : i32
        memref.store %zero, %C[%vi, %vj] : memref<32x8xi32>
      }
      %a = memref.load %A[%vi, %vk] : memref<32x64xi8>
      %aw = arith.extsi %a : i8 to i32
      %b = memref.load %B[%vk, %vj] : memref<64x8xi8>
      %bw = arith.extsi %b : i8 to i32
      %c = memref.load %C[%vi, %vj] : memref<32x8xi32>
      %p = arith.muli %aw, %bw : i32
      %s = arith.addi %c, %p : i32
      memref.store %s, %C[%vi, %vj] : memref<32x8xi32>
    }
  }
}
