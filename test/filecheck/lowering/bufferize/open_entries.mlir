// RUN: stepwell-opt %s -p bufferize | filecheck %s

/// The sizes of outputs that a block fills from end to end are computed from those of inputs, which get names.
// CHECK-LABEL: tensor_loop.func @filled(%A: memref<?x4xf32> {stepwell.dims = ["A_0", ""], stepwell.role = "input"})
// CHECK-SAME:    outs(%B: memref<?xf32> {stepwell.dims = ["= A_0 + 1"], stepwell.role = "output"}, %C: memref<?x4xf32> {stepwell.dims = ["A_0", ""], stepwell.role = "output"})
// CHECK-SAME:    attributes {stepwell.signature = (tensor<?x4xf32>) -> (tensor<?xf32>, tensor<?x4xf32>)}
tensor_loop.func @filled(%A: memref<?x4xf32>) outs(%B: memref<?xf32>, %C: memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %A, %c0 : memref<?x4xf32>
  %m = arith.addi %n, %c1 : index
  tensor_loop.grid (%i) in (%m) {
    tensor_loop.block "b" spatial(%vi in %m = %i) {
      memref.store %zero, %B[%vi] : memref<?xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (%n, 4) {
    tensor_loop.block "c" spatial(%vi in %n = %i, %vj in 4 = %j) {
      memref.store %zero, %C[%vi, %vj] : memref<?x4xf32>
    }
  }
}

/// A store that a condition decides about, one beside the start, and a diagonal say nothing.
// CHECK-LABEL: tensor_loop.func @unknown(%A: memref<?xf32> {stepwell.role = "input"})
// CHECK-SAME:    outs(%B: memref<?xf32> {stepwell.role = "output"}, %C: memref<?xf32> {stepwell.role = "output"}, %D: memref<?x?xf32> {stepwell.role = "output"})
tensor_loop.func @unknown(%A: memref<?xf32>) outs(%B: memref<?xf32>, %C: memref<?xf32>, %D: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  tensor_loop.grid (%i) in (%n) {
    tensor_loop.block "all" spatial(%vi in %n = %i) {
      %a = memref.load %A[%vi] : memref<?xf32>
      %first = arith.cmpi slt, %vi, %c1 : index
      scf.if %first {
        memref.store %a, %B[%vi] : memref<?xf32>
      }
      %next = arith.addi %vi, %c1 : index
      memref.store %a, %C[%next] : memref<?xf32>
      memref.store %a, %D[%vi, %vi] : memref<?x?xf32>
    }
  }
}

/// Names of inputs stay, and what they say about outputs. A name that no input has gives way to the stores.
// CHECK-LABEL: tensor_loop.func @named(%A: memref<?xf32> {stepwell.dims = ["n"], stepwell.role = "input"})
// CHECK-SAME:    outs(%B: memref<?xf32> {stepwell.dims = ["n"], stepwell.role = "output"}, %C: memref<?xf32> {stepwell.dims = ["= n + 0"], stepwell.role = "output"})
tensor_loop.func @named(%A: memref<?xf32> {stepwell.dims = ["n"]}) outs(%B: memref<?xf32> {stepwell.dims = ["k"]}, %C: memref<?xf32> {stepwell.dims = ["= n + 0"]}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  tensor_loop.grid (%i) in (%n) {
    tensor_loop.block "copy" spatial(%vi in %n = %i) {
      %a = memref.load %A[%vi] : memref<?xf32>
      memref.store %a, %B[%vi] : memref<?xf32>
      memref.store %a, %C[%vi] : memref<?xf32>
    }
  }
}
