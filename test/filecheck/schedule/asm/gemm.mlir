// RUN: stepwell-opt %s -p O3 --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops | filecheck %s --check-prefix AVX512
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' | asm-loops | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p O3 --config target=x86-64 -t 'asm{machine="x86-64"}' | asm-loops | filecheck %s --check-prefix SSE
// RUN: stepwell-opt %s -p O3 --config target=aarch64-neon -t 'asm{machine="aarch64-neon"}' | asm-loops | filecheck %s --check-prefix NEON
// RUN: stepwell-opt %s -p O3 --config target=neoverse-v2 -t 'asm{machine="neoverse-v2"}' | asm-loops | filecheck %s --check-prefix V2

/// Four steps of k for a tile of 6 x 64: each loads four vectors of b and broadcasts six elements of a for 24 FMAs. Nothing is
/// stored, and nothing goes over the stack.
// AVX512: loop {{.*}}: 96 products, 40 loads, 0 stores, 0 of the stack, 0 calls
// AVX512: vmovups {{.*}}, %zmm{{[0-9]+}}
// AVX512: vbroadcastss {{.*}}, %zmm{{[0-9]+}}
// AVX512: vfmadd231ps %zmm{{.*}}, %zmm{{.*}}, %zmm{{[0-9]+}}

/// 6 x 16: two vectors of b, sums in twelve of the sixteen registers.
// AVX2: loop {{.*}}: 48 products, 32 loads, 0 stores, 0 of the stack, 0 calls
// AVX2: vbroadcastss {{.*}}, %ymm{{[0-9]+}}
// AVX2: vfmadd231ps %ymm{{.*}}, %ymm{{.*}}, %ymm{{[0-9]+}}

/// Without FMA, products and sums are apart.
// SSE: loop {{.*}}: 8 products, 6 loads, 0 stores, 0 of the stack, 0 calls
// SSE: mulps %xmm{{.*}}, %xmm{{[0-9]+}}
// SSE: addps %xmm{{.*}}, %xmm{{[0-9]+}}

/// Elements of a are not broadcast: fmla takes one lane.
// NEON: loop {{.*}}: 96 products, {{.*}}, 0 stores, 0 of the stack, 0 calls
// NEON: fmla v{{.*}}.4s, v{{.*}}.4s, v{{.*}}.s[

/// A Neoverse V2 has wider instructions but no wider registers, so it does the same. No vector goes over the stack.
// V2: loop {{.*}}: 96 products, {{.*}}, 0 stores, 0 of the stack, 0 calls
// V2-NOT: {{[^a-z]z[0-9]+\.|\[sp}}
// V2: ldr s[[A:[0-9]+]], [x{{[0-9]+}}, #256]
// V2-NEXT: fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v[[A]].s[0]
// V2-NEXT: fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v[[A]].s[0]
// V2-NEXT: fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v[[A]].s[0]
// V2-NEXT: fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v[[A]].s[0]
// V2-NOT: {{[^a-z]z[0-9]+\.|\[sp}}
func.func @main(%x: tensor<96x64xf32>, %w: tensor<64x128xf32>) -> tensor<96x128xf32> {
  %y = graph.matmul %x, %w : (tensor<96x64xf32>, tensor<64x128xf32>) -> tensor<96x128xf32>
  func.return %y : tensor<96x128xf32>
}
