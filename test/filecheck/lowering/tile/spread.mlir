// RUN: stepwell-opt %s -p 'lower-to-llvm-dialect{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'lower-to-llvm-dialect{target="x86-64-v3"}' | filecheck %s --check-prefix=SHIFT
// RUN: stepwell-opt %s -p 'lower-to-llvm-dialect{target="x86-64"}' | filecheck %s --check-prefix=PLAIN

/// A bf16 of A goes to all pairs of bytes. With AVX-512 a mask keeps the upper half of each word, with AVX2 a shift.
// CHECK-LABEL: llvm.func internal @product
// CHECK: %[[BITS:.*]] = llvm.inline_asm "", "=r,0" %{{.*}} : (i32) -> i32
// CHECK: %[[A:.*]] = llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK: %[[ALL:.*]] = llvm.shufflevector %{{.*}} : vector<32xi16>
// CHECK: %[[MASK:.*]] = llvm.bitcast %[[BITS]] : i32 to vector<32xi1>
// CHECK: %[[WORDS:.*]] = llvm_ext.select %[[MASK]], %[[ALL]], %{{.*}} : vector<32xi1>, vector<32xi16>
// CHECK: %[[F:.*]] = llvm.bitcast %[[WORDS]] : vector<32xi16> to vector<16xf32>
// CHECK: llvm.call_intrinsic "llvm.fmuladd"(%[[F]],
/// Eight lanes are no whole register there.
// CHECK: llvm.shufflevector %{{.*}} : vector<16xi16>
// CHECK: llvm.shl %{{.*}} : vector<8xi32>
// SHIFT-LABEL: llvm.func internal @product
// SHIFT-NOT: inline_asm
// SHIFT: %[[ALL:.*]] = llvm.shufflevector %{{.*}} : vector<32xi16>
// SHIFT: %[[WORDS:.*]] = llvm.bitcast %[[ALL]] : vector<32xi16> to vector<16xi32>
// SHIFT: llvm.shl %[[WORDS]]
/// Without AVX2 it goes through a general register.
// PLAIN-LABEL: llvm.func internal @product
// PLAIN: llvm.zext %{{.*}} : i16 to i32
// PLAIN-NOT: vector<32xi16>
func.func private @product(%t: memref<1x24xf32>, %a: memref<1x1xbf16>, %b: memref<1x24xf32>) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<1x24xf32>, vector<1x24xf32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0] depth 1 : vector<1x24xf32>, memref<1x1xbf16>, memref<1x24xf32>
  tile.store %1, %t[%c0, %c0] : vector<1x24xf32>, memref<1x24xf32>
  func.return
}

/// Two lanes fill no register, and an f16 is no half of an f32.
// CHECK-LABEL: llvm.func internal @no_words
// CHECK-NOT: llvm_ext.select
// CHECK-NOT: vector<4xi16>
// SHIFT-LABEL: llvm.func internal @no_words
// SHIFT-NOT: vector<4xi16>
func.func private @no_words(%t: memref<1x2xf32>, %u: memref<1x16xf32>, %a: memref<1x1xbf16>, %h: memref<1x1xf16>, %b: memref<1x16xf32>) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<1x2xf32>, vector<1x2xf32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0] depth 1 : vector<1x2xf32>, memref<1x1xbf16>, memref<1x16xf32>
  tile.store %1, %t[%c0, %c0] : vector<1x2xf32>, memref<1x2xf32>
  %2 = tile.load %u[%c0, %c0] : memref<1x16xf32>, vector<1x16xf32>
  %3 = tile.mma %2, %h[%c0, %c0], %b[%c0, %c0] depth 1 : vector<1x16xf32>, memref<1x1xf16>, memref<1x16xf32>
  tile.store %3, %u[%c0, %c0] : vector<1x16xf32>, memref<1x16xf32>
  func.return
}
