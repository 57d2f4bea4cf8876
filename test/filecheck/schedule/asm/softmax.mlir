/// The wide registers are asked for, as the machine that runs the test may have none.
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,schedule-cpu,bufferize,lower-loops-to-scf,vectorize-loops{wide=true},expand-math{wide=true},lower-to-llvm-dialect' --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops | filecheck %s --check-prefix AVX512
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' | asm-loops | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p O3 --config target=neoverse-v2 -t 'asm{machine="neoverse-v2"}' | asm-loops | filecheck %s --check-prefix V2

/// The exponential is a polynomial: multiply-adds, no call.
// AVX512: loop {{.*}} 0 of the stack, 0 calls
// AVX512: vfmadd{{[0-9]+}}ps {{.*}}%zmm
// AVX2: loop {{.*}} 0 of the stack, 0 calls
// AVX2: vfmadd{{[0-9]+}}ps {{.*}}%ymm
// V2: loop {{.*}}: 9 products, {{.*}} 0 of the stack, 0 calls
// V2: fsub v{{[0-9]+}}.4s
// V2: fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}.4s
// V2: shl v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, #23
/// Then four vectors at a time by the inverse of the sum, which is in one lane.
// V2: loop {{.*}} 0 of the stack, 0 calls
// V2: fmul v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v[[SUM:[0-9]+]].s[0]
// V2: fmul v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v[[SUM]].s[0]
func.func @main(%x: tensor<32x200xf32>) -> tensor<32x200xf32> {
  %y = graph.softmax %x, axis = -1 : (tensor<32x200xf32>) -> tensor<32x200xf32>
  func.return %y : tensor<32x200xf32>
}
