// RUN: stepwell-opt %s -p 'to-loops,prepack-weights{target="sapphire-rapids"},schedule-cpu{target="sapphire-rapids"}' | filecheck %s
// RUN: stepwell-opt %s -p 'to-loops,prepack-weights{target="x86-64-v4"},schedule-cpu{target="x86-64-v4"}' | filecheck %s --check-prefix=V4
// RUN: stepwell-opt %s -p 'to-loops,prepack-weights{target="aarch64-neon"},schedule-cpu{target="aarch64-neon"}' | filecheck %s --check-prefix=PLAIN

/// A product of bytes per group, which AVX-512 alone multiplies in 16 bits. Without any instruction for bytes the
/// integers are on register tiles.
// CHECK-LABEL: tensor_loop.func private @conv2d
// CHECK: %vg in 4 = %g
// CHECK: tile.mma {{.*}} groups {{.*}}using "{{vpdpbusd|amx}}"
// V4-LABEL: tensor_loop.func private @conv2d
// V4: %vg in 4 = %g
// V4: tile.mma %{{.*}} depth 1 groups using "vpmaddwd" : vector<{{.*}}xi32>, memref<{{.*}}xi16>
// PLAIN-LABEL: tensor_loop.func private @conv2d
// PLAIN: %vg in 4 = %g
// PLAIN: tile.mma %{{.*}} depth 1 unsigned : vector<
func.func @main(%x: tensor<1x28x28x64xui8>) -> tensor<1x26x26x64xi32> {
  %w = graph.weight "w" : tensor<3x3x16x64xi8>
  %y = graph.conv2d %x, %w, groups = 4, data_layout = "NHWC", kernel_layout = "HWIO", out_dtype = i32 : (tensor<1x28x28x64xui8>, tensor<3x3x16x64xi8>) -> tensor<1x26x26x64xi32>
  func.return %y : tensor<1x26x26x64xi32>
}
