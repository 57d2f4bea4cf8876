// RUN: stepwell-opt %s -p expand-math,lower-to-llvm-dialect | filecheck %s
// RUN: stepwell-opt %s -p expand-math,lower-to-llvm-dialect -t llvm-ir | filecheck %s --check-prefix=TEXT

// CHECK: llvm.mlir.global internal constant @table({{.*}}) {{.*}} : !llvm.array<3 x i8>
// TEXT: @table = internal constant [3 x i8] c"8\B0~", align 64
"memref.global"() <{sym_name = "table", sym_visibility = "private", type = memref<3xf8E4M3FN>,
  initial_value = dense<[1.0, -0.5, 448.0]> : tensor<3xf8E4M3FN>, constant}> : () -> ()

/// Bytes, wherever they are.
// CHECK-LABEL: llvm.func @moves(%a: !llvm.ptr, %v: vector<4xi8>, %y: i8, %c: i1, %i: i64) -> i8
// TEXT-LABEL: define i8 @moves(ptr %a.0, <4 x i8> %v.1, i8 %y.2, i1 %c.3, i64 %i.4)
func.func @moves(%a: memref<4xf8E5M2>, %v: vector<4xf8E5M2>, %y: f8E5M2, %c: i1, %i: index) -> f8E5M2 {
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  // CHECK-NEXT: %[[X:.*]] = llvm.load %[[P]] {alignment = 1 : i64} : !llvm.ptr -> i8
  // CHECK-NEXT: %[[Z:.*]] = llvm.select %c, %[[X]], %y : i1, i8
  // CHECK-NEXT: llvm.store %[[Z]], %[[P]] {alignment = 1 : i64} : i8, !llvm.ptr
  // CHECK-NEXT: llvm.store %v, %[[P]] {alignment = 1 : i64} : vector<4xi8>, !llvm.ptr
  // CHECK-NEXT: llvm.return %[[Z]] : i8
  %x = memref.load %a[%i] : memref<4xf8E5M2>
  %z = arith.select %c, %x, %y : f8E5M2
  memref.store %z, %a[%i] : memref<4xf8E5M2>
  vector.store %v, %a[%i] : memref<4xf8E5M2>, vector<4xf8E5M2>
  func.return %z : f8E5M2
}

/// A literal has the bits of its float.
// CHECK-LABEL: llvm.func @no_float_is_left
func.func @no_float_is_left(%x: f8E4M3FN) -> i1 {
  // CHECK: llvm.mlir.constant(56 : i8) : i8
  // CHECK-NOT: f8E4M3FN
  // CHECK: llvm.fcmp "oeq"
  // CHECK-NEXT: llvm.return
  %one = arith.constant 1.0 : f8E4M3FN
  %0 = arith.cmpf oeq, %x, %one : f8E4M3FN
  func.return %0 : i1
}
