// RUN: stepwell-opt %s -p O3 --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops | filecheck %s --check-prefix AVX512
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' | asm-loops | filecheck %s --check-prefix AVX2

/// Four steps of k for a tile of 6 x 64 as in f32 (gemm.mlir). Vectors of b, laid out once, are converted as they are loaded. The six
/// rows of a are converted four elements at a time, and come from the stack.
// AVX512: loop {{.*}}: 96 products, {{.*}} 6 stores,
// AVX512-DAG: vcvtph2ps {{.*}}(%r{{.*}}), %zmm{{[0-9]+}}
// AVX512-DAG: vbroadcastss {{.*}}(%r{{.*}}), %zmm{{[0-9]+}}
// AVX512-NOT: vpinsrw

// AVX2: loop {{.*}}: 48 products, {{.*}} 6 stores,
// AVX2-DAG: vcvtph2ps {{.*}}(%r{{.*}}), %ymm{{[0-9]+}}
// AVX2-NOT: vpinsrw
func.func @main(%x: tensor<96x64xf16>) -> tensor<96x128xf16> {
  %w = graph.weight "w" : tensor<64x128xf16>
  %y = graph.matmul %x, %w : (tensor<96x64xf16>, tensor<64x128xf16>) -> tensor<96x128xf16>
  func.return %y : tensor<96x128xf16>
}
