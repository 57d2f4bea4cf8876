// RUN: stepwell-opt %s -p bufferize --split-input-file 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix WARNING --input-file %t
// RUN: stepwell-opt %s -p 'bufferize{in-place=false}' --split-input-file | filecheck %s --check-prefix APART

/// The result may lie where %x lies. Where a caller has two buffers, the entry begins with a copy.
// CHECK-LABEL: func.func @updated
// CHECK-SAME: %x: memref<4xf32> {stepwell.donated, stepwell.role = "input", stepwell.name = "x"}
// CHECK-SAME: %result0: memref<4xf32> {stepwell.role = "output", stepwell.name = "result0", stepwell.place_of = 1 : i64}
// CHECK-NEXT: %[[X:.*]] = "memref.extract_aligned_pointer_as_index"(%x)
// CHECK-NEXT: %[[Y:.*]] = "memref.extract_aligned_pointer_as_index"(%result0)
// CHECK-NEXT: %[[TWO:.*]] = arith.cmpi ne, %[[X]], %[[Y]] : index
// CHECK-NEXT: scf.if %[[TWO]] {
// CHECK-NEXT: "memref.copy"(%x, %result0)
// CHECK-NEXT: }
// CHECK-NEXT: tensor_loop.call @exp_in_place() outs(%result0)
// CHECK-NEXT: func.return
// APART-LABEL: func.func @updated
// APART-NOT: place_of
// APART: tensor_loop.call @exp(%x) outs(%result0)
func.func @updated(%other: tensor<4xf32>, %x: tensor<4xf32> {stepwell.donated}) -> tensor<4xf32> {
  %y = graph.call_kernel @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
tensor_loop.func private @exp(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "exp" spatial(%vi in 4 = %i) {
      %0 = memref.load %A[%vi] : memref<4xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %B[%vi] : memref<4xf32>
    }
  }
}

// -----

/// What is returned as it came needs no copy, and what reads it before it is overwritten reads the result.
// CHECK-LABEL: func.func @kept
// CHECK: "memref.copy"(%x, %result0)
// CHECK: "memref.copy"(%y, %result1)
// CHECK: tensor_loop.call @exp(%result1) outs(%result2)
// CHECK-NEXT: tensor_loop.call @exp_in_place() outs(%result1)
// CHECK-NEXT: func.return
func.func @kept(%x: tensor<4xf32> {stepwell.donated}, %y: tensor<4xf32> {stepwell.donated}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = graph.call_kernel @exp(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.call_kernel @exp(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %x, %b, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
tensor_loop.func private @exp(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "exp" spatial(%vi in 4 = %i) {
      %0 = memref.load %A[%vi] : memref<4xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %B[%vi] : memref<4xf32>
    }
  }
}

// -----

/// %x and %z are read last by a kernel that reads elements after others are written. What %y ends in is no result.
// CHECK-LABEL: func.func @no_place
// CHECK-NOT: place_of
// CHECK-NOT: memref.copy
// WARNING: donated.mlir:{{.*}}: warning: 'func.func': argument 'x' is donated, but no result takes its place
// WARNING: warning: 'func.func': argument 'y' is donated, but no result takes its place
// WARNING: warning: 'func.func': argument 'named' is donated, but no result takes its place
func.func @no_place(%x: tensor<4xf32> {stepwell.donated}, %y: tensor<4xf32> {stepwell.donated}, %z: tensor<4xf32> {stepwell.donated, stepwell.name = "named"}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = graph.call_kernel @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.call_kernel @exp(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.call_kernel @add(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = graph.call_kernel @turn(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.call_kernel @turn(%z) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %c, %d, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
tensor_loop.func private @exp(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "exp" spatial(%vi in 4 = %i) {
      %0 = memref.load %A[%vi] : memref<4xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %B[%vi] : memref<4xf32>
    }
  }
}
tensor_loop.func private @add(%A: memref<4xf32>, %B: memref<4xf32>) outs(%C: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "add" spatial(%vi in 4 = %i) {
      %0 = memref.load %A[%vi] : memref<4xf32>
      %1 = memref.load %B[%vi] : memref<4xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %C[%vi] : memref<4xf32>
    }
  }
}
tensor_loop.func private @turn(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "turn" spatial(%vi in 4 = %i) {
      %c3 = arith.constant 3 : index
      %from = arith.subi %c3, %vi : index
      %0 = memref.load %A[%from] : memref<4xf32>
      memref.store %0, %B[%vi] : memref<4xf32>
    }
  }
}
