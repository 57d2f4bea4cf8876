// RUN: stepwell-opt %s -p inline-loops | filecheck %s

/// The regions of the block around the reader follow.

// CHECK-LABEL: tensor_loop.func @read_by_a_block_in_a_block
// CHECK-NOT:   tensor_loop.alloc
// CHECK:       tensor_loop.block "outer" spatial(%u in 6 = %{{.*}}) reads(%A[%u, 0 : 5]) writes(%B[%u, 0 : 5])
// CHECK:       tensor_loop.block "e" spatial(%[[W:.*]] in 5 = %{{.*}}) reads(%A[0 : 6, %[[W]]]) writes(%B[0 : 6, %[[W]]])
tensor_loop.func @read_by_a_block_in_a_block(%A: memref<6x5xf32>) outs(%B: memref<6x5xf32>) {
  %T = tensor_loop.alloc : memref<6x5xf32>
  tensor_loop.grid (%i, %j) in (6, 5) {
    tensor_loop.block "d" spatial(%v in 6 = %i, %w in 5 = %j) {
      %a = memref.load %A[%v, %w] : memref<6x5xf32>
      %t = arith.mulf %a, %a : f32
      memref.store %t, %T[%v, %w] : memref<6x5xf32>
    }
  }
  tensor_loop.grid (%i) in (6) {
    tensor_loop.block "outer" spatial(%u in 6 = %i) {
      tensor_loop.grid (%j) in (5) {
        tensor_loop.block "e" spatial(%w in 5 = %j) {
          %a = memref.load %T[%u, %w] : memref<6x5xf32>
          memref.store %a, %B[%u, %w] : memref<6x5xf32>
        }
      }
    }
  }
}

/// The block outside runs the reader six times, which would repeat the exponentials.

// CHECK-LABEL: tensor_loop.func @no_inlining_of_what_the_block_outside_repeats
// CHECK:       tensor_loop.alloc
tensor_loop.func @no_inlining_of_what_the_block_outside_repeats(%A: memref<5xf32>) outs(%B: memref<6x5xf32>) {
  %T = tensor_loop.alloc : memref<5xf32>
  tensor_loop.grid (%j) in (5) {
    tensor_loop.block "d" spatial(%w in 5 = %j) {
      %a = memref.load %A[%w] : memref<5xf32>
      %t = math.exp %a : f32
      memref.store %t, %T[%w] : memref<5xf32>
    }
  }
  tensor_loop.grid (%i) in (6) {
    tensor_loop.block "outer" spatial(%u in 6 = %i) {
      tensor_loop.grid (%j) in (5) {
        tensor_loop.block "e" spatial(%w in 5 = %j) {
          %a = memref.load %T[%w] : memref<5xf32>
          memref.store %a, %B[%u, %w] : memref<6x5xf32>
        }
      }
    }
  }
}
