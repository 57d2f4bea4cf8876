// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="x86-64-v4"},apply-schedule-plan{target="x86-64-v4"}' | filecheck %s --check-prefix LOOPS

/// The product takes much longer than waking threads. So they are awake, and share the small loop after it too.
// CHECK-LABEL: tensor_loop.func private @matmul(
// CHECK: stepwell.share = 10000 : i64
// CHECK-SAME: stepwell.share = "all of @matmul takes at most {{[0-9]+}} microseconds, and a loop of 10 is worth a second thread, as @awake takes at most {{[0-9]+}} and keeps threads awake"
// CHECK-LABEL: tensor_loop.func private @softmax(
// CHECK: stepwell.share = 10000 : i64
// LOOPS-LABEL: tensor_loop.func private @softmax(
// LOOPS: parallel
// LOOPS-LABEL: tensor_loop.func private @softmax_1(
func.func @awake(%x: tensor<512x512xf32>, %w: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %p = graph.matmul %x, %w : (tensor<512x512xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>
  %y = graph.softmax %p, axis = -1 : (tensor<512x256xf32>) -> tensor<512x256xf32>
  func.return %y : tensor<512x256xf32>
}

/// Alone, a loop like that is over before a thread is awake.
// CHECK-LABEL: tensor_loop.func private @softmax_1(
// CHECK: stepwell.share = 0 : i64
// LOOPS-NOT: parallel
func.func @no_threads(%x: tensor<512x240xf32>) -> tensor<512x240xf32> {
  %y = graph.softmax %x, axis = -1 : (tensor<512x240xf32>) -> tensor<512x240xf32>
  func.return %y : tensor<512x240xf32>
}
