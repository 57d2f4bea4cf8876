// RUN: stepwell-opt %s -p to-loops,plan-schedules,apply-schedule-plan --config target=x86-64-v4 | filecheck %s

/// Keys and values are extended on the way into panels, once for all tiles of rows. The second product takes the
/// exponentials in f32, and its result is scaled before it is rounded.
// CHECK-LABEL: tensor_loop.func private @attention
// CHECK: %[[KEYS:packed[_0-9]*]] = tensor_loop.alloc : memref<8x{{.*}}xf32>
// CHECK: tensor_loop.block "pack"
// CHECK: %[[T:.*]] = tile.transpose %{{.*}} : vector<16x16xf16>
// CHECK: %[[W:.*]] = tile.map({{.*}} = %[[T]]) : (vector<16x16xf16>) -> vector<16x16xf32> {
// CHECK-NEXT: arith.extf
// CHECK: tile.store %[[W]], %[[KEYS]]
// CHECK: tile.mma {{.*}}, %q{{.*}} %[[KEYS]]{{.*}}f16>, memref<8x{{.*}}xf32>
// CHECK: math.exp
// CHECK-NOT: arith.truncf
// CHECK: tile.mma {{.*}}, %softmax_exp{{.*}}%packed{{.*}}x76xf32>, memref<8x{{.*}}xf32>
// CHECK: arith.mulf
// CHECK-NEXT: arith.truncf
func.func private @attention(%q: tensor<1x8x100x32xf16>, %k: tensor<1x76x8x32xf16>, %v: tensor<1x8x76x16xf16>) -> tensor<1x8x100x16xf16> attributes {graph.primitive} {
  %kt = graph.permute_dims %k, axes = [0, 2, 3, 1] : (tensor<1x76x8x32xf16>) -> tensor<1x8x32x76xf16>
  %0 = graph.matmul %q, %kt : (tensor<1x8x100x32xf16>, tensor<1x8x32x76xf16>) -> tensor<1x8x100x76xf16>
  %1 = graph.softmax %0 : (tensor<1x8x100x76xf16>) -> tensor<1x8x100x76xf16>
  %2 = graph.matmul %1, %v : (tensor<1x8x100x76xf16>, tensor<1x8x76x16xf16>) -> tensor<1x8x100x16xf16>
  func.return %2 : tensor<1x8x100x16xf16>
}

func.func @main(%q: tensor<1x8x100x32xf16>, %k: tensor<1x76x8x32xf16>, %v: tensor<1x8x76x16xf16>) -> tensor<1x8x100x16xf16> {
  %0 = func.call @attention(%q, %k, %v) : (tensor<1x8x100x32xf16>, tensor<1x76x8x32xf16>, tensor<1x8x76x16xf16>) -> tensor<1x8x100x16xf16>
  func.return %0 : tensor<1x8x100x16xf16>
}
