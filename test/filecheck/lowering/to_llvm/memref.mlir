// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

// CHECK: llvm.mlir.global internal constant @table(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>)
// CHECK-SAME: alignment = 64
// CHECK-SAME: !llvm.array<2 x f32>
"memref.global"() <{sym_name = "table", sym_visibility = "private", type = memref<2xf32>,
  initial_value = dense<[1.0, 2.0]> : tensor<2xf32>, constant}> : () -> ()

/// One getelementptr per element on a linear index; the alignment is that of the element.
// CHECK-LABEL: @access
func.func @access(%m: memref<4x5xf64>, %i: index, %j: index) {
  // CHECK-SAME: (%[[M:.*]]: !llvm.ptr, %[[I:.*]]: i64, %[[J:.*]]: i64)
  // CHECK-NEXT: %[[K:.*]] = llvm.mlir.constant(5) : i64
  // CHECK-NEXT: %[[R:.*]] = llvm.mul %[[I]], %[[K]] overflow<nsw,nuw> : i64
  // CHECK-NEXT: %[[L:.*]] = llvm.add %[[R]], %[[J]] overflow<nsw,nuw> : i64
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr inbounds %[[M]][%[[L]]] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  // CHECK-NEXT: %[[V:.*]] = llvm.load %[[P]] {alignment = 8 : i64} : !llvm.ptr -> f64
  // CHECK-NEXT: llvm.store %[[V]], %[[P]] {alignment = 8 : i64} : f64, !llvm.ptr
  // CHECK-NEXT: llvm.return
  %v = memref.load %m[%i, %j] : memref<4x5xf64>
  memref.store %v, %m[%i, %j] : memref<4x5xf64>
  func.return
}

/// Constant indices are folded into the instruction; element 0 needs none.
// CHECK-LABEL: @constant_access
func.func @constant_access(%m: memref<4x5xf64>) -> f64 {
  // CHECK-SAME: (%[[M:.*]]: !llvm.ptr)
  // CHECK: %[[P:.*]] = llvm.getelementptr inbounds %[[M]][7] : (!llvm.ptr) -> !llvm.ptr, f64
  // CHECK-NEXT: llvm.load %[[P]]
  // CHECK-NEXT: llvm.load %[[M]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %v = memref.load %m[%c1, %c2] : memref<4x5xf64>
  %w = memref.load %m[%c0, %c0] : memref<4x5xf64>
  %s = arith.addf %v, %w : f64
  func.return %s : f64
}

/// Booleans are bytes.
// CHECK-LABEL: @booleans
func.func @booleans(%m: memref<i1>) {
  // CHECK: %[[B:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> i8
  // CHECK: %[[V:.*]] = llvm.icmp "ne" %[[B]], %{{.*}} : i8
  // CHECK-NEXT: %[[W:.*]] = llvm.zext %[[V]] : i1 to i8
  // CHECK-NEXT: llvm.store %[[W]], %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr
  %v = memref.load %m[] : memref<i1>
  memref.store %v, %m[] : memref<i1>
  func.return
}

// CHECK-LABEL: @views
func.func @views(%arena: memref<1024xi8>) -> f32 {
  // CHECK-SAME: (%[[A:.*]]: !llvm.ptr)
  // CHECK: %[[V:.*]] = llvm.getelementptr inbounds %[[A]][128] : (!llvm.ptr) -> !llvm.ptr, i8
  // CHECK-NEXT: %[[S:.*]] = llvm.getelementptr inbounds %[[V]][12] : (!llvm.ptr) -> !llvm.ptr, f32
  // CHECK-NEXT: %[[E:.*]] = llvm.getelementptr inbounds %[[S]][17] : (!llvm.ptr) -> !llvm.ptr, f32
  // CHECK-NEXT: llvm.load %[[E]]
  %shift = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %v = memref.view %arena[%shift][] : memref<1024xi8> to memref<4x8xf32>
  %s = memref.subview %v[1, 4] [2, 2] [2, 1] : memref<4x8xf32> to memref<2x2xf32, strided<[16, 1], offset: 12>>
  %e = memref.load %s[%c1, %c1] : memref<2x2xf32, strided<[16, 1], offset: 12>>
  func.return %e : f32
}

/// Heap memory is checked; stack memory lies at the start of the function.
// CHECK-LABEL: @buffers
func.func @buffers(%n: index) {
  // CHECK: %[[N:.*]] = llvm.mlir.constant(6) : i64
  // CHECK-NEXT: llvm.alloca %[[N]] x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  // CHECK: %[[H:.*]] = llvm.call @aligned_alloc(%{{.*}}, %{{.*}}) : (i64, i64) -> !llvm.ptr
  // CHECK: llvm.cond_br
  // CHECK: llvm.call @free(%[[H]])
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = memref.alloc() : memref<100xf32>
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.alloca() : memref<2x3xf32>
    %v = memref.load %h[%i] : memref<100xf32>
    memref.store %v, %s[%c1, %c1] : memref<2x3xf32>
  }
  memref.dealloc %h : memref<100xf32>
  func.return
}

// CHECK-LABEL: @global_and_copy
func.func @global_and_copy(%m: memref<2xf32>) {
  // CHECK: %[[G:.*]] = llvm.mlir.addressof @table : !llvm.ptr
  // CHECK-NEXT: %[[N:.*]] = llvm.mlir.constant(8) : i64
  // CHECK: llvm.call_intrinsic "llvm.memmove"(%{{.*}}, %[[G]], %[[N]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i1) -> ()
  %g = memref.get_global @table : memref<2xf32>
  "memref.copy"(%g, %m) : (memref<2xf32>, memref<2xf32>) -> ()
  func.return
}
