// RUN: stepwell-opt %s -p apply-schedule-plan --config target=x86-64-v4 --split-input-file --verify-diagnostics | filecheck %s

// CHECK: block "first" cannot have 'stepwell.strip' = "many": expected a number of rows, 0 for none
tensor_loop.func @chain(%q: memref<32x8xf32>, %k: memref<8x32xf32>, %v: memref<32x16xf32>) outs(%out: memref<32x16xf32>) {
  %s = tensor_loop.alloc : memref<32x32xf32>
  tensor_loop.grid (%i, %j, %k0) in (32, 32, 8) {
    tensor_loop.block "first" spatial(%vi in 32 = %i, %vj in 32 = %j) reduce(%vk in 8 = %k0) attributes {stepwell.strip = "many"} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %s[%vi, %vj] : memref<32x32xf32>
      }
      %a = memref.load %q[%vi, %vk] : memref<32x8xf32>
      %b = memref.load %k[%vk, %vj] : memref<8x32xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %c = memref.load %s[%vi, %vj] : memref<32x32xf32>
      %d = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %d, %s[%vi, %vj] : memref<32x32xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (32, 32) {
    tensor_loop.block "map" spatial(%vi in 32 = %i, %vj in 32 = %j) {
      %a = memref.load %s[%vi, %vj] : memref<32x32xf32>
      %x = math.exp %a : f32
      memref.store %x, %s[%vi, %vj] : memref<32x32xf32>
    }
  }
  tensor_loop.grid (%i, %j, %k0) in (32, 16, 32) {
    tensor_loop.block "second" spatial(%vi in 32 = %i, %vj in 16 = %j) reduce(%vk in 32 = %k0) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %out[%vi, %vj] : memref<32x16xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<32x32xf32>
      %b = memref.load %v[%vk, %vj] : memref<32x16xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %c = memref.load %out[%vi, %vj] : memref<32x16xf32>
      %d = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %d, %out[%vi, %vj] : memref<32x16xf32>
    }
  }
}

// -----

// CHECK: block "first" cannot have 'stepwell.strip' = 33: the product has 32 rows
tensor_loop.func @chain(%q: memref<32x8xf32>, %k: memref<8x32xf32>, %v: memref<32x16xf32>) outs(%out: memref<32x16xf32>) {
  %s = tensor_loop.alloc : memref<32x32xf32>
  tensor_loop.grid (%i, %j, %k0) in (32, 32, 8) {
    tensor_loop.block "first" spatial(%vi in 32 = %i, %vj in 32 = %j) reduce(%vk in 8 = %k0) attributes {stepwell.strip = 33 : i64} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %s[%vi, %vj] : memref<32x32xf32>
      }
      %a = memref.load %q[%vi, %vk] : memref<32x8xf32>
      %b = memref.load %k[%vk, %vj] : memref<8x32xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %c = memref.load %s[%vi, %vj] : memref<32x32xf32>
      %d = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %d, %s[%vi, %vj] : memref<32x32xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (32, 32) {
    tensor_loop.block "map" spatial(%vi in 32 = %i, %vj in 32 = %j) {
      %a = memref.load %s[%vi, %vj] : memref<32x32xf32>
      %x = math.exp %a : f32
      memref.store %x, %s[%vi, %vj] : memref<32x32xf32>
    }
  }
  tensor_loop.grid (%i, %j, %k0) in (32, 16, 32) {
    tensor_loop.block "second" spatial(%vi in 32 = %i, %vj in 16 = %j) reduce(%vk in 32 = %k0) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %out[%vi, %vj] : memref<32x16xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<32x32xf32>
      %b = memref.load %v[%vk, %vj] : memref<32x16xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %c = memref.load %out[%vi, %vj] : memref<32x16xf32>
      %d = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %d, %out[%vi, %vj] : memref<32x16xf32>
    }
  }
}

// -----

// CHECK: block "first" cannot have 'stepwell.strip' = 8: no product of its rows follows, or something else needs what is between
tensor_loop.func @chain(%q: memref<32x8xf32>, %k: memref<8x32xf32>, %v: memref<32x16xf32>) outs(%out: memref<32x16xf32>) {
  %s = tensor_loop.alloc : memref<32x32xf32>
  tensor_loop.grid (%i, %j, %k0) in (32, 32, 8) {
    tensor_loop.block "first" spatial(%vi in 32 = %i, %vj in 32 = %j) reduce(%vk in 8 = %k0) attributes {stepwell.strip = 8 : i64} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %s[%vi, %vj] : memref<32x32xf32>
      }
      %a = memref.load %q[%vi, %vk] : memref<32x8xf32>
      %b = memref.load %k[%vk, %vj] : memref<8x32xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %c = memref.load %s[%vi, %vj] : memref<32x32xf32>
      %d = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %d, %s[%vi, %vj] : memref<32x32xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (32, 32) {
    tensor_loop.block "map" spatial(%vi in 32 = %i, %vj in 32 = %j) {
      %a = memref.load %s[%vi, %vj] : memref<32x32xf32>
      %x = math.exp %a : f32
      memref.store %x, %s[%vi, %vj] : memref<32x32xf32>
    }
  }
  tensor_loop.grid (%i, %j, %k0) in (32, 16, 32) {
    tensor_loop.block "second" spatial(%vi in 32 = %i, %vj in 16 = %j) reduce(%vk in 32 = %k0) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %out[%vi, %vj] : memref<32x16xf32>
      }
      %a = memref.load %s[%vk, %vi] : memref<32x32xf32>
      %b = memref.load %v[%vk, %vj] : memref<32x16xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %c = memref.load %out[%vi, %vj] : memref<32x16xf32>
      %d = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %d, %out[%vi, %vj] : memref<32x16xf32>
    }
  }
}

// -----

// CHECK: block "map" cannot have 'stepwell.tiling' = #schedule.order<[1, 0]>: block "first" takes it along in strips of 8 rows
tensor_loop.func @chain(%q: memref<32x8xf32>, %k: memref<8x32xf32>, %v: memref<32x16xf32>) outs(%out: memref<32x16xf32>) {
  %s = tensor_loop.alloc : memref<32x32xf32>
  tensor_loop.grid (%i, %j, %k0) in (32, 32, 8) {
    tensor_loop.block "first" spatial(%vi in 32 = %i, %vj in 32 = %j) reduce(%vk in 8 = %k0) attributes {stepwell.strip = 8 : i64} {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %s[%vi, %vj] : memref<32x32xf32>
      }
      %a = memref.load %q[%vi, %vk] : memref<32x8xf32>
      %b = memref.load %k[%vk, %vj] : memref<8x32xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %c = memref.load %s[%vi, %vj] : memref<32x32xf32>
      %d = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %d, %s[%vi, %vj] : memref<32x32xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (32, 32) {
    tensor_loop.block "map" spatial(%vi in 32 = %i, %vj in 32 = %j) attributes {stepwell.tiling = #schedule.order<[1, 0]>} {
      %a = memref.load %s[%vi, %vj] : memref<32x32xf32>
      %x = math.exp %a : f32
      memref.store %x, %s[%vi, %vj] : memref<32x32xf32>
    }
  }
  tensor_loop.grid (%i, %j, %k0) in (32, 16, 32) {
    tensor_loop.block "second" spatial(%vi in 32 = %i, %vj in 16 = %j) reduce(%vk in 32 = %k0) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %out[%vi, %vj] : memref<32x16xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<32x32xf32>
      %b = memref.load %v[%vk, %vj] : memref<32x16xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %c = memref.load %out[%vi, %vj] : memref<32x16xf32>
      %d = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %d, %out[%vi, %vj] : memref<32x16xf32>
    }
  }
}
