// RUN: %roundtrip
// RUN: %generic

tensor_loop.func @negate(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "negate" spatial(%vi in 4 = %i) {
      %a = memref.load %A[%vi] : memref<4xf32>
      %b = arith.negf %a : f32
      memref.store %b, %B[%vi] : memref<4xf32>
    }
  }
}

/// Unsigned integers are held as signless ones, booleans as bytes.
tensor_loop.func @flags(%A: memref<4xi8>, %M: memref<4xi8>) outs(%B: memref<4xi8>, %C: memref<i64>) {
}

// CHECK-LABEL: @call
// GENERIC-LABEL: sym_name = "call"
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %y = graph.call_kernel @negate(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: %y = "graph.call_kernel"(%x) <{callee = @negate}> : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.call_kernel @negate(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: graph.call_kernel @negate(%y) {my.tag = "kept"} : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC-NEXT: "graph.call_kernel"(%y) <{callee = @negate}> {my.tag = "kept"} : (tensor<4xf32>) -> tensor<4xf32>
  %z = graph.call_kernel @negate(%y) {my.tag = "kept"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// CHECK-LABEL: @storage
// GENERIC-LABEL: sym_name = "storage"
func.func @storage(%x: tensor<4xui8>, %m: tensor<4xi1>) -> (tensor<4xi1>, tensor<ui64>) {
  // CHECK: graph.call_kernel @flags(%x, %m) : (tensor<4xui8>, tensor<4xi1>) -> (tensor<4xi1>, tensor<ui64>)
  // GENERIC: "graph.call_kernel"(%x, %m) <{callee = @flags}> : (tensor<4xui8>, tensor<4xi1>) -> (tensor<4xi1>, tensor<ui64>)
  %a, %b = graph.call_kernel @flags(%x, %m) : (tensor<4xui8>, tensor<4xi1>) -> (tensor<4xi1>, tensor<ui64>)
  func.return %a, %b : tensor<4xi1>, tensor<ui64>
}
