// RUN: stepwell-opt %s -p 'decide-schedules{file="%S/mine.rules"}' | filecheck %s
// RUN: stepwell-opt %s -p 'decide-schedules{file="%S/mine.rules" rules="grain"}' | filecheck %s --check-prefix=ONE
// RUN: stepwell-opt %s -p 'decide-schedules{file="%S/mine.rules"},plan-schedules' --config target=x86-64-v4 | filecheck %s --check-prefix=PLAN
// RUN: stepwell-opt %s -p 'decide-schedules{file="%S/mine.rules"}' --statistics 2>&1 | filecheck %s --check-prefix=COUNT

// COUNT: 1 sums-of-rows

/// A rule decides about the blocks that it matches, with its reason.
// CHECK-LABEL: tensor_loop.func @sum
// ONE-LABEL: tensor_loop.func @sum
tensor_loop.func @sum(%x: memref<32x64xf32>) outs(%s: memref<32xf32>) {
  tensor_loop.grid (%i, %k) in (32, 64) {
    // CHECK: block "sum" {{.*}} attributes {stepwell.share = 0 : i64, stepwell.reason = {stepwell.share = "a sum of few terms takes no time"}}
    // ONE: block "sum" {{.*}} writes(%s[%vi]) {
    // PLAN: block "sum" {{.*}}stepwell.share = 0 : i64{{.*}}stepwell.share = "a sum of few terms takes no time"
    tensor_loop.block "sum" spatial(%vi in 32 = %i) reduce(%vk in 64 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %s[%vi] : memref<32xf32>
      }
      %a = memref.load %s[%vi] : memref<32xf32>
      %v = memref.load %x[%vi, %vk] : memref<32x64xf32>
      %b = arith.addf %a, %v : f32
      memref.store %b, %s[%vi] : memref<32xf32>
    }
  }
}

/// The sum has too many terms, and the block says something about threads already.
// CHECK-LABEL: tensor_loop.func @no_long_sum
tensor_loop.func @no_long_sum(%x: memref<32x128xf32>) outs(%s: memref<32xf32>) {
  tensor_loop.grid (%i, %k) in (32, 128) {
    // CHECK: block "sum" {{.*}} writes(%s[%vi]) {
    tensor_loop.block "sum" spatial(%vi in 32 = %i) reduce(%vk in 128 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %s[%vi] : memref<32xf32>
      }
      %a = memref.load %s[%vi] : memref<32xf32>
      %v = memref.load %x[%vi, %vk] : memref<32x128xf32>
      %b = arith.addf %a, %v : f32
      memref.store %b, %s[%vi] : memref<32xf32>
    }
  }
}

/// The first copy gets a number that a formula computes. The last one has that decision already, and gets another.
// CHECK-LABEL: tensor_loop.func @two_copies
// ONE-LABEL: tensor_loop.func @two_copies
// PLAN-LABEL: tensor_loop.func @two_copies
tensor_loop.func @two_copies(%x: memref<8x16xf32>) outs(%y: memref<8x16xf32>, %z: memref<8x16xf32>) {
  tensor_loop.grid (%i, %j) in (8, 16) {
    // CHECK: block "first" {{.*}} attributes {stepwell.grain = 80 : i64, stepwell.reason = {stepwell.grain = "a row takes ten nanoseconds an element"}}
    // ONE: block "first" {{.*}} attributes {stepwell.grain = 80 : i64
    // PLAN: block "first" {{.*}} stepwell.tiling = #schedule.order<[0, 1], vectorized>
    tensor_loop.block "first" spatial(%vi in 8 = %i, %vj in 16 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<8x16xf32>
      memref.store %v, %y[%vi, %vj] : memref<8x16xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (8, 16) {
    // CHECK: block "last" {{.*}} attributes {stepwell.grain = 7 : i64, stepwell.tiling = #schedule.order<[0, 1]>, stepwell.reason = {stepwell.tiling = "the first nest has filled the cache"}}
    // ONE: block "last" {{.*}} attributes {stepwell.grain = 7 : i64} {
    // PLAN: block "last" {{.*}} stepwell.tiling = #schedule.order<[0, 1]>, {{.*}}stepwell.tiling = "the first nest has filled the cache"
    tensor_loop.block "last" spatial(%vi in 8 = %i, %vj in 16 = %j) attributes {stepwell.grain = 7 : i64} {
      %v = memref.load %x[%vi, %vj] : memref<8x16xf32>
      memref.store %v, %z[%vi, %vj] : memref<8x16xf32>
    }
  }
}
