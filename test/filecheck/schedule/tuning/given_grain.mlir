// RUN: stepwell-opt %s -p 'apply-schedule,schedule-cpu{target="x86-64-v4"},lower-loops-to-scf,outline-parallel-loops' | filecheck %s
// RUN: stepwell-opt %s -p 'apply-schedule,schedule-cpu{target="x86-64-v4"}' | filecheck %s --check-prefix=LOOPS

/// What a schedule says of a block becomes a property of the function.
// LOOPS: tensor_loop.func @small_chunks({{.*}} attributes {{.*}}stepwell.grain = 5000 : i64}
// LOOPS-NOT: stepwell.grain
// CHECK-LABEL: func.func @small_chunks
// CHECK: func.call @small_chunks_part({{.*}} {stepwell.chunk = 11 : i64}
tensor_loop.func @small_chunks(%A: memref<512x1024xf32>) outs(%C: memref<512x1024xf32>) {
  tensor_loop.grid (%i, %j) in (512, 1024) {
    tensor_loop.block "exp" spatial(%vi in 512 = %i, %vj in 1024 = %j) {
      %a = memref.load %A[%vi, %vj] : memref<512x1024xf32>
      %b = math.exp %a : f32
      memref.store %b, %C[%vi, %vj] : memref<512x1024xf32>
    }
  }
}

// CHECK-LABEL: func.func @no_grain
// CHECK: func.call @no_grain_part({{.*}} {stepwell.chunk = 32 : i64}
tensor_loop.func @no_grain(%A: memref<512x1024xf32>) outs(%C: memref<512x1024xf32>) {
  tensor_loop.grid (%i, %j) in (512, 1024) {
    tensor_loop.block "exp" spatial(%vi in 512 = %i, %vj in 1024 = %j) {
      %a = memref.load %A[%vi, %vj] : memref<512x1024xf32>
      %b = math.exp %a : f32
      memref.store %b, %C[%vi, %vj] : memref<512x1024xf32>
    }
  }
}

schedule.program {
  %b = schedule.get_block "exp" in @small_chunks
  schedule.annotate %b "stepwell.grain" with 5000 : i64
}
