// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' | asm-loops | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p O3 --config target=neoverse-v2 -t 'asm{machine="neoverse-v2"}' | asm-loops | filecheck %s --check-prefix V2

/// The first rows of the image: two rows of taps; a vector of weights serves several pixels.
// AVX2: loop {{.*}} 0 of the stack, 0 calls
// AVX2: vfmadd231ps {{.*}}, %ymm{{.*}}, %ymm{{[0-9]+}}

/// Above, between and below: no vector of any of these goes over the stack.
// V2: loop {{.*}}: {{.*}} 8 stores, 0 of the stack, 0 calls
// V2: fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}.4s
// V2: loop {{.*}}: 72 products, {{.*}} 8 stores, 0 of the stack, 0 calls
// V2: fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}.4s
// V2: loop {{.*}}: {{.*}} 8 stores, 0 of the stack, 0 calls
// V2-NOT: [sp
func.func @main(%x: tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32> {
  %w = graph.weight "w" : tensor<3x3x1x64xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 64, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x28x28x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x28x28x64xf32>
  func.return %y : tensor<1x28x28x64xf32>
}
