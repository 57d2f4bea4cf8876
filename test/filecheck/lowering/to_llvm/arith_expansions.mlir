// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

/// floor(a / b) = trunc(a / b) - 1 where the remainder is not 0 and the signs differ.
// CHECK-LABEL: @floor_division
func.func @floor_division(%a: i32, %b: i32) -> i32 {
  // CHECK-SAME: (%[[A:.*]]: i32, %[[B:.*]]: i32)
  // CHECK-NEXT: %[[Q:.*]] = llvm.sdiv %[[A]], %[[B]]
  // CHECK-NEXT: %[[R:.*]] = llvm.srem %[[A]], %[[B]]
  // CHECK-NEXT: %[[Z:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK-NEXT: %[[N:.*]] = llvm.icmp "ne" %[[R]], %[[Z]]
  // CHECK-NEXT: %[[X:.*]] = llvm.xor %[[A]], %[[B]]
  // CHECK-NEXT: %[[S:.*]] = llvm.icmp "slt" %[[X]], %[[Z]]
  // CHECK-NEXT: %[[C:.*]] = llvm.and %[[N]], %[[S]]
  // CHECK-NEXT: %[[D:.*]] = llvm.zext %[[C]] : i1 to i32
  // CHECK-NEXT: llvm.sub %[[Q]], %[[D]]
  %0 = arith.floordivsi %a, %b : i32
  func.return %0 : i32
}

// CHECK-LABEL: @ceil_division_unsigned
func.func @ceil_division_unsigned(%a: i32, %b: i32) -> i32 {
  // CHECK: llvm.udiv
  // CHECK-NEXT: llvm.urem
  // CHECK-NOT: llvm.xor
  // CHECK: llvm.add
  %0 = arith.ceildivui %a, %b : i32
  func.return %0 : i32
}

// CHECK-LABEL: @extended
func.func @extended(%a: i32, %b: i32) -> (i32, i1, i32) {
  // CHECK: %[[P:.*]] = llvm.call_intrinsic "llvm.uadd.with.overflow"(%{{.*}}) : (i32, i32) -> !llvm.struct<(i32, i1)>
  // CHECK-NEXT: llvm.extractvalue %[[P]][0]
  // CHECK-NEXT: llvm.extractvalue %[[P]][1]
  // CHECK-NEXT: llvm.sext %{{.*}} : i32 to i64
  // CHECK-NEXT: llvm.sext %{{.*}} : i32 to i64
  // CHECK-NEXT: %[[W:.*]] = llvm.mul
  // CHECK: llvm.lshr %[[W]]
  // CHECK: llvm.trunc
  %0, %1 = arith.addui_extended %a, %b : i32, i1
  %low, %high = arith.mulsi_extended %a, %b : i32
  func.return %0, %1, %high : i32, i1, i32
}

/// f32 to bf16 is integer arithmetic: no library call.
// CHECK-LABEL: @to_bf16
func.func @to_bf16(%a: f32) -> bf16 {
  // CHECK: %[[B:.*]] = llvm.bitcast %{{.*}} : f32 to i32
  // CHECK-NOT: fptrunc
  // CHECK: llvm.fcmp "uno"
  // CHECK: llvm.bitcast %{{.*}} : i16 to bf16
  %0 = arith.truncf %a : f32 to bf16
  func.return %0 : bf16
}

/// A bf16 is the upper half of an f32.
// CHECK-LABEL: @from_bf16
func.func @from_bf16(%a: bf16) -> f32 {
  // CHECK-SAME: (%[[A:.*]]: bf16)
  // CHECK-NEXT: %[[S:.*]] = llvm.bitcast %[[A]] : bf16 to i16
  // CHECK-NEXT: %[[W:.*]] = llvm.zext %[[S]] : i16 to i32
  // CHECK-NEXT: %[[K:.*]] = llvm.mlir.constant(16 : i32)
  // CHECK-NEXT: %[[U:.*]] = llvm.shl %[[W]], %[[K]]
  // CHECK-NEXT: %[[R:.*]] = llvm.bitcast %[[U]] : i32 to f32
  // CHECK-NEXT: llvm.return %[[R]]
  %0 = arith.extf %a : bf16 to f32
  func.return %0 : f32
}

/// f64 to f16 goes through an f32 rounded to odd, so that it is rounded once.
// CHECK-LABEL: @f64_to_f16
func.func @f64_to_f16(%a: f64) -> f16 {
  // CHECK: %[[N:.*]] = llvm.fptrunc %[[A:.*]] : f64 to f32
  // CHECK-NEXT: %[[E:.*]] = llvm.fpext %[[N]] : f32 to f64
  // CHECK-NEXT: llvm.fcmp "one" %[[E]], %[[A]]
  // CHECK: %[[O:.*]] = llvm.bitcast %{{.*}} : i32 to f32
  // CHECK-NEXT: llvm.fptrunc %[[O]] : f32 to f16
  %0 = arith.truncf %a : f64 to f16
  func.return %0 : f16
}
