// RUN: stepwell-opt %s -p lower-graph-to-loops,fuse-loops,join-reductions --split-input-file | filecheck %s

/// One goes over rows, the other over columns.
// CHECK-LABEL: tensor_loop.func private @no_other_axes
// CHECK: tensor_loop.block "max"
// CHECK: tensor_loop.block "min"
func.func private @no_other_axes(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {graph.primitive} {
  %0 = graph.max %x, axis = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %1 = graph.min %x, axis = [0] : (tensor<8x8xf32>) -> tensor<8xf32>
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func @use(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0, %1 = func.call @no_other_axes(%x) : (tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

/// They read different tensors.
// CHECK-LABEL: tensor_loop.func private @no_other_tensor
// CHECK: tensor_loop.block "max"
// CHECK: tensor_loop.block "min"
func.func private @no_other_tensor(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {graph.primitive} {
  %0 = graph.max %x, axis = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %1 = graph.min %y, axis = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func @use(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0, %1 = func.call @no_other_tensor(%x, %y) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

/// The sum needs the maximum.
// CHECK-LABEL: tensor_loop.func private @no_softmax
// CHECK: tensor_loop.block "softmax_max"
// CHECK: tensor_loop.block "softmax_sum"
func.func private @no_softmax(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {graph.primitive} {
  %0 = graph.softmax %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %0 : tensor<8x8xf32>
}
func.func @use(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = func.call @no_softmax(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %0 : tensor<8x8xf32>
}

// -----

/// Two products read one matrix at each element several times: they are tiled, not joined.
// CHECK-LABEL: tensor_loop.func private @no_products
// CHECK: tensor_loop.block "matmul"
// CHECK: tensor_loop.block "matmul_1"
func.func private @no_products(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {graph.primitive} {
  %0 = graph.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.matmul %x, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func @use(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0, %1 = func.call @no_products(%x, %w, %v) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  func.return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

/// A sum and a mean add up the same numbers. LLVM makes one sum of them, and then finds no vectors.
// CHECK-LABEL: tensor_loop.func private @no_equal_sums
// CHECK: tensor_loop.block "sum"
// CHECK: tensor_loop.block "mean_sum"
func.func private @no_equal_sums(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x1xf32>) attributes {graph.primitive} {
  %0 = graph.sum %x, axis = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %1 = graph.mean %x, axis = [1], keepdims = true : (tensor<8x8xf32>) -> tensor<8x1xf32>
  func.return %0, %1 : tensor<8xf32>, tensor<8x1xf32>
}
func.func @use(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x1xf32>) {
  %0, %1 = func.call @no_equal_sums(%x) : (tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x1xf32>)
  func.return %0, %1 : tensor<8xf32>, tensor<8x1xf32>
}

// -----

/// The sum of floats may not be regrouped here, the maximum may.
// CHECK-LABEL: tensor_loop.func private @no_kept_order
// CHECK: tensor_loop.block "max"
// CHECK: tensor_loop.block "sum"
tensor_loop.func private @no_kept_order(%x: memref<64xf32>) outs(%a: memref<f32>, %b: memref<f32>) {
  tensor_loop.grid (%k) in (64) {
    tensor_loop.block "max" reduce(%vk in 64 = %k) {
      init {
        %c = arith.constant 0xff800000 : f32
        memref.store %c, %a[] : memref<f32>
      }
      %0 = memref.load %x[%vk] : memref<64xf32>
      %1 = memref.load %a[] : memref<f32>
      %2 = arith.maximumf %1, %0 : f32
      memref.store %2, %a[] : memref<f32>
    }
  }
  tensor_loop.grid (%k) in (64) {
    tensor_loop.block "sum" reduce(%vk in 64 = %k) {
      init {
        %c = arith.constant 0.0 : f32
        memref.store %c, %b[] : memref<f32>
      }
      %0 = memref.load %x[%vk] : memref<64xf32>
      %1 = memref.load %b[] : memref<f32>
      %2 = arith.addf %1, %0 : f32
      memref.store %2, %b[] : memref<f32>
    }
  }
}

// -----

/// What is between them writes the tensor, or may fail before it.
// CHECK-LABEL: tensor_loop.func private @no_write_between
// CHECK: tensor_loop.block "max"
// CHECK: tensor_loop.block "clear"
// CHECK: tensor_loop.block "min"
// CHECK: cf.assert
// CHECK: tensor_loop.block "min_2"
tensor_loop.func private @no_write_between(%x: memref<64xi32>) outs(%a: memref<i32>, %b: memref<i32>, %c: memref<i32>) {
  %t = tensor_loop.alloc : memref<64xi32>
  tensor_loop.grid (%i) in (64) {
    tensor_loop.block "copy" spatial(%vi in 64 = %i) {
      %0 = memref.load %x[%vi] : memref<64xi32>
      memref.store %0, %t[%vi] : memref<64xi32>
    }
  }
  tensor_loop.grid (%k) in (64) {
    tensor_loop.block "max" reduce(%vk in 64 = %k) {
      init {
        %0 = arith.constant 0 : i32
        memref.store %0, %a[] : memref<i32>
      }
      %0 = memref.load %t[%vk] : memref<64xi32>
      %1 = memref.load %a[] : memref<i32>
      %2 = arith.maxsi %1, %0 : i32
      memref.store %2, %a[] : memref<i32>
    }
  }
  tensor_loop.block "clear" {
    %0 = arith.constant 0 : i32
    %1 = arith.constant 7 : index
    memref.store %0, %t[%1] : memref<64xi32>
  }
  tensor_loop.grid (%k) in (64) {
    tensor_loop.block "min" reduce(%vk in 64 = %k) {
      init {
        %0 = arith.constant 0 : i32
        memref.store %0, %b[] : memref<i32>
      }
      %0 = memref.load %t[%vk] : memref<64xi32>
      %1 = memref.load %b[] : memref<i32>
      %2 = arith.minsi %1, %0 : i32
      memref.store %2, %b[] : memref<i32>
    }
  }
  tensor_loop.block "check" {
    %0 = memref.load %b[] : memref<i32>
    %1 = arith.constant 0 : i32
    %2 = arith.cmpi sle, %0, %1 : i32
    cf.assert %2, "check: positive"
  }
  tensor_loop.grid (%k) in (64) {
    tensor_loop.block "min_2" reduce(%vk in 64 = %k) {
      init {
        %0 = arith.constant 0 : i32
        memref.store %0, %c[] : memref<i32>
      }
      %0 = memref.load %t[%vk] : memref<64xi32>
      %1 = memref.load %c[] : memref<i32>
      %2 = arith.minsi %1, %0 : i32
      memref.store %2, %c[] : memref<i32>
    }
  }
}

// -----

/// A grid whose block asks for a schedule stays.
// CHECK-LABEL: tensor_loop.func private @no_given_schedule
// CHECK: tensor_loop.block "max"
// CHECK: tensor_loop.block "min"
tensor_loop.func private @no_given_schedule(%x: memref<64xi32>) outs(%a: memref<i32>, %b: memref<i32>) {
  tensor_loop.grid (%k) in (64) {
    tensor_loop.block "max" reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.order<[0]>} {
      init {
        %0 = arith.constant 0 : i32
        memref.store %0, %a[] : memref<i32>
      }
      %0 = memref.load %x[%vk] : memref<64xi32>
      %1 = memref.load %a[] : memref<i32>
      %2 = arith.maxsi %1, %0 : i32
      memref.store %2, %a[] : memref<i32>
    }
  }
  tensor_loop.grid (%k) in (64) {
    tensor_loop.block "min" reduce(%vk in 64 = %k) {
      init {
        %0 = arith.constant 0 : i32
        memref.store %0, %b[] : memref<i32>
      }
      %0 = memref.load %x[%vk] : memref<64xi32>
      %1 = memref.load %b[] : memref<i32>
      %2 = arith.minsi %1, %0 : i32
      memref.store %2, %b[] : memref<i32>
    }
  }
}
