// RUN: stepwell-opt %s -p 'schedule-cpu{target="x86-64"}' | filecheck %s --check-prefix SSE
// RUN: stepwell-opt %s -p 'schedule-cpu{target="x86-64-v3"}' | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p 'schedule-cpu{target="x86-64-v4"}' | filecheck %s --check-prefix AVX512
// RUN: stepwell-opt %s -p 'schedule-cpu{target="aarch64-neon"}' | filecheck %s --check-prefix NEON
// RUN: stepwell-opt %s -p schedule-cpu --config target=x86-64-v3 | filecheck %s --check-prefix AVX2
// RUN: stepwell-opt %s -p 'schedule-cpu,bufferize,lower-loops-to-scf,lower-to-llvm-dialect' --config target=aarch64-neon -t asm | filecheck %s --check-prefix ASM

// The tile of a product fits the registers of the target.

// SSE: tile.mma
// SSE-SAME: depth 1 : vector<2x16xf32>
// AVX2: tile.mma
// AVX2-SAME: depth 4 : vector<6x16xf32>
// AVX512: tile.mma
// AVX512-SAME: vector<6x64xf32>
// NEON: tile.mma
// NEON-SAME: vector<6x16xf32>

// Assembly is for the target of the context, too.

// ASM: fmla v{{.*}}.4s, v{{.*}}.4s, v{{.*}}.s[
tensor_loop.func @matmul(%A: memref<30x64xf32>, %B: memref<64x64xf32>) outs(%C: memref<30x64xf32>) {
  tensor_loop.grid (%i, %j, %k) in (30, 64, 64) {
    tensor_loop.block "matmul" spatial(%vi in 30 = %i, %vj in 64 = %j) reduce(%vk in 64 = %k) {
      tensor_loop.init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %C[%vi, %vj] : memref<30x64xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<30x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x64xf32>
      %c = memref.load %C[%vi, %vj] : memref<30x64xf32>
      %p = arith.mulf %a, %b fastmath<contract,reassoc> : f32
      %s = arith.addf %c, %p fastmath<contract,reassoc> : f32
      memref.store %s, %C[%vi, %vj] : memref<30x64xf32>
    }
  }
}
