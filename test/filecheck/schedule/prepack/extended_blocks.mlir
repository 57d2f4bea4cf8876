// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,prepack-weights{target="zen5"}' | filecheck %s

/// Where tiles of rows go over blocks of panels, a block is extended before its tiles. They ask for weights of the next
/// block, which are f16.
// CHECK-LABEL: tensor_loop.func private @matmul
// CHECK-SAME: %rhs: memref<8x512x64xf16>
// CHECK: tensor_loop.for %n0 in 8
// CHECK-NEXT: tensor_loop.for %k in 512
// CHECK: tile.load %rhs[
// CHECK: tile.store %{{.*}}, %extended[
// CHECK: tensor_loop.for %m0 in
// CHECK: tile.mma %{{.*}}, %lhs[{{.*}}], %extended[
// CHECK: tile.prefetch %rhs[{{.*}}] ahead 32768 count 32 second : memref<8x512x64xf16>
func.func @main(%x: tensor<192x512xf16>) -> tensor<192x512xf16> {
  %w = graph.weight "w" : tensor<512x512xf16>
  %y = graph.matmul %x, %w : (tensor<192x512xf16>, tensor<512x512xf16>) -> tensor<192x512xf16>
  func.return %y : tensor<192x512xf16>
}

/// One block holds all panels: none is left to ask for.
// CHECK-LABEL: tensor_loop.func private @matmul_1
// CHECK: %extended
// CHECK-NOT: tile.prefetch
// CHECK: tensor_loop.func private @pack_panels
func.func @no_next_block(%x: tensor<1024x64xf16>) -> tensor<1024x128xf16> {
  %w = graph.weight "v" : tensor<64x128xf16>
  %y = graph.matmul %x, %w : (tensor<1024x64xf16>, tensor<64x128xf16>) -> tensor<1024x128xf16>
  func.return %y : tensor<1024x128xf16>
}
