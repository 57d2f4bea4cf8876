// RUN: stepwell-opt %s -p to-loops,plan-schedules --config target=x86-64-v4 | filecheck %s --check-prefix=PLAN
// RUN: stepwell-opt %s -p to-loops,plan-schedules,apply-schedule-plan --config target=x86-64-v4 | filecheck %s
// RUN: stepwell-opt %s -p to-loops,plan-schedules,apply-schedule-plan --config target=x86-64-v4 | stepwell-opt -p apply-schedule-plan --config target=x86-64-v4 | filecheck %s
// RUN: stepwell-opt %s -p graph-optimize-strict,to-loops,plan-schedules,apply-schedule-plan --disable-pass scale-after-products --config target=x86-64-v4 | filecheck %s --check-prefix=STRICT

/// A strip of 50 rows of a head goes through both products and the softmax. Scores of one strip per head are in memory.
// PLAN: tensor_loop.block "matmul" {{.*}} attributes {stepwell.strip = 50 : i64
// PLAN-SAME: "what 50 rows need stays in the second-level cache between the products"
// CHECK-LABEL: tensor_loop.func
// CHECK: %[[P:.*]] = tensor_loop.alloc : memref<1x8x1x1x50x96xf32>
// CHECK: tensor_loop.for %{{.*}} in 8
// CHECK: tensor_loop.block "pack"
// CHECK: tensor_loop.for %{{.*}} in 2 {
// CHECK: tensor_loop.block "matmul" {{.*}} writes(%[[P]][
// CHECK: tensor_loop.for %{{.*}} in 10 {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 5 {
// CHECK: tensor_loop.block "softmax_max"
// CHECK: arith.maxnumf
// CHECK: tensor_loop.block "softmax_exp"
// CHECK: tensor_loop.block "softmax_sum"
// CHECK: tensor_loop.block "softmax_scale"
// CHECK: tensor_loop.block "matmul_1_1" {{.*}}, %softmax_scale[{{.*}}]) writes(%out[
// CHECK-NOT: tensor_loop.block "softmax"
// CHECK-NOT: 1x8x100x96xf32
// STRICT: tensor_loop.block "softmax_sum"
// STRICT: tensor_loop.block "softmax"
// STRICT: tensor_loop.block "matmul_1_1" {{.*}} writes(%out[
func.func private @attention(%q: tensor<1x8x100x16xf32>, %k: tensor<1x8x16x96xf32>, %v: tensor<1x8x96x16xf32>) -> tensor<1x8x100x16xf32> attributes {graph.primitive} {
  %0 = graph.matmul %q, %k : (tensor<1x8x100x16xf32>, tensor<1x8x16x96xf32>) -> tensor<1x8x100x96xf32>
  %1 = graph.softmax %0 : (tensor<1x8x100x96xf32>) -> tensor<1x8x100x96xf32>
  %2 = graph.matmul %1, %v : (tensor<1x8x100x96xf32>, tensor<1x8x96x16xf32>) -> tensor<1x8x100x16xf32>
  func.return %2 : tensor<1x8x100x16xf32>
}

func.func @main(%q: tensor<1x8x100x16xf32>, %k: tensor<1x8x16x96xf32>, %v: tensor<1x8x96x16xf32>) -> tensor<1x8x100x16xf32> {
  %0 = func.call @attention(%q, %k, %v) : (tensor<1x8x100x16xf32>, tensor<1x8x16x96xf32>, tensor<1x8x96x16xf32>) -> tensor<1x8x100x16xf32>
  func.return %0 : tensor<1x8x100x16xf32>
}
