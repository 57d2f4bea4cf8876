// RUN: stepwell-opt %s -p 'specialize-shapes{main="3x4,4"}' | filecheck %s
// RUN: stepwell-opt %s -p specialize-shapes | filecheck %s --check-prefix=KNOWN

/// A loop function with `?` gets a copy per tuple of shapes that calls give it. Sizes become numbers in it.
// CHECK-LABEL: tensor_loop.func @k(%A: memref<?x?xf32>
// CHECK:       tensor_loop.func private @k_0(%A: memref<3x4xf32>, %x: memref<4xf32>) outs(%B: memref<4xf32>) {
// CHECK:         %T = tensor_loop.alloc : memref<3xf32>
// CHECK-NEXT:    tensor_loop.grid (%i) in (3) {
// CHECK-NEXT:      tensor_loop.block "first" spatial(%vi in 3 = %i) reads(%A[%vi, 0]) writes(%T[%vi]) {
// CHECK:         tensor_loop.grid (%j) in (4) {
// CHECK-NEXT:      tensor_loop.block "second" spatial(%vj in 4 = %j) reads(%x[%vj], %T[0]) writes(%B[%vj]) {
// CHECK:       func.func @main(%a: tensor<3x4xf32>, %x: tensor<4xf32> {stepwell.dims = ["m"]}) -> tensor<4xf32> {
// CHECK-NEXT:    %[[Y:.*]] = graph.call_kernel @k_0(%a, %x) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[Z:.*]] = graph.exp %[[Y]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %[[Z]] : tensor<4xf32>

/// Without shapes the functions that have no `?` are done.
// KNOWN:       tensor_loop.func private @k_0(%A: memref<2x5xf32>, %x: memref<5xf32>) outs(%B: memref<5xf32>)
// KNOWN:       graph.call_kernel @k(%a, %x) : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?xf32>
// KNOWN:       func.func @known
// KNOWN-NEXT:    graph.call_kernel @k_0(%a, %x) : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<5xf32>
// KNOWN-NEXT:    graph.call_kernel @k_0(%a, %x) : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<5xf32>
// KNOWN-NEXT:    func.return %0, %1 : tensor<5xf32>, tensor<5xf32>
tensor_loop.func @k(%A: memref<?x?xf32> {stepwell.dims = ["n", "m"]}, %x: memref<?xf32> {stepwell.dims = ["m"]}) outs(%B: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : memref<?x?xf32>
  %m = memref.dim %A, %c1 : memref<?x?xf32>
  %T = tensor_loop.alloc(%n) : memref<?xf32>
  tensor_loop.grid (%i) in (%n) {
    tensor_loop.block "first" spatial(%vi in %n = %i) {
      %a = memref.load %A[%vi, %c0] : memref<?x?xf32>
      memref.store %a, %T[%vi] : memref<?xf32>
    }
  }
  tensor_loop.grid (%j) in (%m) {
    tensor_loop.block "second" spatial(%vj in %m = %j) {
      %b = memref.load %x[%vj] : memref<?xf32>
      %t = memref.load %T[%c0] : memref<?xf32>
      %s = arith.addf %b, %t : f32
      memref.store %s, %B[%vj] : memref<?xf32>
    }
  }
}

func.func @main(%a: tensor<?x?xf32>, %x: tensor<?xf32> {stepwell.dims = ["m"]}) -> tensor<?xf32> {
  %y = graph.call_kernel @k(%a, %x) : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %z = graph.exp %y : (tensor<?xf32>) -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}

func.func @known(%a: tensor<2x5xf32>, %x: tensor<5xf32>) -> (tensor<5xf32>, tensor<?xf32>) {
  %0 = graph.call_kernel @k(%a, %x) : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %1 = graph.call_kernel @k(%a, %x) : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<?xf32>
  func.return %0, %1 : tensor<5xf32>, tensor<?xf32>
}
