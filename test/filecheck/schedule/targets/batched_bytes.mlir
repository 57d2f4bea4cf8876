// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="zen4"},prepack-weights{target="zen4"},apply-schedule-plan{target="zen4"}' | filecheck %s

/// Where both operands have batches, every batch has panels and starting values. The row of 128, which the sums of the
/// columns need, stands before the loop over batches, since blocks read what is outside of loops only.
// CHECK-LABEL: tensor_loop.func private @matmul(
// CHECK: %factors = tensor_loop.alloc : memref<1x{{.*}}xi8>
// CHECK: tensor_loop.block "factors"
// CHECK: tile.store %{{.*}}, %factors
// CHECK: tensor_loop.for
// CHECK: tensor_loop.block "column_sums"
// CHECK: tile.mma %{{.*}} using "vpdpbusd" : vector<1x{{.*}}xi32>
/// Signs are flipped by rows, without a loop for LLVM to make vectors of.
// CHECK-NOT: vectorized
// CHECK: tensor_loop.block "shift"
// CHECK: tile.load %lhs{{.*}} vector<1x32xi8>
// CHECK: arith.xori
// CHECK: tile.store {{.*}}, %shifted{{.*}} vector<1x32xi8>
// CHECK: tensor_loop.block "matmul"
func.func @main(%a: tensor<3x64x32xi8>, %b: tensor<3x32x64xi8>) -> tensor<3x64x64xi32> {
  %0 = graph.matmul %a, %b, out_dtype = i32 : (tensor<3x64x32xi8>, tensor<3x32x64xi8>) -> tensor<3x64x64xi32>
  func.return %0 : tensor<3x64x64xi32>
}
