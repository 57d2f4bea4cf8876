// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,apply-schedule,prepack-weights{target=sapphire-rapids},schedule-cpu{target=sapphire-rapids}' | filecheck %s

/// Dot products of four bytes in tiles of 4x48 sums, where the rules take tile registers.
// CHECK-LABEL: tensor_loop.func private @matmul(
// CHECK-NOT: "amx"
// CHECK: tile.mma {{.*}} using "vpdpbusd" : vector<4x48xi32>
// CHECK-LABEL: tensor_loop.func private @matmul_1(
func.func @dots(%x: tensor<64x64xi8>, %y: tensor<64x96xi8>) -> tensor<64x96xi32> {
  %z = graph.matmul %x, %y, out_dtype = i32 : (tensor<64x64xi8>, tensor<64x96xi8>) -> tensor<64x96xi32>
  func.return %z : tensor<64x96xi32>
}

/// Four blocks of two panels, where the rules take all eight at once.
// CHECK: tensor_loop.for %n0 in 4 {
// CHECK: tensor_loop.for %p{{.*}} in 2 {
// CHECK: using "amx"
// CHECK-LABEL: tensor_loop.func private @matmul_2(
func.func @panels(%x: tensor<64x64xi8>, %y: tensor<64x256xi8>) -> tensor<64x256xi32> {
  %z = graph.matmul %x, %y, out_dtype = i32 : (tensor<64x64xi8>, tensor<64x256xi8>) -> tensor<64x256xi32>
  func.return %z : tensor<64x256xi32>
}

/// The rules.
// CHECK-NOT: tensor_loop.for %n0 in 4 {
// CHECK-NOT: "vpdpbusd"
// CHECK: using "amx"
func.func @no_panels(%x: tensor<32x64xi8>, %y: tensor<64x256xi8>) -> tensor<32x256xi32> {
  %z = graph.matmul %x, %y, out_dtype = i32 : (tensor<32x64xi8>, tensor<64x256xi8>) -> tensor<32x256xi32>
  func.return %z : tensor<32x256xi32>
}

schedule.program {
  %a = schedule.get_block "matmul" in @matmul
  schedule.annotate %a "stepwell.tiling" with #schedule.dots<rows = 4, columns = 48>
  %b = schedule.get_block "matmul" in @matmul_1
  schedule.annotate %b "stepwell.tiling" with #schedule.tile_registers<panels = 2>
}
