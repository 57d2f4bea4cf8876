// RUN: stepwell-opt %s -p specialize-shapes --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @nothing_to_do
func.func @nothing_to_do() {
  func.return
}

// -----

tensor_loop.func private @k(%A: memref<?xf32>) outs(%B: memref<?xf32> {stepwell.dims = ["n"]}) {}
func.func @unknown(%a: tensor<5xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{the size of dimension 0 of result 0 does not follow from the operands of @k}}
  %y = graph.call_kernel @k(%a) : (tensor<5xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

tensor_loop.func private @k(%A: memref<?xf32> {stepwell.dims = ["n"]}) outs(%B: memref<?xf32> {stepwell.dims = ["= n // 2 - 3"]}) {}
func.func @negative(%a: tensor<5xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{@k: the size n // 2 - 3 is -1, where n is 5}}
  %y = graph.call_kernel @k(%a) : (tensor<5xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

tensor_loop.func private @k(%A: memref<?xf32>) outs(%B: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  tensor_loop.grid (%i) in (%n) {
    tensor_loop.block "copy" spatial(%vi in %n = %i) {
      %a = memref.load %A[%vi] : memref<?xf32>
      memref.store %a, %B[%vi] : memref<?xf32>
    }
  }
}
func.func @other(%a: tensor<5xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{the result has the shape 5 with the given sizes, declared is 3}}
  %y = graph.call_kernel @k(%a) : (tensor<5xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
