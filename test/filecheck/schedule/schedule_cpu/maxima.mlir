// RUN: stepwell-opt %s -p schedule-cpu --split-input-file | filecheck %s

/// exp(x - 0) = exp(x + 0): the sign of a zero maximum does not matter.
// CHECK-LABEL: @before_exp
// CHECK: arith.maximumf %{{.*}}, %{{.*}} fastmath<nsz> : f32
tensor_loop.func @before_exp(%x: memref<6x80xf32>) outs(%y: memref<6x80xf32>) {
  %m = tensor_loop.alloc : memref<6xf32>
  tensor_loop.grid (%i, %k) in (6, 80) {
    tensor_loop.block "max" spatial(%vi in 6 = %i) reduce(%vk in 80 = %k) {
      init {
        %low = arith.constant 0xff800000 : f32
        memref.store %low, %m[%vi] : memref<6xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<6x80xf32>
      %a = memref.load %m[%vi] : memref<6xf32>
      %s = arith.maximumf %a, %v : f32
      memref.store %s, %m[%vi] : memref<6xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "exp" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<6x80xf32>
      %a = memref.load %m[%vi] : memref<6xf32>
      %d = arith.subf %v, %a : f32
      %e = math.exp %d : f32
      memref.store %e, %y[%vi, %vj] : memref<6x80xf32>
    }
  }
}

// -----

/// The same of small floats, which are extended before they are subtracted.
// CHECK-LABEL: @before_exp_of_halves
// CHECK: arith.maximumf %{{.*}}, %{{.*}} fastmath<nsz> : f16
tensor_loop.func @before_exp_of_halves(%x: memref<6x80xf16>) outs(%y: memref<6x80xf32>) {
  %m = tensor_loop.alloc : memref<6xf16>
  tensor_loop.grid (%i, %k) in (6, 80) {
    tensor_loop.block "max" spatial(%vi in 6 = %i) reduce(%vk in 80 = %k) {
      init {
        %low = arith.constant 0xfc00 : f16
        memref.store %low, %m[%vi] : memref<6xf16>
      }
      %v = memref.load %x[%vi, %vk] : memref<6x80xf16>
      %a = memref.load %m[%vi] : memref<6xf16>
      %s = arith.maximumf %a, %v : f16
      memref.store %s, %m[%vi] : memref<6xf16>
    }
  }
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "exp" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<6x80xf16>
      %a = memref.load %m[%vi] : memref<6xf16>
      %vw = arith.extf %v : f16 to f32
      %aw = arith.extf %a : f16 to f32
      %d = arith.subf %vw, %aw : f32
      %e = math.exp %d : f32
      memref.store %e, %y[%vi, %vj] : memref<6x80xf32>
    }
  }
}

// -----

/// The maximum itself is the result.
// CHECK-LABEL: @no_result
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f32
tensor_loop.func @no_result(%x: memref<6x80xf32>) outs(%m: memref<6xf32>) {
  tensor_loop.grid (%i, %k) in (6, 80) {
    tensor_loop.block "max" spatial(%vi in 6 = %i) reduce(%vk in 80 = %k) {
      init {
        %low = arith.constant 0xff800000 : f32
        memref.store %low, %m[%vi] : memref<6xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<6x80xf32>
      %a = memref.load %m[%vi] : memref<6xf32>
      %s = arith.maximumf %a, %v : f32
      memref.store %s, %m[%vi] : memref<6xf32>
    }
  }
}

// -----

/// The difference is a result: its zeros keep their sign.
// CHECK-LABEL: @no_difference
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f32
tensor_loop.func @no_difference(%x: memref<6x80xf32>) outs(%y: memref<6x80xf32>) {
  %m = tensor_loop.alloc : memref<6xf32>
  tensor_loop.grid (%i, %k) in (6, 80) {
    tensor_loop.block "max" spatial(%vi in 6 = %i) reduce(%vk in 80 = %k) {
      init {
        %low = arith.constant 0xff800000 : f32
        memref.store %low, %m[%vi] : memref<6xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<6x80xf32>
      %a = memref.load %m[%vi] : memref<6xf32>
      %s = arith.maximumf %a, %v : f32
      memref.store %s, %m[%vi] : memref<6xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "difference" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<6x80xf32>
      %a = memref.load %m[%vi] : memref<6xf32>
      %d = arith.subf %v, %a : f32
      memref.store %d, %y[%vi, %vj] : memref<6x80xf32>
    }
  }
}
