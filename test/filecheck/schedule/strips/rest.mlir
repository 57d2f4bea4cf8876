// RUN: stepwell-opt %s -p to-loops,plan-schedules,apply-schedule-plan --config target=x86-64-v4 | filecheck %s

/// No number of rows near 64 divides 101, so a last strip has less rows than the others. Its blocks have names of their own.
// CHECK: tensor_loop.for %{{.*}} in 8 parallel {
// CHECK: tensor_loop.block "pack"
// CHECK: tensor_loop.for %{{.*}} in 17 {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 3 {
// CHECK: tensor_loop.block "softmax_max" {{.*}} %vi{{.*}} in 51
// CHECK: tensor_loop.for %{{.*}} in 10 {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 5 {
// CHECK: tensor_loop.block "softmax_max_1" {{.*}} %vi{{.*}} in 50
// CHECK-NOT: tensor_loop.block "pack"
func.func private @attention(%q: tensor<1x8x101x16xf32>, %k: tensor<1x8x16x96xf32>, %v: tensor<1x8x96x16xf32>) -> tensor<1x8x101x16xf32> attributes {graph.primitive} {
  %0 = graph.matmul %q, %k : (tensor<1x8x101x16xf32>, tensor<1x8x16x96xf32>) -> tensor<1x8x101x96xf32>
  %1 = graph.softmax %0 : (tensor<1x8x101x96xf32>) -> tensor<1x8x101x96xf32>
  %2 = graph.matmul %1, %v : (tensor<1x8x101x96xf32>, tensor<1x8x96x16xf32>) -> tensor<1x8x101x16xf32>
  func.return %2 : tensor<1x8x101x16xf32>
}

func.func @main(%q: tensor<1x8x101x16xf32>, %k: tensor<1x8x16x96xf32>, %v: tensor<1x8x96x16xf32>) -> tensor<1x8x101x16xf32> {
  %0 = func.call @attention(%q, %k, %v) : (tensor<1x8x101x16xf32>, tensor<1x8x16x96xf32>, tensor<1x8x96x16xf32>) -> tensor<1x8x101x16xf32>
  func.return %0 : tensor<1x8x101x16xf32>
}
