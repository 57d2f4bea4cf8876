// RUN: stepwell-opt %s -p flatten-dynamic-buffers | filecheck %s

/// A buffer of known sizes is handed over with its sizes.
// CHECK-LABEL: func.func @to_open(%x: memref<2x3xf32>) {
// CHECK-NEXT:    %[[N:.*]] = arith.constant 6 : index
// CHECK-NEXT:    %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT:    %[[C3:.*]] = arith.constant 3 : index
// CHECK-NEXT:    %[[A:.*]] = memref.reinterpret_cast %x to offset: [0], sizes: [%[[N]]], strides: [1] : memref<2x3xf32> to memref<?xf32, strided<[1]>>
// CHECK-NEXT:    func.call @open(%[[A]], %[[C2]], %[[C3]])
func.func @to_open(%x: memref<2x3xf32>) {
  %a = "memref.cast"(%x) : (memref<2x3xf32>) -> memref<?x?xf32>
  func.call @open(%a) : (memref<?x?xf32>) -> ()
  func.return
}

/// Sizes that only the result knows are checked, and strides of dimensions with more than one element.
// CHECK-LABEL: func.func @to_known(%x: memref<?xf32, strided<[1]>>, %x_size0: index, %x_stride0: index, %x_stride1: index) {
// CHECK-NEXT:    %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT:    %[[EQ:.*]] = arith.cmpi eq, %x_size0, %[[C2]] : index
// CHECK-NEXT:    cf.assert %[[EQ]], "memref.cast: a size is not that of the type"
// CHECK-NEXT:    %[[C3:.*]] = arith.constant 3 : index
// CHECK-NEXT:    %[[EQ0:.*]] = arith.cmpi eq, %x_stride0, %[[C3]] : index
// CHECK-NEXT:    cf.assert %[[EQ0]], "memref.cast: a stride is not that of the type"
// CHECK-NEXT:    %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[EQ1:.*]] = arith.cmpi eq, %x_stride1, %[[C1]] : index
// CHECK-NEXT:    cf.assert %[[EQ1]], "memref.cast: a stride is not that of the type"
// CHECK-NEXT:    %[[A:.*]] = memref.reinterpret_cast %x to offset: [0], sizes: [2, 3], strides: [3, 1] : memref<?xf32, strided<[1]>> to memref<2x3xf32>
// CHECK-NEXT:    func.call @known(%[[A]])
func.func @to_known(%x: memref<?x3xf32, strided<[?, ?]>>) {
  %a = "memref.cast"(%x) : (memref<?x3xf32, strided<[?, ?]>>) -> memref<2x3xf32>
  func.call @known(%a) : (memref<2x3xf32>) -> ()
  func.return
}

/// A stride of a dimension that has one element at most does not matter.
// CHECK-LABEL: func.func @rows(
// CHECK:         %[[ONE:.*]] = arith.cmpi ult, %x_size0, %{{.*}} : index
// CHECK-NEXT:    %[[OK:.*]] = arith.ori %{{.*}}, %[[ONE]] : i1
// CHECK-NEXT:    cf.assert %[[OK]], "memref.cast: a stride is not that of the type"
func.func @rows(%x: memref<?xf32, strided<[?]>>) {
  %a = "memref.cast"(%x) : (memref<?xf32, strided<[?]>>) -> memref<?xf32>
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  func.return
}

func.func private @open(memref<?x?xf32>)
func.func private @known(memref<2x3xf32>)
