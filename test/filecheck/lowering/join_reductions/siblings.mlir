// RUN: stepwell-opt %s -p lower-graph-to-loops,fuse-loops,inline-loops,join-reductions,inline-loops --split-input-file | filecheck %s

/// A maximum and a minimum read each element once. The epilogue of the first stays behind both.
// CHECK-LABEL: tensor_loop.func private @range
// CHECK-NEXT: tensor_loop.grid (%{{.*}}) in (8, 64)
// CHECK-NEXT: tensor_loop.block "max_min" spatial(%[[I:.*]] in 8 = %{{.*}}) reduce(%[[K:.*]] in 64 = %{{.*}}) reads(%x[%[[I]], %[[K]]]) writes(%out0[%[[I]]], %out1[%[[I]]])
// CHECK: init
// CHECK: memref.store %{{.*}}, %out0
// CHECK: memref.store %{{.*}}, %out1
// CHECK: %[[X:.*]] = memref.load %x[%[[I]], %[[K]]]
// CHECK-NOT: memref.load %x
// CHECK: arith.maximumf %{{.*}}, %[[X]]
// CHECK: arith.minimumf %{{.*}}, %[[X]]
// CHECK: tensor_loop.block "abs"
// CHECK-NOT: tensor_loop.block
func.func private @range(%x: tensor<8x64xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {graph.primitive} {
  %0 = graph.max %x, axis = [1] : (tensor<8x64xf32>) -> tensor<8xf32>
  %1 = graph.abs %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.min %x, axis = [1] : (tensor<8x64xf32>) -> tensor<8xf32>
  func.return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
func.func @use(%x: tensor<8x64xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0, %1 = func.call @range(%x) : (tensor<8x64xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

/// Three of them, one with its dimension kept, over a producer that is computed once: it is read once now.
// CHECK-LABEL: tensor_loop.func private @three
// CHECK-NOT: tensor_loop.alloc : memref<8x64xf32>
// CHECK: tensor_loop.block "sum_max_sum_1" {{.*}} reads(%x[%{{.*}}, %{{.*}}]) writes(%out0[%{{.*}}], %out1[%{{.*}}, 0], %out2[%{{.*}}])
// CHECK: %[[X:.*]] = memref.load %x
// CHECK: %[[E:.*]] = math.exp %[[X]]
// CHECK: arith.addf %{{.*}}, %[[E]]
// CHECK: arith.maximumf %{{.*}}, %[[E]]
// CHECK: %[[S:.*]] = arith.mulf %[[E]], %[[E]]
// CHECK: arith.addf %{{.*}}, %[[S]]
// CHECK-NOT: tensor_loop.block
func.func private @three(%x: tensor<8x64xf32>) -> (tensor<8xf32>, tensor<8x1xf32>, tensor<8xf32>) attributes {graph.primitive} {
  %e = graph.exp %x : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %0 = graph.sum %e, axis = [1] : (tensor<8x64xf32>) -> tensor<8xf32>
  %1 = graph.max %e, axis = [1], keepdims = true : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %q = graph.multiply %e, %e : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = graph.sum %q, axis = [1] : (tensor<8x64xf32>) -> tensor<8xf32>
  func.return %0, %1, %2 : tensor<8xf32>, tensor<8x1xf32>, tensor<8xf32>
}
func.func @use(%x: tensor<8x64xf32>) -> (tensor<8xf32>, tensor<8x1xf32>, tensor<8xf32>) {
  %0, %1, %2 = func.call @three(%x) : (tensor<8x64xf32>) -> (tensor<8xf32>, tensor<8x1xf32>, tensor<8xf32>)
  func.return %0, %1, %2 : tensor<8xf32>, tensor<8x1xf32>, tensor<8xf32>
}

// -----

/// The first one moves down where the second needs what is computed between.
// CHECK-LABEL: tensor_loop.func private @later
// CHECK: tensor_loop.block "w"
// CHECK: tensor_loop.block "max_sum" {{.*}} reads(%x[%[[I:.*]], %[[K:.*]]], %{{.*}}[%[[I]]])
// CHECK-NOT: tensor_loop.block
tensor_loop.func private @later(%x: memref<8x64xi32>, %s: memref<8xi32>) outs(%a: memref<8xi32>, %b: memref<8xi32>) {
  %w = tensor_loop.alloc : memref<8xi32>
  tensor_loop.grid (%i, %k) in (8, 64) {
    tensor_loop.block "max" spatial(%vi in 8 = %i) reduce(%vk in 64 = %k) {
      init {
        %c = arith.constant -2147483648 : i32
        memref.store %c, %a[%vi] : memref<8xi32>
      }
      %0 = memref.load %x[%vi, %vk] : memref<8x64xi32>
      %1 = memref.load %a[%vi] : memref<8xi32>
      %2 = arith.maxsi %1, %0 : i32
      memref.store %2, %a[%vi] : memref<8xi32>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "w" spatial(%vi in 8 = %i) {
      %0 = memref.load %s[%vi] : memref<8xi32>
      %1 = arith.muli %0, %0 : i32
      memref.store %1, %w[%vi] : memref<8xi32>
    }
  }
  tensor_loop.grid (%i, %k) in (8, 64) {
    tensor_loop.block "sum" spatial(%vi in 8 = %i) reduce(%vk in 64 = %k) {
      init {
        %c = arith.constant 0 : i32
        memref.store %c, %b[%vi] : memref<8xi32>
      }
      %0 = memref.load %x[%vi, %vk] : memref<8x64xi32>
      %w0 = memref.load %w[%vi] : memref<8xi32>
      %1 = memref.load %b[%vi] : memref<8xi32>
      %3 = arith.addi %0, %w0 : i32
      %2 = arith.addi %1, %3 : i32
      memref.store %2, %b[%vi] : memref<8xi32>
    }
  }
}
func.func @use(%x: tensor<8x64xi32>, %s: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %0, %1 = graph.call_kernel @later(%x, %s) : (tensor<8x64xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  func.return %0, %1 : tensor<8xi32>, tensor<8xi32>
}
