// RUN: stepwell-opt %s -p 'to-loops,apply-tuning{database="apply_tuning.jsonl" target="x86-64-v4" any-compiler=true}' | filecheck %s
// RUN: stepwell-opt %s -p to-loops,apply-tuning --config apply-tuning.database=apply_tuning.jsonl --config target=x86-64-v4 --config apply-tuning.any-compiler=true | filecheck %s
// RUN: stepwell-opt %s -p 'to-loops,apply-tuning{database="apply_tuning.jsonl" target="x86-64-v4" any-compiler=true}' --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: stepwell-opt %s -p 'to-loops,apply-tuning{database="apply_tuning.jsonl" target="x86-64-v3" any-compiler=true}' | filecheck %s --check-prefix=ELSEWHERE
// RUN: stepwell-opt %s -p 'to-loops,apply-tuning{database="apply_tuning.jsonl" target="x86-64-v4"}' | filecheck %s --check-prefix=ELSEWHERE
// RUN: not stepwell-opt %s -p 'to-loops,apply-tuning{database="nowhere.jsonl"}' 2>&1 | filecheck %s --check-prefix=MISSING

/// Neither for another target nor of another compiler.
// ELSEWHERE-NOT: stepwell.tiling

// MISSING: error: cannot read tuning database 'nowhere.jsonl': no such file or directory

// REMARK: remark: 'tensor_loop.func': @matmul takes a tuned schedule of 2026-11-21, 1.25 × as fast when measured
func.func @main(%x: tensor<24x64xf32>, %y: tensor<64x96xf32>) -> tensor<24x96xf32> {
  %z = graph.matmul %x, %y : (tensor<24x64xf32>, tensor<64x96xf32>) -> tensor<24x96xf32>
  return %z : tensor<24x96xf32>
}

/// Of another size: the database does not know it.
func.func @no_other_size(%x: tensor<25x64xf32>, %y: tensor<64x96xf32>) -> tensor<25x96xf32> {
  %z = graph.matmul %x, %y : (tensor<25x64xf32>, tensor<64x96xf32>) -> tensor<25x96xf32>
  return %z : tensor<25x96xf32>
}

// CHECK-LABEL: tensor_loop.func private @matmul(
// CHECK: attributes {stepwell.tiling = #schedule.tiling<rows = 4, columns = 32>}
// CHECK-LABEL: tensor_loop.func private @matmul_1(
// CHECK-NOT: stepwell.tiling
