// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

// The operands after the bounds go into a frame, which the task takes apart; the status of the pool is looked at where a part may
// fail.

// CHECK: llvm.func internal @part(
// CHECK: llvm.func internal @part.task(%[[FRAME:[a-z]+]]: !llvm.ptr, %[[LOWER:[a-z_0-9]+]]: i64, %[[UPPER:[a-z_0-9]+]]: i64) -> i32
// CHECK: %[[X:[0-9]+]] = llvm.load %[[FRAME]] {{.*}} -> !llvm.ptr
// CHECK: %[[F:[0-9]+]] = llvm.load {{.*}} -> f32
// CHECK: %[[STATUS:[0-9]+]] = llvm.call @part(%[[LOWER]], %[[UPPER]], %[[X]], %[[F]])
// CHECK: llvm.return %[[STATUS]] : i32
func.func private @part(%lower: index, %upper: index, %x: memref<64xf32>, %f: f32) attributes {stepwell.task} {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %lower to %upper step %c1 {
    %fine = arith.cmpi ult, %i, %c9 : index
    cf.assert %fine, "too far"
    memref.store %f, %x[%i] : memref<64xf32>
  }
  func.return
}

// CHECK: llvm.func @caller
// CHECK: %[[FRAME:[0-9]+]] = llvm.alloca
// CHECK: llvm.store %{{.*}}, %[[FRAME]]
// CHECK: %[[TASK:[0-9]+]] = llvm.mlir.addressof @part.task
// CHECK-NEXT: %[[CHUNK:[0-9]+]] = llvm.mlir.constant(16) : i64
// CHECK-NEXT: %[[STATUS:[0-9]+]] = llvm.call @_stepwell_parallel(%[[TASK]], %[[FRAME]], %c0, %c64, %[[CHUNK]])
// CHECK: llvm.icmp "ne" %[[STATUS]]
// CHECK: llvm.func @_stepwell_parallel
func.func @caller(%x: memref<64xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  func.call @part(%c0, %c64, %x, %f) {stepwell.chunk = 16 : i64} : (index, index, memref<64xf32>, f32) -> ()
  func.return
}
