// RUN: stepwell-opt %s -p bufferize --split-input-file | filecheck %s

/// The last use of %a, and each element is read before it is written: %b lies where %a lies, and so does %a in the buffer
/// of the result. The kernel has one argument less; nobody calls the other any more.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: stepwell.role = "arena"
// CHECK: tensor_loop.call @first(%x) outs(%result0)
// CHECK-NEXT: tensor_loop.call @add_in_place(%x) outs(%result0) : (memref<4xf32>) outs(memref<4xf32>)
// CHECK-NOT: @add(
// CHECK: tensor_loop.func private @add_in_place(%B: memref<4xf32>) outs(%C: memref<4xf32> {stepwell.in_place}) {
// CHECK: reads(%C[%vi], %B[%vi]) writes(%C[%vi])
// CHECK: memref.load %C[%vi]
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.call_kernel @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.call_kernel @add(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
tensor_loop.func private @first(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "first" spatial(%vi in 4 = %i) {
      %0 = memref.load %A[%vi] : memref<4xf32>
      memref.store %0, %B[%vi] : memref<4xf32>
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

// -----

/// %b may not take the place of %a, which is read again, %a not that of %x, which is not ours to write. %c may: both kernels
/// stay. What is returned twice is copied.
// CHECK-LABEL: func.func @no_operand_alive
// CHECK: tensor_loop.call @exp(%x) outs(%result1)
// CHECK: tensor_loop.call @exp(%result1) outs(%result0)
// CHECK: tensor_loop.call @exp_in_place() outs(%result1)
// CHECK: "memref.copy"(%result1, %result2)
// CHECK: tensor_loop.func private @exp(%A
// CHECK: tensor_loop.func private @exp_in_place() outs(%B
func.func @no_operand_alive(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = graph.call_kernel @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.call_kernel @exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.call_kernel @exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b, %c, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
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

/// Reversing reads elements that it has written; so does a step to the neighbour.
// CHECK-LABEL: func.func @no_other_element
// CHECK: tensor_loop.call @reverse(
// CHECK: tensor_loop.call @shift(
// CHECK-NOT: in_place
func.func @no_other_element(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.call_kernel @reverse(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.call_kernel @shift(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.call_kernel @reverse(%b) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
tensor_loop.func private @reverse(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "reverse" spatial(%vi in 4 = %i) {
      %three = arith.constant 3 : index
      %from = arith.subi %three, %vi : index
      %0 = memref.load %A[%from] : memref<4xf32>
      memref.store %0, %B[%vi] : memref<4xf32>
    }
  }
}
tensor_loop.func private @shift(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 3 {
    tensor_loop.block "shift" spatial(%vi in 3 = %i) {
      %one = arith.constant 1 : index
      %to = arith.addi %one, %vi : index
      %0 = memref.load %A[%vi] : memref<4xf32>
      memref.store %0, %B[%to] : memref<4xf32>
    }
  }
}

// -----

/// A row is written once all of it has been read, and rows are apart. The rows of @columns cross its columns.
// CHECK-LABEL: func.func @rows
// CHECK: tensor_loop.call @rows_kernel_in_place(
// CHECK: tensor_loop.call @columns(
func.func @rows(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = graph.call_kernel @columns(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = graph.call_kernel @rows_kernel(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = graph.call_kernel @columns(%b) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}
tensor_loop.func private @rows_kernel(%A: memref<4x8xf32>) outs(%B: memref<4x8xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.for %i in 4 {
    tensor_loop.for %k in 8 {
      tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
        init {
          %zero = arith.constant 0.0 : f32
          memref.store %zero, %T[%vi] : memref<4xf32>
        }
        %0 = memref.load %A[%vi, %vk] : memref<4x8xf32>
        %1 = memref.load %T[%vi] : memref<4xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %T[%vi] : memref<4xf32>
      }
    }
    tensor_loop.for %j in 8 vectorized {
      tensor_loop.block "divide" spatial(%vi in 4 = %i, %vj in 8 = %j) {
        %0 = memref.load %A[%vi, %vj] : memref<4x8xf32>
        %1 = memref.load %T[%vi] : memref<4xf32>
        %2 = arith.divf %0, %1 : f32
        memref.store %2, %B[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}
tensor_loop.func private @columns(%A: memref<4x8xf32>) outs(%B: memref<4x8xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.for %i in 4 {
    tensor_loop.for %k in 8 {
      tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
        init {
          %zero = arith.constant 0.0 : f32
          memref.store %zero, %T[%vi] : memref<4xf32>
        }
        %first = arith.constant 0 : index
        %0 = memref.load %A[%first, %vk] : memref<4x8xf32>
        %1 = memref.load %T[%vi] : memref<4xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %T[%vi] : memref<4xf32>
      }
    }
    tensor_loop.for %j in 8 vectorized {
      tensor_loop.block "divide" spatial(%vi in 4 = %i, %vj in 8 = %j) {
        %1 = memref.load %T[%vi] : memref<4xf32>
        memref.store %1, %B[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}

// -----

/// The sum is written before the residual is read.
// CHECK-LABEL: func.func @no_read_after_write
// CHECK: tensor_loop.call @late(%a) outs(%result0)
func.func @no_read_after_write(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.call_kernel @late(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.call_kernel @late(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
tensor_loop.func private @late(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "one" spatial(%vi in 4 = %i) {
      %one = arith.constant 1.0 : f32
      memref.store %one, %B[%vi] : memref<4xf32>
    }
    tensor_loop.block "late" spatial(%vi in 4 = %i) {
      %0 = memref.load %A[%vi] : memref<4xf32>
      %1 = memref.load %B[%vi] : memref<4xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %B[%vi] : memref<4xf32>
    }
  }
}

// -----

/// Branches share bytes: only one of them runs. A loop keeps what it reads from outside until its end.
// CHECK-LABEL: func.func @branches
// CHECK-SAME: stepwell.bytes = 64 : i64, stepwell.live_bytes = 64 : i64
func.func @branches(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = scf.if %c -> (tensor<4xf32>) {
    %a = graph.call_kernel @reverse(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    %a = graph.call_kernel @reverse(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
tensor_loop.func private @reverse(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "reverse" spatial(%vi in 4 = %i) {
      %three = arith.constant 3 : index
      %from = arith.subi %three, %vi : index
      %0 = memref.load %A[%from] : memref<4xf32>
      memref.store %0, %B[%vi] : memref<4xf32>
    }
  }
}
