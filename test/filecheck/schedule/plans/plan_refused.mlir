// RUN: stepwell-opt %s -p 'plan-schedules{target="x86-64-v4"}' --split-input-file --verify-diagnostics | filecheck %s

// CHECK: block "mm" cannot have 'stepwell.prepacked' = true: @product is no private function that the program calls
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.prepacked = true} {
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

// CHECK: block "mm" cannot have 'stepwell.prepacked' = 3 : i64: expected true or false
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.prepacked = 3 : i64} {
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

// CHECK: 'stepwell.reason' is "why", expected a dictionary of texts
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) attributes {stepwell.reason = "why"} {
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

// CHECK: block "neg" cannot have 'stepwell.tiling' = #schedule.tiling<rows = 1, columns = 16>: the block is no contraction that register tiles are made for
tensor_loop.func @product(%A: memref<24x64xf32>, %B: memref<64x96xf32>) outs(%C: memref<24x96xf32>) {
  %S = tensor_loop.alloc : memref<24x96xf32>
  tensor_loop.grid (%i, %j, %k) in (24, 96, 64) {
    tensor_loop.block "mm" spatial(%vi in 24 = %i, %vj in 96 = %j) reduce(%vk in 64 = %k) {
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
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) attributes {stepwell.tiling = #schedule.tiling<rows = 1, columns = 16>} {
      %u = memref.load %S[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

// CHECK: block "neg" cannot have 'stepwell.prepacked' = true: no kernel takes it up as a product with a right operand
tensor_loop.func @no_product(%A: memref<24x96xf32>) outs(%C: memref<24x96xf32>) {
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) attributes {stepwell.prepacked = true} {
      %u = memref.load %A[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}

// -----
// CHECK: // -----

/// That a right operand is not laid out is true of what has none.
// CHECK: tensor_loop.func @no_product_no_panels
// CHECK: stepwell.prepacked = false
tensor_loop.func @no_product_no_panels(%A: memref<24x96xf32>) outs(%C: memref<24x96xf32>) {
  tensor_loop.grid (%x, %y) in (24, 96) {
    tensor_loop.block "neg" spatial(%vx in 24 = %x, %vy in 96 = %y) attributes {stepwell.prepacked = false} {
      %u = memref.load %A[%vx, %vy] : memref<24x96xf32>
      %v = arith.negf %u : f32
      memref.store %v, %C[%vx, %vy] : memref<24x96xf32>
    }
  }
}
