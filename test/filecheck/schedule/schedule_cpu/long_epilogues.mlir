// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,schedule-cpu{target="x86-64-v4"}' | filecheck %s

/// A long epilogue is a loop over two rows at a time, of four registers each. The sums wait on the stack.
// CHECK-LABEL: tensor_loop.func private @fused_matmul_tanh_exp_add0(
// CHECK:       tensor_loop.block "matmul" spatial(%vm0 in 3 = %m0, %vp in 2 = %p) reads({{.*}}%z[%vm0 * 8 : 8, %vp * 48 : 48]{{.*}}) writes(%out[%vm0 * 8 : 8, %vp * 48 : 48])
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} -> (vector<8x48xf32>) {
// CHECK:         %sums = memref.alloca() : memref<8x48xf32>
// CHECK-NEXT:    tile.store %[[SUM]], %sums[%{{.*}}, %{{.*}}] : vector<8x48xf32>, memref<8x48xf32>
// CHECK:         scf.for %row =
// CHECK:           tile.load %sums[%row, %{{.*}}] : memref<8x48xf32>, vector<2x48xf32>
// CHECK:           tile.load %z[%{{.*}}, %{{.*}}] : memref<24x96xf32>, vector<2x48xf32>
// CHECK:           math.exp
// CHECK:           tile.store %{{.*}}, %out[%{{.*}}, %{{.*}}] : vector<2x48xf32>, memref<24x96xf32>
// CHECK:         } {stepwell.loop = "no-unroll"}
func.func @long(%x: tensor<24x64xf32>, %w: tensor<64x96xf32>, %z: tensor<24x96xf32>) -> tensor<24x96xf32> {
  %p = graph.matmul %x, %w : (tensor<24x64xf32>, tensor<64x96xf32>) -> tensor<24x96xf32>
  %t = graph.tanh %p : (tensor<24x96xf32>) -> tensor<24x96xf32>
  %e = graph.exp %t : (tensor<24x96xf32>) -> tensor<24x96xf32>
  %y = graph.add %e, %z : (tensor<24x96xf32>, tensor<24x96xf32>) -> tensor<24x96xf32>
  func.return %y : tensor<24x96xf32>
}

/// A short one stays on the registers of the whole tile.
// CHECK-LABEL: tensor_loop.func private @fused_matmul_add_relu0(
// CHECK-NOT:   memref.alloca
// CHECK:       tile.map{{.*}} -> vector<8x48xf32> {
func.func @no_loop(%x: tensor<24x64xf32>, %w: tensor<64x96xf32>, %z: tensor<24x96xf32>) -> tensor<24x96xf32> {
  %p = graph.matmul %x, %w : (tensor<24x64xf32>, tensor<64x96xf32>) -> tensor<24x96xf32>
  %s = graph.add %p, %z : (tensor<24x96xf32>, tensor<24x96xf32>) -> tensor<24x96xf32>
  %y = graph.relu %s : (tensor<24x96xf32>) -> tensor<24x96xf32>
  func.return %y : tensor<24x96xf32>
}
