/// The wide registers are asked for, as the machine that runs the test may have none.
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,schedule-cpu,bufferize,lower-loops-to-scf,vectorize-loops{wide=true},expand-math{wide=true},lower-to-llvm-dialect' --config target=x86-64-v4 -t 'asm{machine="x86-64-v4"}' | asm-loops | filecheck %s --check-prefix AVX512
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' | asm-loops | filecheck %s --check-prefix AVX2

/// The exponential is a polynomial: multiply-adds, no call.
// AVX512: loop {{.*}} 0 of the stack, 0 calls
// AVX512: vfmadd{{[0-9]+}}ps {{.*}}%zmm
// AVX2: loop {{.*}} 0 of the stack, 0 calls
// AVX2: vfmadd{{[0-9]+}}ps {{.*}}%ymm
func.func @main(%x: tensor<32x200xf32>) -> tensor<32x200xf32> {
  %y = graph.softmax %x, axis = -1 : (tensor<32x200xf32>) -> tensor<32x200xf32>
  func.return %y : tensor<32x200xf32>
}
