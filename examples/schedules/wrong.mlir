// RUN: not stepwell-opt %S/product.mlir -p 'apply-schedule{file="%s"}' 2>&1 | filecheck %s

// CHECK: error: 'schedule.parallel': %k cannot run in parallel
// CHECK: >     tensor_loop.for %k in 384 {
schedule.program {
  %product = schedule.get_block "product" in @gemm
  %i, %j, %k = schedule.get_loops %product : 3
  schedule.parallel %k
}
