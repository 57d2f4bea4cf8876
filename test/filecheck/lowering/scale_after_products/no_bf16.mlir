// RUN: stepwell-opt %s -p scale-after-products{bf16=false} | filecheck %s
// RUN: stepwell-opt %s -p scale-after-products | filecheck %s --check-prefix=MOVED

/// Machines may have instructions for products of bf16, which `bf16=false` keeps.
// CHECK-LABEL: @no_bf16
// CHECK: tensor_loop.block "p"
// CHECK: tensor_loop.block "matmul" {{.*}} reads(%p[{{.*}}], %v[{{.*}}]) writes(%out
// CHECK-NOT: tensor_loop.block
// MOVED: tensor_loop.block "matmul" {{.*}} reads(%s[{{.*}}], %v[{{.*}}])
tensor_loop.func @no_bf16(%x: memref<4x8xf32>, %v: memref<8x2xbf16>) outs(%out: memref<4x2xf32>) {
  %s = tensor_loop.alloc : memref<4x8xf32>
  %m = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "m" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %low = arith.constant 0xff800000 : f32
        memref.store %low, %m[%vi] : memref<4xf32>
      }
      %a = memref.load %x[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %m[%vi] : memref<4xf32>
      %c = arith.maximumf %b, %a : f32
      memref.store %c, %m[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "e" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %x[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %m[%vi] : memref<4xf32>
      %c = arith.subf %a, %b : f32
      %e = math.exp %c : f32
      memref.store %e, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  %r = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %r[%vi] : memref<4xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.addf %b, %a fastmath<reassoc,contract> : f32
      memref.store %c, %r[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "r" spatial(%vi in 4 = %i) {
      %one = arith.constant 1.0 : f32
      %a = memref.load %r[%vi] : memref<4xf32>
      %b = arith.divf %one, %a : f32
      memref.store %b, %r[%vi] : memref<4xf32>
    }
  }
  %p = tensor_loop.alloc : memref<4x8xbf16>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.mulf %a, %b : f32
      %h = arith.truncf %c : f32 to bf16
      memref.store %h, %p[%vi, %vk] : memref<4x8xbf16>
    }
  }
  tensor_loop.grid (%i, %j, %k) in (4, 2, 8) {
    tensor_loop.block "matmul" spatial(%vi in 4 = %i, %vj in 2 = %j) reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %out[%vi, %vj] : memref<4x2xf32>
      }
      %h = memref.load %p[%vi, %vk] : memref<4x8xbf16>
      %g = memref.load %v[%vk, %vj] : memref<8x2xbf16>
      %a = arith.extf %h : bf16 to f32
      %b = arith.extf %g : bf16 to f32
      %c = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %d = memref.load %out[%vi, %vj] : memref<4x2xf32>
      %e = arith.addf %d, %c fastmath<reassoc,contract> : f32
      memref.store %e, %out[%vi, %vj] : memref<4x2xf32>
    }
  }
}
