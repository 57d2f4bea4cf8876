// RUN: stepwell-opt %s -p to-loops,plan-schedules,apply-schedule-plan --config target=x86-64-v4 --split-input-file | filecheck %s

/// Values of 100 keys are read where they are: rows of 256 bytes, 768 bytes apart, are in all sets of the second-level
/// cache. Keys are turned into panels.
// CHECK-LABEL: tensor_loop.func private @attention
// CHECK: %[[KEYS:packed[_0-9]*]] = tensor_loop.alloc
// CHECK-NOT: %packed{{.*}} = tensor_loop.alloc
// CHECK: tile.mma {{.*}}, %q{{.*}} %[[KEYS]][
// CHECK: tile.mma {{.*}}, %p[{{.*}}], %v[
func.func private @attention(%q: tensor<1x3x96x64xf32>, %k: tensor<1x100x3x64xf32>, %v: tensor<1x100x3x64xf32>) -> tensor<1x3x96x64xf32> attributes {graph.primitive} {
  %kt = graph.permute_dims %k, axes = [0, 2, 3, 1] : (tensor<1x100x3x64xf32>) -> tensor<1x3x64x100xf32>
  %vt = graph.permute_dims %v, axes = [0, 2, 1, 3] : (tensor<1x100x3x64xf32>) -> tensor<1x3x100x64xf32>
  %n = graph.matmul %q, %kt : (tensor<1x3x96x64xf32>, tensor<1x3x64x100xf32>) -> tensor<1x3x96x100xf32>
  %p = graph.softmax %n : (tensor<1x3x96x100xf32>) -> tensor<1x3x96x100xf32>
  %y = graph.matmul %p, %vt : (tensor<1x3x96x100xf32>, tensor<1x3x100x64xf32>) -> tensor<1x3x96x64xf32>
  func.return %y : tensor<1x3x96x64xf32>
}

func.func @main(%q: tensor<1x3x96x64xf32>, %k: tensor<1x100x3x64xf32>, %v: tensor<1x100x3x64xf32>) -> tensor<1x3x96x64xf32> {
  %y = func.call @attention(%q, %k, %v) : (tensor<1x3x96x64xf32>, tensor<1x100x3x64xf32>, tensor<1x100x3x64xf32>) -> tensor<1x3x96x64xf32>
  func.return %y : tensor<1x3x96x64xf32>
}

// -----

/// Rows of 300 keys that are 4096 bytes apart share few sets, and would need more than half of the ways.
// CHECK-LABEL: tensor_loop.func private @no_room
// CHECK: %packed = tensor_loop.alloc
// CHECK: %packed_1 = tensor_loop.alloc
// CHECK: tile.mma {{.*}}, %p[{{.*}}], %packed_1[
func.func private @no_room(%q: tensor<1x16x96x64xf32>, %k: tensor<1x300x16x64xf32>, %v: tensor<1x300x16x64xf32>) -> tensor<1x16x96x64xf32> attributes {graph.primitive} {
  %kt = graph.permute_dims %k, axes = [0, 2, 3, 1] : (tensor<1x300x16x64xf32>) -> tensor<1x16x64x300xf32>
  %vt = graph.permute_dims %v, axes = [0, 2, 1, 3] : (tensor<1x300x16x64xf32>) -> tensor<1x16x300x64xf32>
  %n = graph.matmul %q, %kt : (tensor<1x16x96x64xf32>, tensor<1x16x64x300xf32>) -> tensor<1x16x96x300xf32>
  %p = graph.softmax %n : (tensor<1x16x96x300xf32>) -> tensor<1x16x96x300xf32>
  %y = graph.matmul %p, %vt : (tensor<1x16x96x300xf32>, tensor<1x16x300x64xf32>) -> tensor<1x16x96x64xf32>
  func.return %y : tensor<1x16x96x64xf32>
}

func.func @main(%q: tensor<1x16x96x64xf32>, %k: tensor<1x300x16x64xf32>, %v: tensor<1x300x16x64xf32>) -> tensor<1x16x96x64xf32> {
  %y = func.call @no_room(%q, %k, %v) : (tensor<1x16x96x64xf32>, tensor<1x300x16x64xf32>, tensor<1x300x16x64xf32>) -> tensor<1x16x96x64xf32>
  func.return %y : tensor<1x16x96x64xf32>
}
