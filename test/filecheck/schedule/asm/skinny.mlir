// RUN: stepwell-opt %s -p O3 --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops | filecheck %s --check-prefix AVX512
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' | asm-loops | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p O3 --config target=aarch64-neon -t 'asm{machine="aarch64-neon"}' | asm-loops | filecheck %s --check-prefix NEON
// RUN: stepwell-opt %s -p O3 --config target=neoverse-v2 -t 'asm{machine="neoverse-v2"}' | asm-loops | filecheck %s --check-prefix V2

/// Four rows: as many columns as the registers hold, the weights in panels.
// AVX512: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX512: vfmadd231ps {{.*}}, %zmm{{.*}}, %zmm{{[0-9]+}}
// AVX2: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX2: vfmadd231ps {{.*}}, %ymm{{.*}}, %ymm{{[0-9]+}}
// NEON: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// NEON: fmla v
// V2: loop {{.*}}: 80 products, {{.*}} 0 stores, 0 of the stack, 0 calls
// V2: fmla v{{.*}}.4s, v{{.*}}.4s, v{{.*}}.s[
func.func @main(%x: tensor<4x256xf32>) -> tensor<4x768xf32> {
  %w = graph.weight "w" : tensor<256x768xf32>
  %y = graph.matmul %x, %w : (tensor<4x256xf32>, tensor<256x768xf32>) -> tensor<4x768xf32>
  func.return %y : tensor<4x768xf32>
}
