// RUN: stepwell-opt %s -p O3 --config target=cascade-lake -t 'asm{machine="cascade-lake"}' | asm-loops | filecheck %s --check-prefix VNNI
// RUN: stepwell-opt %s -p O3 --config target=alder-lake -t asm | asm-loops | filecheck %s --check-prefix VEX
// RUN: stepwell-opt %s -p O3 --config target=neoverse-v2 -t asm | asm-loops | filecheck %s --check-prefix ARM
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops | filecheck %s --check-prefix AVX512
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' | asm-loops | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p O3 --config target=x86-64 -t 'asm{machine="x86-64"}' | asm-loops | filecheck %s --check-prefix SSE

/// Four products of bytes and their sum are one instruction where the machine has it, else two exact ones of 16 bits and two sums.
// VNNI: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// VNNI: vpdpbusd {{.*}}, %zmm{{[0-9]+}}
// VNNI-NOT: vpmulld
// VEX: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// VEX: {vex} vpdpbusd {{.*}}, %ymm{{[0-9]+}}
// VEX-NOT: vpmulld
// ARM: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// ARM: sdot {{.*}}.4s, {{.*}}.16b, {{.*}}.16b
// ARM-NOT: mla
// AVX512: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX512: vpmaddwd {{.*}}, %zmm{{[0-9]+}}
// AVX2: loop {{.*}} 0 stores, 0 of the stack, 0 calls
// AVX2: vpmaddwd {{.*}}, %ymm{{[0-9]+}}
// SSE: loop {{.*}} products, {{.*}} 0 stores, 0 of the stack, 0 calls
// SSE: pmaddwd
func.func @main(%x: tensor<64x128xi8>) -> tensor<64x128xi32> {
  %w = graph.weight "w" : tensor<128x128xi8>
  %y = graph.matmul %x, %w, out_dtype = i32 : (tensor<64x128xi8>, tensor<128x128xi8>) -> tensor<64x128xi32>
  func.return %y : tensor<64x128xi32>
}
