// RUN: stepwell-opt %s -p 'fuse-matmul-add' | filecheck %s --check-prefix=FUSED
// RUN: stepwell-opt %s -p 'fuse-matmul-add,lower-graph-to-loops' | filecheck %s --check-prefix=LOOPS
// RUN: stepwell-opt %s -p 'fuse-matmul-add,lower-graph-to-loops,fuse-loops' | filecheck %s --check-prefix=ONE

// Two layers; the weights lie in a file beside the program.

// FUSED-LABEL: func.func @main(
// FUSED-NOT: graph.matmul
// FUSED: func.call @fused_matmul_add0(
// FUSED-NEXT: graph.relu
// FUSED-NEXT: graph.permute_dims
// FUSED-NEXT: func.call @fused_matmul_add1(
// FUSED-LABEL: func.func private @fused_matmul_add0(
// FUSED-SAME: graph.primitive
// FUSED-NEXT: graph.matmul
// FUSED-NEXT: graph.add

// LOOPS-LABEL: func.func private @fused_matmul_add0(
// LOOPS-NEXT: graph.call_kernel @matmul(
// LOOPS-NEXT: graph.call_kernel @add(
// LOOPS: tensor_loop.func private @matmul(
// LOOPS: tensor_loop.block "matmul"
// LOOPS: tensor_loop.func private @add(

// ONE: graph.call_kernel @fused_matmul_add0(
// ONE-LABEL: tensor_loop.func private @fused_matmul_add0(
// ONE: tensor_loop.alloc
// ONE: tensor_loop.block "matmul"
// ONE: tensor_loop.block "add"
// ONE-NOT: tensor_loop.func private @matmul(

builtin.module attributes {stepwell.weights = "mlp.safetensors"} {
  func.func @main(%x: tensor<1x784xf32>) -> tensor<1x10xf32> {
    %w0 = graph.weight "w0" : tensor<128x784xf32>
    %b0 = graph.weight "b0" : tensor<128xf32>
    %w1 = graph.weight "w1" : tensor<10x128xf32>
    %b1 = graph.weight "b1" : tensor<10xf32>
    %w0_t = graph.permute_dims %w0 : (tensor<128x784xf32>) -> tensor<784x128xf32>
    %lv0 = graph.matmul %x, %w0_t : (tensor<1x784xf32>, tensor<784x128xf32>) -> tensor<1x128xf32>
    %lv1 = graph.add %lv0, %b0 : (tensor<1x128xf32>, tensor<128xf32>) -> tensor<1x128xf32>
    %lv2 = graph.relu %lv1 : (tensor<1x128xf32>) -> tensor<1x128xf32>
    %w1_t = graph.permute_dims %w1 : (tensor<10x128xf32>) -> tensor<128x10xf32>
    %lv3 = graph.matmul %lv2, %w1_t : (tensor<1x128xf32>, tensor<128x10xf32>) -> tensor<1x10xf32>
    %out = graph.add %lv3, %b1 : (tensor<1x10xf32>, tensor<10xf32>) -> tensor<1x10xf32>
    func.return %out : tensor<1x10xf32>
  }
}
