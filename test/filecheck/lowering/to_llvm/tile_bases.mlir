// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

/// Loop strength reduction does not see where a tile of many rows begins, and so leaves its addresses alone.
// CHECK-LABEL: @many_rows
func.func @many_rows(%m: memref<64x32xf32>, %out: memref<9x16xf32>, %i: index) {
  // CHECK: %[[P:.*]] = llvm.getelementptr inbounds %m[%{{.*}}]
  // CHECK-NEXT: %[[Q:.*]] = llvm.call_intrinsic "llvm.strip.invariant.group"(%[[P]]) : (!llvm.ptr) -> !llvm.ptr
  // CHECK-NEXT: llvm.load %[[Q]]
  // CHECK-COUNT-8: llvm.getelementptr inbounds %[[Q]][
  // CHECK-NOT: call_intrinsic
  // CHECK: llvm.return
  %c0 = arith.constant 0 : index
  %0 = tile.load %m[%i, %c0] : memref<64x32xf32>, vector<9x16xf32>
  tile.store %0, %out[%c0, %c0] : vector<9x16xf32>, memref<9x16xf32>
  func.return
}

/// LLVM is left to choose among a few addresses, and where they are constant distances from an argument.
// CHECK-LABEL: @no_few_rows
// CHECK-NOT: call_intrinsic
func.func @no_few_rows(%m: memref<64x32xf32>, %out: memref<8x16xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %m[%i, %c0] : memref<64x32xf32>, vector<8x16xf32>
  tile.store %0, %out[%c0, %c0] : vector<8x16xf32>, memref<8x16xf32>
  func.return
}
