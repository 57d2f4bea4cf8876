// RUN: stepwell-opt %s -p O3 --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops --all | filecheck %s --check-prefix AVX512

/// Sixteen rows of sixteen elements go through registers: loads, shuffles, stores.
// AVX512: loop {{.*}}: 0 products, 16 loads, 16 stores, 0 of the stack, 0 calls
// AVX512: vmovup{{[sd]}} {{.*}}, %zmm{{[0-9]+}}
// AVX512: {{vunpcklps|vpermt2p|vshufps|vunpcklpd|vshuff|vinsertf}}
// AVX512: vmovup{{[sd]}} %zmm{{[0-9]+}}, {{.*}}(
func.func @main(%x: tensor<200x136xf32>) -> tensor<136x200xf32> {
  %y = graph.permute_dims %x, axes = [1, 0] : (tensor<200x136xf32>) -> tensor<136x200xf32>
  func.return %y : tensor<136x200xf32>
}
