// RUN: stepwell-opt %s -p 'schedule-cpu{target="sapphire-rapids"}' | filecheck %s --check-prefix AMX
// RUN: stepwell-opt %s -p 'schedule-cpu{target="cascade-lake"}' | filecheck %s --check-prefix VNNI
// RUN: stepwell-opt %s -p 'schedule-cpu{target="x86-64-v3"}' | filecheck %s --check-prefix WORDS
// RUN: stepwell-opt %s -p 'schedule-cpu{target="aarch64-neon"}' | filecheck %s --check-prefix PLAIN
// RUN: stepwell-opt %s -p 'schedule-cpu{target="sapphire-rapids"},bufferize,lower-loops-to-scf,lower-to-llvm-dialect' -t 'asm{machine="sapphire-rapids"}' | filecheck %s --check-prefix ASM

// A window of 1x2 over 20 pixels: 16 are read where they lie, what the windows of the other four, and of twelve that are not there, reach from
// a copy. Both taps are added up in one go.

// AMX-LABEL: @columns
// AMX-DAG: %[[PANELS:.*]] = tensor_loop.alloc : memref<1x32x32x4xi8>
// AMX-DAG: %[[IMAGE:.*]] = tensor_loop.alloc : memref<3x17x64xi8>
// AMX: %[[ONE:.*]] = tile.mma %{{.*}}, %A[{{.*}}], %[[PANELS]][{{.*}}] along [1, 2] depth 16 groups using "amx" : vector<16x32xi32>
// AMX: %[[TWO:.*]] = tile.mma %[[ONE]], %A[{{.*}}], %[[PANELS]][{{.*}}] along [1, 2] depth 16 groups using "amx" : vector<16x32xi32>
// AMX: tile.store %[[TWO]]
// AMX: %[[THREE:.*]] = tile.mma %{{.*}}, %[[IMAGE]][{{.*}}], %[[PANELS]][{{.*}}] along [1, 2] depth 16 groups using "amx" : vector<4x32xi32>
// AMX: tile.mma %[[THREE]], %[[IMAGE]]

// Bytes with the other sign, a loop over the taps with the sums in registers.
// VNNI-LABEL: @columns
// VNNI: block "shift"
// VNNI: scf.for
// VNNI: tile.mma %{{.*}} depth 4 groups unsigned using "vpdpbusd"

// The image is copied, and its bytes are extended to 16 bits on the way.
// WORDS-LABEL: @columns
// WORDS: %image = tensor_loop.alloc : memref<3x21x64xi16>
// WORDS: block "extend"
// WORDS: arith.extsi %{{.*}} : i8 to i16
// WORDS: tile.mma %{{.*}}, %image[{{.*}} depth 1 groups using "vex.vpmaddwd"

// PLAIN-LABEL: @columns
// PLAIN: tile.mma
// PLAIN-NOT: using

// The sums stay in their registers from tap to tap.
// ASM-LABEL: columns:
// ASM: tilezero %tmm1
// ASM: tdpbssd %tmm6, %tmm4, %tmm0
// ASM-NOT: tilestored
// ASM-NOT: tilezero
// ASM: tdpbssd %tmm6, %tmm4, %tmm0
// ASM: tilestored %tmm0
tensor_loop.func @columns(%A: memref<3x21x64xi8>, %B: memref<2x64x32xi8>) outs(%C: memref<3x20x32xi32>) {
  tensor_loop.grid (%y, %x, %o, %s, %k) in (3, 20, 32, 2, 64) {
    tensor_loop.block "conv" spatial(%vy in 3 = %y, %vx in 20 = %x, %vo in 32 = %o) reduce(%vs in 2 = %s, %vk in 64 = %k) {
      tensor_loop.init {
        %zero = arith.constant 0 : i32
        memref.store %zero, %C[%vy, %vx, %vo] : memref<3x20x32xi32>
      }
      %at = arith.addi %vx, %vs : index
      %a = memref.load %A[%vy, %at, %vk] : memref<3x21x64xi8>
      %aw = arith.extsi %a : i8 to i32
      %b = memref.load %B[%vs, %vk, %vo] : memref<2x64x32xi8>
      %bw = arith.extsi %b : i8 to i32
      %c = memref.load %C[%vy, %vx, %vo] : memref<3x20x32xi32>
      %p = arith.muli %aw, %bw : i32
      %r = arith.addi %c, %p : i32
      memref.store %r, %C[%vy, %vx, %vo] : memref<3x20x32xi32>
    }
  }
}

// 32 pixels of 64 channels: no copy.

// AMX-LABEL: @whole
// AMX: tensor_loop.alloc : memref<1x48x32x4xi8>
// AMX-NOT: tensor_loop.alloc
// AMX: tile.mma %{{.*}}, %A[
// AMX: tile.mma %{{.*}}, %A[
// AMX: tile.mma %{{.*}}, %A[
// AMX-NOT: tile.mma

tensor_loop.func @whole(%A: memref<3x34x64xi8>, %B: memref<3x64x32xi8>) outs(%C: memref<3x32x32xi32>) {
  tensor_loop.grid (%y, %x, %o, %s, %k) in (3, 32, 32, 3, 64) {
    tensor_loop.block "conv" spatial(%vy in 3 = %y, %vx in 32 = %x, %vo in 32 = %o) reduce(%vs in 3 = %s, %vk in 64 = %k) {
      tensor_loop.init {
        %zero = arith.constant 0 : i32
        memref.store %zero, %C[%vy, %vx, %vo] : memref<3x32x32xi32>
      }
      %at = arith.addi %vx, %vs : index
      %a = memref.load %A[%vy, %at, %vk] : memref<3x34x64xi8>
      %aw = arith.extsi %a : i8 to i32
      %b = memref.load %B[%vs, %vk, %vo] : memref<3x64x32xi8>
      %bw = arith.extsi %b : i8 to i32
      %c = memref.load %C[%vy, %vx, %vo] : memref<3x32x32xi32>
      %p = arith.muli %aw, %bw : i32
      %r = arith.addi %c, %p : i32
      memref.store %r, %C[%vy, %vx, %vo] : memref<3x32x32xi32>
    }
  }
}
