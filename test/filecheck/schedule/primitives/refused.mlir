// RUN: not stepwell-opt %s -p apply-schedule 2>&1 | filecheck %s

// CHECK: refused.mlir:{{.*}}: error: 'schedule.parallel': %k cannot run in parallel: different iterations of %k touch the same elements of %S in block "sum"
// CHECK-NEXT:   tensor_loop.for %i in 4 parallel {
// CHECK-NEXT: >   tensor_loop.for %k in 8 {
// CHECK-NEXT: >     tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k)
// CHECK: note: in this step of the schedule
schedule.program {
  %b = schedule.get_block "sum" in @f
  %i, %k = schedule.get_loops %b : 2
  schedule.parallel %i
  schedule.parallel %k
}
tensor_loop.func @f(%A: memref<4x8xf32>) outs(%S: memref<4xf32>) {
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %c = memref.load %S[%vi] : memref<4xf32>
      %s = arith.addf %c, %a : f32
      memref.store %s, %S[%vi] : memref<4xf32>
    }
  }
}
