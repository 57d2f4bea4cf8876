// RUN: stepwell-opt %s -p eliminate-common-subexpr | filecheck %s

/// A block of a loop nest sees the values of its function, none of the loops around it.
// CHECK-LABEL: tensor_loop.func @blocks
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: tensor_loop.grid
// CHECK-NEXT: arith.constant 2.000000e+00 : f32
// CHECK-NEXT: tensor_loop.block "add"
// CHECK: %[[A:.*]] = memref.load
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[ONE]] : f32
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[S]], %[[TWO]] : f32
// CHECK-NEXT: arith.addf %[[T]], %[[TWO]] : f32
tensor_loop.func @blocks(%A: memref<8xf32>) outs(%C: memref<8xf32>) {
  %uno = arith.constant 1.0 : f32
  tensor_loop.grid (%i) in (8) {
    %zwei = arith.constant 2.0 : f32
    tensor_loop.block "add" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      %three = arith.constant 2.0 : f32
      %s = arith.addf %a, %one : f32
      %t = arith.mulf %s, %two : f32
      %u = arith.addf %t, %three : f32
      memref.store %u, %C[%vi] : memref<8xf32>
    }
  }
}
