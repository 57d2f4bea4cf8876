// RUN: stepwell-opt %s -p plan-schedules --config target=x86-64-v4 --split-input-file | filecheck %s

/// The second product takes columns of what is between as rows.
// CHECK-LABEL: @no_strips_across_rows(
// CHECK-NOT: stepwell.strip
tensor_loop.func @no_strips_across_rows(%q: memref<32x8xf32>, %k: memref<8x32xf32>, %v: memref<32x16xf32>) outs(%out: memref<32x16xf32>) {
  %s = tensor_loop.alloc : memref<32x32xf32>
  %e = tensor_loop.alloc : memref<32x32xf32>
  tensor_loop.grid (%i, %j, %k0) in (32, 32, 8) {
    tensor_loop.block "first" spatial(%vi in 32 = %i, %vj in 32 = %j) reduce(%vk in 8 = %k0) {
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
    tensor_loop.block "turn" spatial(%vi in 32 = %i, %vj in 32 = %j) {
      %a = memref.load %s[%vj, %vi] : memref<32x32xf32>
      %x = math.exp %a : f32
      memref.store %x, %e[%vi, %vj] : memref<32x32xf32>
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

/// What is between the products is a result too.
// CHECK-LABEL: @no_strips_of_a_result(
// CHECK-NOT: stepwell.strip
tensor_loop.func @no_strips_of_a_result(%q: memref<32x8xf32>, %k: memref<8x32xf32>, %v: memref<32x16xf32>) outs(%s: memref<32x32xf32>, %out: memref<32x16xf32>) {
  tensor_loop.grid (%i, %j, %k0) in (32, 32, 8) {
    tensor_loop.block "first" spatial(%vi in 32 = %i, %vj in 32 = %j) reduce(%vk in 8 = %k0) {
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
