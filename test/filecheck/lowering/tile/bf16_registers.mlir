// RUN: stepwell-opt %s -p 'lower-to-llvm-dialect{target="sapphire-rapids"}' | filecheck %s
// RUN: stepwell-opt %s -p 'lower-to-llvm-dialect{target="x86-64-v4"}' | filecheck %s --check-prefix=PLAIN
// RUN: stepwell-opt %s -p 'lower-to-llvm-dialect{target="x86-64-v3"}' | filecheck %s --check-prefix=NARROW

/// Registers are extended by a permutation of bytes, and rounded in pairs, without vcvtneps2bf16.
// CHECK-LABEL: llvm.func internal @map
// CHECK: inline_asm
// CHECK-COUNT-2: "llvm.x86.avx512.permvar.qi.512"
// CHECK-COUNT-2: "llvm.x86.avx512.mask.fixupimm.ps.512"
// CHECK-COUNT-2: llvm.shufflevector
// CHECK: "llvm.x86.avx512.pavg.w.512"
// CHECK-NOT: fixupimm

/// Without VBMI they are extended by a shift, and without AVX-512 rounded one by one.
// PLAIN-LABEL: llvm.func internal @map
// PLAIN-NOT: permvar
// PLAIN: llvm.shl
// PLAIN: "llvm.x86.avx512.mask.fixupimm.ps.512"
// NARROW-LABEL: llvm.func internal @map
// NARROW-NOT: avx512
// NARROW: llvm.return
func.func private @map(%x: memref<32xbf16>) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%c0] : memref<32xbf16>, vector<1x32xbf16>
  %1 = tile.map(%2 = %0) : (vector<1x32xbf16>) -> vector<1x32xbf16> {
    %3 = arith.extf %2 : bf16 to f32
    %4 = arith.mulf %3, %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    tile.yield %5 : bf16
  }
  tile.store %1, %x[%c0] : vector<1x32xbf16>, memref<32xbf16>
  func.return
}

/// A row that does not fill a register is converted as a vector of any other type.
// CHECK-LABEL: llvm.func internal @no_whole_register
// CHECK-NOT: avx512
// CHECK: llvm.return
func.func private @no_whole_register(%x: memref<8xbf16>) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%c0] : memref<8xbf16>, vector<1x8xbf16>
  %1 = tile.map(%2 = %0) : (vector<1x8xbf16>) -> vector<1x8xbf16> {
    %3 = arith.extf %2 : bf16 to f32
    %4 = arith.mulf %3, %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    tile.yield %5 : bf16
  }
  tile.store %1, %x[%c0] : vector<1x8xbf16>, memref<8xbf16>
  func.return
}
