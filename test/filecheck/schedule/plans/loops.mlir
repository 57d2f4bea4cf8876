// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v3"}' | filecheck %s --check-prefix NARROW
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v4"},plan-schedules{target="x86-64-v3"}' | filecheck %s

/// Loops that a schedule has made stay, and get no tiling.
// CHECK-LABEL: tensor_loop.func @no_grid(
// CHECK: tensor_loop.block "copy"
// CHECK-NOT: stepwell.tiling
tensor_loop.func @no_grid(%A: memref<8xf32>) outs(%C: memref<8xf32>) {
  tensor_loop.for %i in 8 {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      memref.store %a, %C[%vi] : memref<8xf32>
    }
  }
}

/// Five kernels over the same rows: each row stays in a cache. What the maximum passes over depends on the registers.
// CHECK-LABEL: tensor_loop.func private @softmax(
// CHECK: tensor_loop.block "softmax_max" {{.*}}stepwell.tiling = #schedule.order<[0, 1], vectorized>
// CHECK-SAME: stepwell.rows_at_once = 4 : i64, stepwell.maximum = "nan", stepwell.share = 100000 : i64
// CHECK-SAME: stepwell.rows_at_once = "one row goes on while the sums of another are waited for"
// CHECK: tensor_loop.block "softmax_exp" {{.*}}stepwell.rows = 1 : i64
// CHECK-SAME: stepwell.rows = "each row of \22softmax_max\22 is used while it is in a cache"
// CHECK: tensor_loop.block "softmax_sum" {{.*}}stepwell.rows = 1 : i64
// CHECK: tensor_loop.block "softmax_scale" {{.*}}stepwell.rows = 1 : i64
// CHECK: tensor_loop.block "softmax" {{.*}}stepwell.rows = 1 : i64
// NARROW-LABEL: tensor_loop.func private @softmax(
// NARROW: tensor_loop.block "softmax_max" {{.*}}stepwell.maximum = "zeros"
func.func @soft(%x: tensor<2048x120xf32>) -> tensor<2048x120xf32> {
  %y = graph.softmax %x, axis = -1 : (tensor<2048x120xf32>) -> tensor<2048x120xf32>
  func.return %y : tensor<2048x120xf32>
}

/// Rows become columns.
// CHECK-LABEL: tensor_loop.func private @permute_dims(
// CHECK: tensor_loop.block "permute_dims" {{.*}}stepwell.tiling = #schedule.transpose<side = 4>
func.func @turned(%x: tensor<200x136xf32>) -> tensor<136x200xf32> {
  %y = graph.permute_dims %x, axes = [1, 0] : (tensor<200x136xf32>) -> tensor<136x200xf32>
  func.return %y : tensor<136x200xf32>
}

/// A call per element has no vector form.
// CHECK-LABEL: tensor_loop.func private @erf(
// CHECK: tensor_loop.block "erf" {{.*}}stepwell.tiling = #schedule.order<[0]>
// CHECK-SAME: stepwell.tiling = "each element calls a function of the C library"
func.func @no_vectors(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %y = graph.erf %x : (tensor<4x8xf64>) -> tensor<4x8xf64>
  func.return %y : tensor<4x8xf64>
}
