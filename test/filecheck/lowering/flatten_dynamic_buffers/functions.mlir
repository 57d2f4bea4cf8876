// RUN: stepwell-opt %s -p flatten-dynamic-buffers | filecheck %s
// RUN: stepwell-opt %s -p flatten-dynamic-buffers,flatten-dynamic-buffers | filecheck %s

/// Sizes, then strides, follow the buffer; they have roles where it has one. A second time nothing happens.
// CHECK: func.func @entry(%A: memref<?xf32, strided<[1]>> {stepwell.role = "input", stepwell.name = "A"}, %A_size0: index {stepwell.role = "size", stepwell.axis = 0 : i64}, %A_stride0: index {stepwell.role = "stride", stepwell.axis = 0 : i64}, %x: memref<4xf32> {stepwell.role = "output"}) {
func.func @entry(%A: memref<?x8xf32, strided<[?, 1], offset: ?>> {stepwell.role = "input"}, %x: memref<4xf32> {stepwell.role = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[M:.*]] = arith.constant 8 : index
  %n = memref.dim %A, %c0 : memref<?x8xf32, strided<[?, 1], offset: ?>>
  %m = memref.dim %A, %c1 : memref<?x8xf32, strided<[?, 1], offset: ?>>
  // CHECK: scf.for %i = %c0 to %A_size0 step %c1
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-NEXT: scf.for %k = %c0 to %[[M]] step %c1
    scf.for %k = %c0 to %m step %c1 {
      // CHECK-NEXT: %[[ROW:.*]] = arith.muli %i, %A_stride0 : index
      // CHECK-NEXT: %[[AT:.*]] = arith.addi %[[ROW]], %k : index
      // CHECK-NEXT: %a = memref.load %A[%[[AT]]] : memref<?xf32, strided<[1]>>
      %a = memref.load %A[%i, %k] : memref<?x8xf32, strided<[?, 1], offset: ?>>
      memref.store %a, %x[%k] : memref<4xf32>
    }
  }
  func.return
}

/// The strides of a row-major buffer follow from its sizes. Buffers of the function's own, and calls.
// CHECK: func.func @own(%A: memref<?xf32, strided<[1]>>, %A_size0: index, %A_size2: index, %i: index) {
// CHECK: %[[PLANE:.*]] = arith.muli %A_size2, %{{.*}} : index
func.func @own(%A: memref<?x4x?xf32>, %i: index) {
  // CHECK: %[[COUNT:.*]] = arith.muli %i, %{{.*}} : index
  // CHECK-NEXT: %T = memref.alloc(%[[COUNT]]) : memref<?xf32, strided<[1]>>
  %T = memref.alloc(%i) : memref<2x?xf32>
  // CHECK: memref.load %A
  %a = memref.load %A[%i, %i, %i] : memref<?x4x?xf32>
  // CHECK: memref.store %a, %T
  memref.store %a, %T[%i, %i] : memref<2x?xf32>
  // CHECK: func.call @callee(%T, %i) : (memref<?xf32, strided<[1]>>, index) -> ()
  func.call @callee(%T) : (memref<2x?xf32>) -> ()
  // CHECK: memref.dealloc %T : memref<?xf32, strided<[1]>>
  memref.dealloc %T : memref<2x?xf32>
  func.return
}

// CHECK: func.func private @callee(memref<?xf32, strided<[1]>>, index) -> ()
func.func private @callee(memref<2x?xf32>) -> ()

/// Nothing else changes.
// CHECK: func.func @static(%A: memref<4xf32>, %i: index) {
func.func @static(%A: memref<4xf32>, %i: index) {
  func.return
}
