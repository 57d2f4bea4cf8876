// RUN: stepwell-opt %s -p 'lower-graph-to-loops,schedule-cpu{target="x86-64-v4"}' | filecheck %s

// 20 MB of rows are read once, six side by side: each step of the sum asks for its part of the next six.
// CHECK-LABEL: tensor_loop.func private @matmul
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args
// CHECK: tile.mma %{{.*}}, %{{.*}}[%[[M:.*]], %[[K]]], %{{.*}} depth 4 : vector<6x64xf32>
// CHECK: %[[AT:.*]] = arith.muli %[[K]], %{{.*}} : index
// CHECK: tile.prefetch %{{.*}}[%[[M]], %[[AT]]] ahead 1536 count 24 second : memref<20000x256xf32>
func.func @far(%a: tensor<20000x256xf32>, %b: tensor<256x64xf32>) -> tensor<20000x64xf32> {
  %c = graph.matmul %a, %b : (tensor<20000x256xf32>, tensor<256x64xf32>) -> tensor<20000x64xf32>
  func.return %c : tensor<20000x64xf32>
}

// 3 MB are in L2 or close to it, and many columns read the rows of a tile again from L1.
// CHECK-LABEL: tensor_loop.func private @matmul_1
// CHECK-NOT: tile.prefetch
func.func @no_prefetch_of_near_rows(%a: tensor<3000x256xf32>, %b: tensor<256x64xf32>) -> tensor<3000x64xf32> {
  %c = graph.matmul %a, %b : (tensor<3000x256xf32>, tensor<256x64xf32>) -> tensor<3000x64xf32>
  func.return %c : tensor<3000x64xf32>
}
func.func @no_prefetch_for_many_panels(%a: tensor<20000x256xf32>, %b: tensor<256x160xf32>) -> tensor<20000x160xf32> {
  %c = graph.matmul %a, %b : (tensor<20000x256xf32>, tensor<256x160xf32>) -> tensor<20000x160xf32>
  func.return %c : tensor<20000x160xf32>
}
