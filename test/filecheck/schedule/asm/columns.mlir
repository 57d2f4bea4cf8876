// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' --kernel matmul | asm-loops | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p O3 --config target=aarch64-neon -t asm --kernel matmul | asm-loops | filecheck %s --check-prefix NEON

/// 12 columns are two registers of which a half is not looked at, or three. No lane is moved by itself.
// AVX2: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX2-NOT: insertps
// AVX2: vfmadd{{.*}}ps {{.*}}, %ymm{{[0-9]+}}
// AVX2-NOT: insertps
// NEON: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// NEON: fmla {{.*}}.4s
func.func @main(%x: tensor<64x128xf32>) -> tensor<64x12xf32> {
  %w = graph.weight "w" : tensor<128x12xf32>
  %y = graph.matmul %x, %w : (tensor<64x128xf32>, tensor<128x12xf32>) -> tensor<64x12xf32>
  func.return %y : tensor<64x12xf32>
}
