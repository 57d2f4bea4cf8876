// RUN: stepwell-opt %s -p O3 --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops | filecheck %s --check-prefix AVX512
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' | asm-loops | filecheck %s --check-prefix AVX2

/// A product over the channels of all pixels.
// AVX512: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX512: vfmadd231ps {{.*}}, %zmm{{.*}}, %zmm{{[0-9]+}}
// AVX2: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX2: vfmadd231ps {{.*}}, %ymm{{.*}}, %ymm{{[0-9]+}}
func.func @main(%x: tensor<1x14x14x64xf32>) -> tensor<1x14x14x96xf32> {
  %w = graph.weight "w" : tensor<1x1x64x96xf32>
  %y = graph.conv2d %x, %w, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x64xf32>, tensor<1x1x64x96xf32>) -> tensor<1x14x14x96xf32>
  func.return %y : tensor<1x14x14x96xf32>
}
