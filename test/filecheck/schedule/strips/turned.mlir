// RUN: stepwell-opt %s -p to-loops,plan-schedules --config target=x86-64-v4 --split-input-file | filecheck %s --check-prefix=PLAN
// RUN: stepwell-opt %s -p to-loops,plan-schedules,apply-schedule-plan --config target=x86-64-v4 --split-input-file | filecheck %s

/// Keys are turned on the way into panels, head by head before its strips. The last 12 of 76 columns come row by row.
/// The tiles of the second product prefetch what the next head reads.
// PLAN: tensor_loop.block "permute_dims" {{.*}} attributes {stepwell.tiling = #schedule.left_out<"matmul">
// CHECK-LABEL: tensor_loop.func private @attention
// CHECK-NOT: tensor_loop.block "permute_dims"
// CHECK: tensor_loop.for %{{.*}} in 8 parallel {
// CHECK: tensor_loop.block "pack" {{.*}} reads(%k[0, %{{.*}} * 16 : 16, %{{.*}}, %{{.*}} * 16 : 16])
// CHECK: tile.transpose
// CHECK: tensor_loop.block "pack_1" {{.*}} reads(%k[
// CHECK-NOT: tile.transpose
// CHECK: tensor_loop.for %{{.*}} in 2 {
// CHECK: tensor_loop.block "matmul"
// CHECK-NOT: tile.prefetch
// CHECK: tensor_loop.block "matmul_1_1"
// CHECK: tile.prefetch %q[{{.*}}] ahead 3200 count 32 second
// CHECK: tile.prefetch %k[{{.*}}] ahead 32 count 32 second
// CHECK: tile.prefetch %v[{{.*}}] ahead 1216 count 16 second
// CHECK: scf.for
func.func private @attention(%q: tensor<1x8x100x32xf32>, %k: tensor<1x76x8x32xf32>, %v: tensor<1x8x76x16xf32>) -> tensor<1x8x100x16xf32> attributes {graph.primitive} {
  %kt = graph.permute_dims %k, axes = [0, 2, 3, 1] : (tensor<1x76x8x32xf32>) -> tensor<1x8x32x76xf32>
  %0 = graph.matmul %q, %kt : (tensor<1x8x100x32xf32>, tensor<1x8x32x76xf32>) -> tensor<1x8x100x76xf32>
  %1 = graph.softmax %0 : (tensor<1x8x100x76xf32>) -> tensor<1x8x100x76xf32>
  %2 = graph.matmul %1, %v : (tensor<1x8x100x76xf32>, tensor<1x8x76x16xf32>) -> tensor<1x8x100x16xf32>
  func.return %2 : tensor<1x8x100x16xf32>
}

func.func @main(%q: tensor<1x8x100x32xf32>, %k: tensor<1x76x8x32xf32>, %v: tensor<1x8x76x16xf32>) -> tensor<1x8x100x16xf32> {
  %0 = func.call @attention(%q, %k, %v) : (tensor<1x8x100x32xf32>, tensor<1x76x8x32xf32>, tensor<1x8x76x16xf32>) -> tensor<1x8x100x16xf32>
  func.return %0 : tensor<1x8x100x16xf32>
}

// -----

/// A head of 20 elements is no whole number of tiles, so the keys are turned by a kernel of its own.
// PLAN: tensor_loop.block "permute_dims" {{.*}} attributes {stepwell.tiling = #schedule.transpose
// CHECK-LABEL: tensor_loop.func private @no_tiles
// CHECK: tensor_loop.block "permute_dims"
func.func private @no_tiles(%q: tensor<1x8x100x20xf32>, %k: tensor<1x76x8x20xf32>, %v: tensor<1x8x76x16xf32>) -> tensor<1x8x100x16xf32> attributes {graph.primitive} {
  %kt = graph.permute_dims %k, axes = [0, 2, 3, 1] : (tensor<1x76x8x20xf32>) -> tensor<1x8x20x76xf32>
  %0 = graph.matmul %q, %kt : (tensor<1x8x100x20xf32>, tensor<1x8x20x76xf32>) -> tensor<1x8x100x76xf32>
  %1 = graph.softmax %0 : (tensor<1x8x100x76xf32>) -> tensor<1x8x100x76xf32>
  %2 = graph.matmul %1, %v : (tensor<1x8x100x76xf32>, tensor<1x8x76x16xf32>) -> tensor<1x8x100x16xf32>
  func.return %2 : tensor<1x8x100x16xf32>
}

func.func @main(%q: tensor<1x8x100x20xf32>, %k: tensor<1x76x8x20xf32>, %v: tensor<1x8x76x16xf32>) -> tensor<1x8x100x16xf32> {
  %0 = func.call @no_tiles(%q, %k, %v) : (tensor<1x8x100x20xf32>, tensor<1x76x8x20xf32>, tensor<1x8x76x16xf32>) -> tensor<1x8x100x16xf32>
  func.return %0 : tensor<1x8x100x16xf32>
}
