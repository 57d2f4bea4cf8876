// RUN: stepwell-opt %s -p O3 --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops | filecheck %s --check-prefix AVX512
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' | asm-loops | filecheck %s --check-prefix AVX2

/// 101 columns are a tile of 64 and one of 37, 101 rows tiles of six and of five: four loops, none with less than it needs.
// AVX512: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX512: vfmadd231ps {{.*}}, %zmm{{.*}}, %zmm{{[0-9]+}}
// AVX2: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX2: vfmadd231ps {{.*}}, %ymm{{.*}}, %ymm{{[0-9]+}}
// AVX2: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX2: vfmadd231ps {{.*}}, %ymm{{.*}}, %ymm{{[0-9]+}}
// AVX512-NOT: {{ [1-9][0-9]*}} of the stack
// AVX2-NOT: {{ [1-9][0-9]*}} of the stack
func.func @main(%x: tensor<101x67xf32>, %w: tensor<67x101xf32>) -> tensor<101x101xf32> {
  %y = graph.matmul %x, %w : (tensor<101x67xf32>, tensor<67x101xf32>) -> tensor<101x101xf32>
  func.return %y : tensor<101x101xf32>
}
