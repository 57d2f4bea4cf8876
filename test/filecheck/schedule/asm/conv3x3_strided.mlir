// RUN: stepwell-opt %s -p O3 --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops | filecheck %s --check-prefix AVX512
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' | asm-loops | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p O3 --config target=aarch64-neon -t 'asm{machine="aarch64-neon"}' | asm-loops | filecheck %s --check-prefix NEON

/// Stride 2: implicit GEMM over channels and taps.
// AVX512: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX512: vfmadd231ps {{.*}}, %zmm{{.*}}, %zmm{{[0-9]+}}
// AVX2: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX2: vfmadd231ps {{.*}}, %ymm{{.*}}, %ymm{{[0-9]+}}
// NEON: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// NEON: fmla v
func.func @main(%x: tensor<1x14x14x32xf32>) -> tensor<1x7x7x64xf32> {
  %w = graph.weight "w" : tensor<3x3x32x64xf32>
  %y = graph.conv2d %x, %w, strides = [2, 2], padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x32xf32>, tensor<3x3x32x64xf32>) -> tensor<1x7x7x64xf32>
  func.return %y : tensor<1x7x7x64xf32>
}
