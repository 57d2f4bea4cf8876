// RUN: %roundtrip
// RUN: %generic

// CHECK: schedule.program {
// GENERIC: "schedule.program"() ({
schedule.program {
  // CHECK-NEXT: %[[B:.*]] = schedule.get_block "mm" in @f
  // GENERIC-NEXT: "schedule.get_block"() <{block_name = "mm", function = @f}> : () -> !schedule.block
  %b = schedule.get_block "mm" in @f
  // CHECK-NEXT: %[[I:.*]], %[[J:.*]], %[[K:.*]] = schedule.get_loops %[[B]] : 3
  // GENERIC-NEXT: "schedule.get_loops"({{.*}}) : (!schedule.block) -> (!schedule.loop, !schedule.loop, !schedule.loop)
  %i, %j, %k = schedule.get_loops %b : 3
  // CHECK-NEXT: schedule.get_producers %[[B]] : 1
  %p = schedule.get_producers %b : 1
  // CHECK-NEXT: schedule.get_consumers %[[B]] : 0
  schedule.get_consumers %b : 0
  // CHECK-NEXT: %[[I0:.*]], %[[I1:.*]] = schedule.split %[[I]] [?, 8] balanced
  %i0, %i1 = schedule.split %i [?, 8] balanced
  // CHECK-NEXT: schedule.fuse %[[I0]], %[[I1]]
  %f = schedule.fuse %i0, %i1
  // CHECK-NEXT: schedule.reorder %[[K]], %[[J]]
  schedule.reorder %k, %j
  // CHECK-NEXT: schedule.loop_partition %[[J]] [4, 8]
  %a0, %a1, %a2 = schedule.loop_partition %j [4, 8]
  // CHECK-NEXT: schedule.fission %[[K]], %[[B]]
  %l = schedule.fission %k, %b
  // CHECK-NEXT: schedule.annotate %[[K]] "my.grain" with 4 : i64
  schedule.annotate %k "my.grain" with 4 : i64
  // CHECK-NEXT: schedule.compute_at %[[B]], %[[K]]
  schedule.compute_at %b, %k
  // CHECK-NEXT: schedule.cache_read %[[B]] 1 scope "local"
  %c = schedule.cache_read %b 1 scope "local"
  // CHECK-NEXT: schedule.cache_write %[[B]] 0
  %w = schedule.cache_write %b 0
  // CHECK-NEXT: schedule.set_scope %[[B]] 0 to "local"
  schedule.set_scope %b 0 to "local"
  // CHECK-NEXT: schedule.transform_layout %[[B]] "read" 1 by affine_map<(d0, d1) -> (d1, d0)>
  schedule.transform_layout %b "read" 1 by affine_map<(d0, d1) -> (d1, d0)>
  // CHECK-NEXT: schedule.pad_to_tile %[[B]] [8, 16, 1]
  schedule.pad_to_tile %b [8, 16, 1]
  // CHECK-NEXT: schedule.rfactor %[[K]] axis 1
  %r0, %r1 = schedule.rfactor %k axis 1
  // CHECK-NEXT: schedule.tensorize %[[B]] "mma" shape [8, 48] packed
  schedule.tensorize %b "mma" shape [8, 48] packed
  // CHECK-NEXT: schedule.reindex %[[B]] "read" 0
  %x = schedule.reindex %b "read" 0
  // CHECK-NEXT: schedule.storage_align %[[B]] 0 dimension 0 factor 16 offset 8
  schedule.storage_align %b 0 dimension 0 factor 16 offset 8
  // CHECK-NEXT: %[[T0:.*]], %[[T1:.*]] = schedule.sample_perfect_tile %[[K]] most 16 decision [3, 4] : 2
  // GENERIC: "schedule.sample_perfect_tile"({{.*}}) <{most = 16 : i64, decision = array<i64: 3, 4>}> : (!schedule.loop) -> (!schedule.number, !schedule.number)
  %t0, %t1 = schedule.sample_perfect_tile %k most 16 decision [3, 4] : 2
  // CHECK-NEXT: %[[N:.*]] = schedule.sample_categorical [1, 2, 4] weights [1, 2, 1] decision 2
  %n = schedule.sample_categorical [1, 2, 4] weights [1, 2, 1] decision 2
  // CHECK-NEXT: schedule.sample_perfect_tile %[[K]] : 1
  %u = schedule.sample_perfect_tile %k : 1
  // CHECK-NEXT: schedule.split %[[K]] [%[[T0]], ?, %[[T1]], 2]
  // GENERIC: "schedule.split"({{.*}}) <{factors = array<i64: -9223372036854775807, -9223372036854775808, -9223372036854775807, 2>}> : (!schedule.loop, !schedule.number, !schedule.number) ->
  %s0, %s1, %s2, %s3 = schedule.split %k [%t0, ?, %t1, 2]
  // CHECK-NEXT: schedule.tensorize %[[B]] "mma" shape [%[[N]], 16]
  schedule.tensorize %b "mma" shape [%n, 16]
}
