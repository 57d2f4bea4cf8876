// RUN: stepwell-opt %s -p 'apply-schedule-plan{target="x86-64-v4"}' --split-input-file --verify-diagnostics | filecheck %s

// CHECK: block "mm" cannot have 'stepwell.tiling' = #schedule.order<[1, 0]>: the grid has 3 loops
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.order<[1, 0]>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "mm" cannot have 'stepwell.tiling' = #schedule.order<[0, 1, 2], vectorized>: iterations of %k touch elements that are not next to each other
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1, 2], vectorized>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "mm" cannot have 'stepwell.tiling' = #schedule.transpose<side = 4>: the block is no copy that turns tiles of 16x16 elements
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.transpose<side = 4>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "mm" cannot have 'stepwell.tiling' = #schedule.flat_rows<rows = 4>: the block is no depthwise convolution whose rows can be flattened
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.flat_rows<rows = 4>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "neg" cannot have 'stepwell.tiling' = #schedule.on_tiles<"mm">: the block before it has no register tiles that it can be computed on
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1, 2]>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) attributes {stepwell.tiling = #schedule.on_tiles<"mm">} {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "mm" cannot have 'stepwell.tiling' = #schedule.left_out<"neg">: no block after it can read the image without its copy
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.left_out<"neg">} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "mm" cannot have 'stepwell.tiling' = #schedule.tiling<rows = 8, columns = 48, rows_ahead>: the rows of a that the next tile reads do not follow in memory, so none are ahead
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.tiling<rows = 8, columns = 48, rows_ahead>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "mm" cannot have 'stepwell.prepacked' = true: 'prepack-weights' has not laid out its right operand
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.tiling<rows = 8, columns = 48>, stepwell.prepacked = true} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "neg" cannot have 'stepwell.rows' = 1: its outermost loop has another number of iterations than that of "mm"
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1, 2]>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) attributes {stepwell.tiling = #schedule.order<[1, 0]>, stepwell.rows = 1 : i64} {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "neg" cannot have 'stepwell.rows' = 3
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1, 2]>} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) attributes {stepwell.tiling = #schedule.order<[0, 1]>, stepwell.rows = 3 : i64} {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "mm" cannot have 'stepwell.rows' = 1: no block is before it
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1, 2]>, stepwell.rows = 1 : i64} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "mm" cannot have 'stepwell.rows' = -1 : i64: expected a number of loops, at least 0
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.rows = -1 : i64} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: 'stepwell.share' is -1 : i64, expected a number of nanoseconds, 0 for one thread
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.share = -1 : i64} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "mm" cannot have 'stepwell.maximum' = "all": expected "none", "zeros" or "nan"
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.maximum = "all"} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "mm" cannot have 'stepwell.maximum' = "nan": it takes no maximum that is only subtracted before an exponential
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.maximum = "nan"} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<24x96xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<24x64xf32>
      %b = memref.load %B[%vk, %vj] : memref<64x96xf32>
      %c = memref.load %S[%vi, %vj] : memref<24x96xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<24x96xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "total" cannot have 'stepwell.rows_at_once' = 3: it does not divide the 8 rows
tensor_loop.func @sums(%x: memref<8x80xf32>) outs(%y: memref<8x80xf32>) {
  %t = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i, %k) in (8, 80) {
    tensor_loop.block "total" spatial(%vi in 8 = %i) reduce(%vk in 80 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>, stepwell.rows_at_once = 3 : i64} {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %t[%vi] : memref<8xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<8x80xf32>
      %a = memref.load %t[%vi] : memref<8xf32>
      %s = arith.addf %a, %v fastmath<reassoc> : f32
      memref.store %s, %t[%vi] : memref<8xf32>
    }
  }
  %u = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "scale" spatial(%vi in 8 = %i) attributes {stepwell.tiling = #schedule.order<[0]>} {
      %one = arith.constant 1.0 : f32
      %v = memref.load %t[%vi] : memref<8xf32>
      %r = arith.divf %one, %v : f32
      memref.store %r, %u[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (8, 80) {
    tensor_loop.block "scaled" spatial(%vi in 8 = %i, %vj in 80 = %j) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>} {
      %v = memref.load %x[%vi, %vj] : memref<8x80xf32>
      %r = memref.load %u[%vi] : memref<8xf32>
      %p = arith.mulf %v, %r : f32
      memref.store %p, %y[%vi, %vj] : memref<8x80xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "total" cannot have 'stepwell.rows_at_once' = 0 : i64: expected a number of rows, at least 1
tensor_loop.func @sums(%x: memref<8x80xf32>) outs(%y: memref<8x80xf32>) {
  %t = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i, %k) in (8, 80) {
    tensor_loop.block "total" spatial(%vi in 8 = %i) reduce(%vk in 80 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>, stepwell.rows_at_once = 0 : i64} {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %t[%vi] : memref<8xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<8x80xf32>
      %a = memref.load %t[%vi] : memref<8xf32>
      %s = arith.addf %a, %v fastmath<reassoc> : f32
      memref.store %s, %t[%vi] : memref<8xf32>
    }
  }
  %u = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "scale" spatial(%vi in 8 = %i) attributes {stepwell.tiling = #schedule.order<[0]>} {
      %one = arith.constant 1.0 : f32
      %v = memref.load %t[%vi] : memref<8xf32>
      %r = arith.divf %one, %v : f32
      memref.store %r, %u[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (8, 80) {
    tensor_loop.block "scaled" spatial(%vi in 8 = %i, %vj in 80 = %j) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>} {
      %v = memref.load %x[%vi, %vj] : memref<8x80xf32>
      %r = memref.load %u[%vi] : memref<8xf32>
      %p = arith.mulf %v, %r : f32
      memref.store %p, %y[%vi, %vj] : memref<8x80xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "scale" cannot have 'stepwell.rows_at_once' = 4: it is not the first block of a loop over rows that blocks share
tensor_loop.func @sums(%x: memref<8x80xf32>) outs(%y: memref<8x80xf32>) {
  %t = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i, %k) in (8, 80) {
    tensor_loop.block "total" spatial(%vi in 8 = %i) reduce(%vk in 80 = %k) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>} {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %t[%vi] : memref<8xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<8x80xf32>
      %a = memref.load %t[%vi] : memref<8xf32>
      %s = arith.addf %a, %v fastmath<reassoc> : f32
      memref.store %s, %t[%vi] : memref<8xf32>
    }
  }
  %u = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "scale" spatial(%vi in 8 = %i) attributes {stepwell.tiling = #schedule.order<[0]>, stepwell.rows_at_once = 4 : i64} {
      %one = arith.constant 1.0 : f32
      %v = memref.load %t[%vi] : memref<8xf32>
      %r = arith.divf %one, %v : f32
      memref.store %r, %u[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (8, 80) {
    tensor_loop.block "scaled" spatial(%vi in 8 = %i, %vj in 80 = %j) attributes {stepwell.tiling = #schedule.order<[0, 1], vectorized>} {
      %v = memref.load %x[%vi, %vj] : memref<8x80xf32>
      %r = memref.load %u[%vi] : memref<8xf32>
      %p = arith.mulf %v, %r : f32
      memref.store %p, %y[%vi, %vj] : memref<8x80xf32>
    }
  }
}
