// RUN: stepwell-opt %s -p O3 --config target=zen4 -t 'asm{machine="zen4"}' --kernel matmul_packed | asm-loops | filecheck %s --check-prefix VNNI
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' --kernel matmul_packed | asm-loops | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p O3 --config target=neoverse-v2 -t asm --kernel matmul_packed | asm-loops | filecheck %s --check-prefix ARM

/// Halves of bytes are masked and multiplied in registers. Nothing of a step goes through the stack.
// VNNI: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// VNNI: vpsrld $4
// VNNI: vpdpbusd {{.*}}, %zmm{{[0-9]+}}
// AVX2: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX2: vpmaddubsw {{.*}}, %ymm{{[0-9]+}}
// AVX2: vpmaddwd
// ARM: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// ARM: ushr {{.*}}.4s, {{.*}}.4s, #4
// ARM: usdot {{.*}}.4s, {{.*}}.16b, {{.*}}.16b
func.func @main(%x: tensor<1x512xf32>) -> tensor<1x256xf32> {
  %w = graph.weight "w" : tensor<256x256xui8>
  %s = graph.weight "s" : tensor<256x16xf32>
  %z = graph.full 8 : tensor<ui8>
  %y = graph.matmul_packed %x, %w, %s, %z : (tensor<1x512xf32>, tensor<256x256xui8>, tensor<256x16xf32>, tensor<ui8>) -> tensor<1x256xf32>
  func.return %y : tensor<1x256xf32>
}
