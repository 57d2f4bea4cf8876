// RUN: rm -f %t && stepwell-tune %s --db %t --trials 2 | filecheck %s
// RUN: stepwell-tune %s --db %t --trials 2 --replay --show | filecheck %s --check-prefix=REPLAY
// RUN: not stepwell-tune %s --db %t --kernel mamul 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not stepwell-tune %s --db %t --opt-level 0 2>&1 | filecheck %s --check-prefix=LEVEL

// CHECK: @matmul {{[0-9a-f]+}}: 2 schedules (2 ok); 2 measured now; {{.*[0-9.]+ (µs|ms).* [0-9.]+ (µs|ms)}}
// CHECK: database: {{.*}}

// REPLAY: // candidate 1 of @matmul: ok {{[0-9.]+}} ×, {{[0-9.]+}} µs in place of {{[0-9.]+}} µs
// REPLAY: schedule.annotate %{{.*}} "stepwell.tiling" with #schedule.tiling<
// REPLAY: // candidate 2 of @matmul: ok
// REPLAY: @matmul {{[0-9a-f]+}}: 2 schedules (2 ok); 0 measured now

// UNKNOWN: error: the program has no kernel 'mamul'
// UNKNOWN: hint: did you mean 'matmul'?

// LEVEL: error: the pipeline has no 'apply-tuning', so there is nothing to tune in it
func.func @main(%x: tensor<24x64xf32>, %y: tensor<64x96xf32>) -> tensor<24x96xf32> {
  %z = graph.matmul %x, %y : (tensor<24x64xf32>, tensor<64x96xf32>) -> tensor<24x96xf32>
  return %z : tensor<24x96xf32>
}
