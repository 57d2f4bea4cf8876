// RUN: stepwell-opt %s -p guard-accesses | filecheck %s
// RUN: stepwell-opt %s -p guard-accesses,guard-accesses | filecheck %s --check-prefix=TWICE
// RUN: stepwell-opt %s -p guard-accesses --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: stepwell-opt %s -p lower-loops-to-scf | filecheck %s --check-prefix=LOWERED

/// A shadow of %T tells what has been written.
// CHECK-LABEL: @by_data
// CHECK-SAME: stepwell.written
// CHECK: %[[T:.*]] = tensor_loop.alloc : memref<8xf32>
// CHECK: %[[W:.*]] = tensor_loop.alloc : memref<8xi32>
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[W]][%{{.*}}] {stepwell.unchecked} : memref<8xi32>
// CHECK: memref.store %{{.*}}, %[[T]][%[[J:.*]]] : memref<8xf32>
// CHECK-NEXT: %[[SET:.*]] = arith.constant -1 : i32
// CHECK-NEXT: memref.store %[[SET]], %[[W]][%[[J]]] {stepwell.unchecked} : memref<8xi32>
// CHECK: memref.load %[[T]][%vk]
// CHECK-NEXT: %[[FOUND:.*]] = memref.load %[[W]][%vk] {stepwell.unchecked} : memref<8xi32>
// CHECK: %[[OK:.*]] = arith.cmpi eq, %[[FOUND]]
// CHECK-NEXT: cf.assert %[[OK]], "memref.load: element was never written"
// TWICE-LABEL: @by_data
// TWICE-COUNT-1: "memref.load: element was never written"
// TWICE-NOT: never written
// TWICE-LABEL: @half
// REMARK: remark: 'tensor_loop.func': @by_data: 1 read and 0 outputs checked for elements that nothing has written
// REMARK: remark: 'tensor_loop.func': @half: 0 reads and 1 output checked for elements that nothing has written
// LOWERED-LABEL: @by_data
// LOWERED: cf.assert %{{.*}}, "memref.load: element was never written"
tensor_loop.func @by_data(%A: memref<8xf32>, %I: memref<8xi64>) outs(%B: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  tensor_loop.for %i in 8 {
    tensor_loop.block "put" spatial(%vi in 8 = %i) {
      %x = memref.load %A[%vi] : memref<8xf32>
      %n = memref.load %I[%vi] : memref<8xi64>
      %j = arith.index_cast %n : i64 to index
      memref.store %x, %T[%j] : memref<8xf32>
    }
  }
  tensor_loop.for %k in 8 {
    tensor_loop.block "copy" spatial(%vk in 8 = %k) {
      %x = memref.load %T[%vk] : memref<8xf32>
      memref.store %x, %B[%vk] : memref<8xf32>
    }
  }
}

/// The end of the function asks for all of the output.
// CHECK-LABEL: @half
// CHECK: memref.store %{{.*}}, %B[%vi]
// CHECK: scf.for
// CHECK: cf.assert %{{.*}}, "tensor_loop.func: an element of %B was never written"
tensor_loop.func @half(%A: memref<8xf32>) outs(%B: memref<16xf32>) {
  tensor_loop.for %i in 8 {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %x = memref.load %A[%vi] : memref<8xf32>
      memref.store %x, %B[%vi] : memref<16xf32>
    }
  }
}

/// What is proven, what a block promises, and what the mark says.
// CHECK-LABEL: @no_proven
// CHECK-NOT: never written
tensor_loop.func @no_proven(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
  tensor_loop.for %i in 8 {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %x = memref.load %A[%vi] : memref<8xf32>
      memref.store %x, %B[%vi] : memref<8xf32>
    }
  }
}

tensor_loop.func @no_unchecked(%A: memref<8xf32>) outs(%B: memref<16xf32>) {
  tensor_loop.for %i in 8 {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) attributes {stepwell.unchecked} {
      %x = memref.load %A[%vi] : memref<8xf32>
      memref.store %x, %B[%vi] : memref<16xf32>
    }
  }
}

tensor_loop.func @no_marked(%A: memref<8xf32>) outs(%B: memref<16xf32>) attributes {stepwell.written} {
  tensor_loop.for %i in 8 {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %x = memref.load %A[%vi] : memref<8xf32>
      memref.store %x, %B[%vi] : memref<16xf32>
    }
  }
}
