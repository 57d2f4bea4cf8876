// RUN: stepwell-opt %s -p 'plan-schedules{target="x86-64-v4"}' | filecheck %s

/// A short copy that only prepares weights runs once: tiles of it take longer to compile than they save.
// CHECK-LABEL: @turned_once
// CHECK-NOT: schedule.transpose
// CHECK: tensor_loop.func private @no_turned_at_each_call
// CHECK: #schedule.transpose
// CHECK: tensor_loop.func private @no_long
// CHECK: #schedule.transpose
tensor_loop.func private @turned_once(%x: memref<64x32xf32>) outs(%y: memref<32x64xf32>) {
  tensor_loop.grid (%i, %j) in (32, 64) {
    tensor_loop.block "copy" spatial(%vi in 32 = %i, %vj in 64 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<64x32xf32>
      memref.store %v, %y[%vi, %vj] : memref<32x64xf32>
    }
  }
}

tensor_loop.func private @turned_by_fours_once(%x: memref<32x64xf32>) outs(%y: memref<64x32xf32>) {
  tensor_loop.grid (%i, %j) in (64, 32) {
    tensor_loop.block "copy" spatial(%vi in 64 = %i, %vj in 32 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<32x64xf32>
      memref.store %v, %y[%vi, %vj] : memref<64x32xf32>
    }
  }
}

tensor_loop.func private @no_turned_at_each_call(%x: memref<64x32xf32>) outs(%y: memref<32x64xf32>) {
  tensor_loop.grid (%i, %j) in (32, 64) {
    tensor_loop.block "copy" spatial(%vi in 32 = %i, %vj in 64 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<64x32xf32>
      memref.store %v, %y[%vi, %vj] : memref<32x64xf32>
    }
  }
}

tensor_loop.func private @no_long(%x: memref<4096x1024xf32>) outs(%y: memref<1024x4096xf32>) {
  tensor_loop.grid (%i, %j) in (1024, 4096) {
    tensor_loop.block "copy" spatial(%vi in 1024 = %i, %vj in 4096 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<4096x1024xf32>
      memref.store %v, %y[%vi, %vj] : memref<1024x4096xf32>
    }
  }
}

func.func private @prepare_0() -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<1024x4096xf32>, tensor<64x32xf32>) attributes {stepwell.prepare} {
  %0 = graph.weight "a" : tensor<64x32xf32>
  %1 = graph.weight "b" : tensor<4096x1024xf32>
  %2 = graph.call_kernel @turned_once(%0) : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %3 = graph.call_kernel @no_turned_at_each_call(%0) : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %4 = graph.call_kernel @no_long(%1) : (tensor<4096x1024xf32>) -> tensor<1024x4096xf32>
  %5 = graph.call_kernel @turned_by_fours_once(%2) : (tensor<32x64xf32>) -> tensor<64x32xf32>
  func.return %2, %3, %4, %5 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<1024x4096xf32>, tensor<64x32xf32>
}

func.func @main(%x: tensor<64x32xf32>) -> tensor<32x64xf32> {
  %0 = graph.call_kernel @no_turned_at_each_call(%x) : (tensor<64x32xf32>) -> tensor<32x64xf32>
  func.return %0 : tensor<32x64xf32>
}
