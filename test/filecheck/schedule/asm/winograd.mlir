// RUN: stepwell-opt %s -p O3 --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops | filecheck %s --check-prefix AVX512

/// The products of transformed squares and filters keep their sums in registers.
// AVX512: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX512: vfmadd231ps {{.*}}, %zmm{{.*}}, %zmm{{[0-9]+}}
func.func @main(%x: tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32> {
  %w = graph.weight "w" : tensor<3x3x64x64xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x28x28x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x28x28x64xf32>
  func.return %y : tensor<1x28x28x64xf32>
}
