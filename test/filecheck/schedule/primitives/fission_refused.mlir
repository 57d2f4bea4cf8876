// RUN: not stepwell-opt %s -p apply-schedule 2>&1 | filecheck %s

/// The second block reads the sums so far: after all of the first loop it would find the last ones.
schedule.program {
  %sum = schedule.get_block "sum" in @f
  %i = schedule.get_loops %sum : 1
  %rest = schedule.fission %i, %sum
}

// CHECK: fission_refused.mlir:{{.*}}: error: 'schedule.fission': %i cannot be cut in two: both parts touch %S, and different iterations of %i write the same elements
// CHECK-NEXT: > tensor_loop.for %i in 8 {
// CHECK-NEXT: >   tensor_loop.block "sum" reduce(%vi in 8 = %i)
// CHECK-NEXT:     tensor_loop.block "prefix" spatial(%vo in 8 = %i)
tensor_loop.func @f(%A: memref<8xf32>) outs(%C: memref<8xf32>) {
  %S = tensor_loop.alloc : memref<1xf32>
  tensor_loop.for %i in 8 {
    tensor_loop.block "sum" reduce(%vi in 8 = %i) {
      init {
        %z = arith.constant 0.0 : f32
        %o = arith.constant 0 : index
        memref.store %z, %S[%o] : memref<1xf32>
      }
      %at = arith.constant 0 : index
      %a = memref.load %A[%vi] : memref<8xf32>
      %s = memref.load %S[%at] : memref<1xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[%at] : memref<1xf32>
    }
    tensor_loop.block "prefix" spatial(%vo in 8 = %i) {
      %first = arith.constant 0 : index
      %p = memref.load %S[%first] : memref<1xf32>
      memref.store %p, %C[%vo] : memref<8xf32>
    }
  }
}
