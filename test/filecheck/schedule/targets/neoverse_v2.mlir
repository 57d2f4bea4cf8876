// RUN: stepwell-opt %s -p O3 --config target=neoverse-v2 -t 'asm{machine="neoverse-v2"}' | filecheck %s
// RUN: stepwell-opt %s -p O3 --config target=neoverse-v2 -t asm | filecheck %s
// RUN: stepwell-opt %s -p O3 --config target=neoverse-v2 -t 'asm{machine="aarch64-neon"}' | filecheck %s --check-prefix NEON
// RUN: not stepwell-opt %s -p O3 --config target=neoverse-v3 2>&1 | filecheck %s --check-prefix NEAR
// RUN: not stepwell-opt %s -p O3 -t 'asm{machine="m68k"}' 2>&1 | filecheck %s --check-prefix FAR

/// NEON multiplies no integers of 64 bits. LLVM takes SVE2 for them where it is told of a Neoverse V2.
// CHECK: mul z{{[0-9]+}}.d, z{{[0-9]+}}.d, z{{[0-9]+}}.d
// NEON-NOT: {{[^a-z]}}z{{[0-9]+}}.d
// NEON: mul x{{[0-9]+}}, x{{[0-9]+}}, x{{[0-9]+}}

// NEAR: error: unknown target 'neoverse-v3'
// NEAR: hint: did you mean 'neoverse-v2'?
// FAR: error: unknown target 'm68k'
// FAR-NEXT: hint: the targets are host, x86-64, x86-64-v3, x86-64-v4, skylake-avx512, cascade-lake, ice-lake, sapphire-rapids, alder-lake, zen4, zen5, aarch64-neon, neoverse-v2
func.func @main(%x: tensor<1024xi64>, %y: tensor<1024xi64>) -> tensor<1024xi64> {
  %z = graph.multiply %x, %y : (tensor<1024xi64>, tensor<1024xi64>) -> tensor<1024xi64>
  func.return %z : tensor<1024xi64>
}
