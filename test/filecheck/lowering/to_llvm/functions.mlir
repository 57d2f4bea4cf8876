// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s
// RUN: stepwell-opt %s -p lower-to-llvm-dialect,lower-to-llvm-dialect | filecheck %s
// RUN: stepwell-opt %s -p lower-to-llvm-dialect -t llvm-ir | filecheck %s --check-prefix=TEXT

// CHECK: stepwell.checks = ["take: index out of range|{{.*}}functions.mlir:14:3"]

/// A check returns its number early; the caller passes it on.
// CHECK-LABEL: @kernel
// CHECK-SAME: {llvm.noalias}
// CHECK-SAME: -> i32
// TEXT: define internal i32 @kernel(ptr noalias %{{.*}}, i1 %{{.*}}) nounwind {
func.func private @kernel(%m: memref<4xf32>, %ok: i1) attributes {stepwell.noalias} {
  // CHECK: %[[K:.*]] = llvm.mlir.constant(1 : i32) : i32
  cf.assert %ok, "take: index out of range"
  // CHECK-NEXT: llvm.cond_br %{{.*}}, ^[[ON:.*]], ^[[FAIL:.*]](%[[K]] : i32)
  // CHECK-NEXT: ^[[ON]]:
  // CHECK-NEXT: %[[Z:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NEXT: llvm.return %[[Z]] : i32
  // CHECK-NEXT: ^[[FAIL]](%[[S:.*]]: i32):
  // CHECK-NEXT: llvm.return %[[S]] : i32
  func.return
}

// CHECK-LABEL: llvm.func internal @main
// CHECK-SAME: {stepwell.role = "input", llvm.noalias, llvm.align = 4 : i64, llvm.nonnull}
// CHECK-SAME: {stepwell.role = "arena", stepwell.bytes = 64 : i64, llvm.noalias, llvm.align = 64 : i64, llvm.nonnull}
// CHECK-SAME: -> i32
// CHECK-SAME: stepwell.signature = (tensor<4xf32>) -> ()
func.func @main(%x: memref<4xf32> {stepwell.role = "input"},
                %a: memref<64xi8> {stepwell.role = "arena", stepwell.bytes = 64 : i64})
    attributes {stepwell.signature = (tensor<4xf32>) -> ()} {
  // CHECK: %[[T:.*]] = llvm.mlir.constant(true) : i1
  // CHECK-NEXT: %[[S:.*]] = llvm.call @kernel(%{{.*}}, %[[T]]) : (!llvm.ptr, i1) -> i32
  // CHECK-NEXT: %[[Z:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NEXT: %[[F:.*]] = llvm.icmp "ne" %[[S]], %[[Z]] : i32
  // CHECK-NEXT: llvm.cond_br %[[F]], ^[[FAIL:.*]](%[[S]] : i32), ^[[ON:.*]]
  %t = arith.constant true
  func.call @kernel(%x, %t) : (memref<4xf32>, i1) -> ()
  func.return
}

/// The entry point takes an array of pointers.
// CHECK-LABEL: llvm.func @_stepwell_entry_main(
// CHECK-SAME: -> i32 attributes {stepwell.function = @main
// CHECK-NEXT: %[[X:.*]] = llvm.load %[[ARGS:.*]] {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: %[[P:.*]] = llvm.getelementptr inbounds %[[ARGS]][1]
// CHECK-NEXT: %[[A:.*]] = llvm.load %[[P]] {alignment = 8 : i64}
// CHECK-NEXT: %[[S:.*]] = llvm.call @main(%[[X]], %[[A]]) : (!llvm.ptr, !llvm.ptr) -> i32
// CHECK-NEXT: llvm.return %[[S]] : i32
// TEXT: define i32 @_stepwell_entry_main(ptr %[[ARGS:.*]]) nounwind {

/// Several results are one struct; a public function without roles keeps its name.
// CHECK-LABEL: llvm.func @pair
// CHECK-SAME: -> !llvm.struct<(i64, f32)>
// CHECK-NEXT: %[[U:.*]] = llvm.mlir.undef
// CHECK-NEXT: %[[V:.*]] = llvm.insertvalue %{{.*}}, %[[U]][0]
// CHECK-NEXT: %[[W:.*]] = llvm.insertvalue %{{.*}}, %[[V]][1]
// CHECK-NEXT: llvm.return %[[W]]
// TEXT: define { i64, float } @pair(i64 %{{.*}}, float %{{.*}}) nounwind {
func.func @pair(%a: index, %b: f32) -> (index, f32) {
  func.return %a, %b : index, f32
}

/// A declaration stays external.
// CHECK-LABEL: llvm.func @outside(!llvm.ptr) -> i64
// TEXT: declare i64 @outside(ptr)
func.func private @outside(%m: memref<4xf32>) -> index
