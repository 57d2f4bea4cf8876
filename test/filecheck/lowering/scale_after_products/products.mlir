// RUN: stepwell-opt %s -p scale-after-products --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p scale-after-products,scale-after-products --split-input-file | filecheck %s

/// The product takes the exponentials, and its result is multiplied by what they were multiplied by.
// CHECK-LABEL: @attention
// CHECK: tensor_loop.block "e"
// CHECK-NOT: tensor_loop.block "p"
// CHECK: %[[T:.*]] = tensor_loop.alloc : memref<4x2xf32>
// CHECK: tensor_loop.block "matmul" {{.*}} reads(%s[{{.*}}], %v[{{.*}}]) writes(%[[T]][
// CHECK: tensor_loop.grid (%{{.*}}, %{{.*}}) in (4, 2) {
// CHECK-NEXT: tensor_loop.block "p" {{.*}} reads(%[[T]][%[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]], %r[%[[I]]]) writes(%out[%[[I]], %[[J]]])
// CHECK: %[[X:.*]] = memref.load %[[T]][%[[I]], %[[J]]]
// CHECK-NEXT: %[[F:.*]] = memref.load %r[%[[I]]]
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[F]] : f32
// CHECK-NEXT: memref.store %[[Y]], %out[%[[I]], %[[J]]]
tensor_loop.func @attention(%x: memref<4x8xf32>, %v: memref<8x2xf32>) outs(%out: memref<4x2xf32>) {
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
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.mulf %a, %b : f32
      memref.store %c, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %j, %k) in (4, 2, 8) {
    tensor_loop.block "matmul" spatial(%vi in 4 = %i, %vj in 2 = %j) reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %out[%vi, %vj] : memref<4x2xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %v[%vk, %vj] : memref<8x2xf32>
      %c = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %d = memref.load %out[%vi, %vj] : memref<4x2xf32>
      %e = arith.addf %d, %c fastmath<reassoc,contract> : f32
      memref.store %e, %out[%vi, %vj] : memref<4x2xf32>
    }
  }
}

// -----
/// A product of small floats takes the exponentials in the precision of its sums. Nothing is rounded in between.
// CHECK-LABEL: @halves
// CHECK: tensor_loop.block "e"
// CHECK-NOT: arith.truncf
// CHECK: tensor_loop.block "matmul" {{.*}} reads(%s[{{.*}}], %v[{{.*}}])
// CHECK: %[[E:.*]] = memref.load %s[{{.*}}] : memref<4x8xf32>
// CHECK-NEXT: %[[V:.*]] = memref.load %v[{{.*}}] : memref<8x2xf16>
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[V]] : f16 to f32
// CHECK-NEXT: arith.mulf %[[E]], %[[W]]
// CHECK: tensor_loop.block "p" {{.*}} writes(%out
tensor_loop.func @halves(%x: memref<4x8xf32>, %v: memref<8x2xf16>) outs(%out: memref<4x2xf32>) {
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
  %p = tensor_loop.alloc : memref<4x8xf16>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.mulf %a, %b : f32
      %h = arith.truncf %c : f32 to f16
      memref.store %h, %p[%vi, %vk] : memref<4x8xf16>
    }
  }
  tensor_loop.grid (%i, %j, %k) in (4, 2, 8) {
    tensor_loop.block "matmul" spatial(%vi in 4 = %i, %vj in 2 = %j) reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %out[%vi, %vj] : memref<4x2xf32>
      }
      %h = memref.load %p[%vi, %vk] : memref<4x8xf16>
      %g = memref.load %v[%vk, %vj] : memref<8x2xf16>
      %a = arith.extf %h : f16 to f32
      %b = arith.extf %g : f16 to f32
      %c = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %d = memref.load %out[%vi, %vj] : memref<4x2xf32>
      %e = arith.addf %d, %c fastmath<reassoc,contract> : f32
      memref.store %e, %out[%vi, %vj] : memref<4x2xf32>
    }
  }
}

// -----

/// Exponentials that no maximum bounds may be so large that their sums overflow.
// CHECK-LABEL: @no_maximum
// CHECK: tensor_loop.block "p"
// CHECK: tensor_loop.block "matmul" {{.*}} writes(%out
// CHECK-NOT: tensor_loop.block
tensor_loop.func @no_maximum(%x: memref<4x8xf32>, %v: memref<8x2xf32>) outs(%out: memref<4x2xf32>) {
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
      %c = arith.addf %a, %b : f32
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
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.mulf %a, %b : f32
      memref.store %c, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %j, %k) in (4, 2, 8) {
    tensor_loop.block "matmul" spatial(%vi in 4 = %i, %vj in 2 = %j) reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %out[%vi, %vj] : memref<4x2xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %v[%vk, %vj] : memref<8x2xf32>
      %c = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %d = memref.load %out[%vi, %vj] : memref<4x2xf32>
      %e = arith.addf %d, %c fastmath<reassoc,contract> : f32
      memref.store %e, %out[%vi, %vj] : memref<4x2xf32>
    }
  }
}

// -----

/// The result has more columns than the left operand.
// CHECK-LABEL: @no_gain
// CHECK: tensor_loop.block "p"
// CHECK: tensor_loop.block "matmul" {{.*}} writes(%out
// CHECK-NOT: tensor_loop.block
tensor_loop.func @no_gain(%x: memref<4x8xf32>, %v: memref<8x16xf32>) outs(%out: memref<4x16xf32>) {
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
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.mulf %a, %b : f32
      memref.store %c, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %j, %k) in (4, 16, 8) {
    tensor_loop.block "matmul" spatial(%vi in 4 = %i, %vj in 16 = %j) reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %out[%vi, %vj] : memref<4x16xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %v[%vk, %vj] : memref<8x16xf32>
      %c = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %d = memref.load %out[%vi, %vj] : memref<4x16xf32>
      %e = arith.addf %d, %c fastmath<reassoc,contract> : f32
      memref.store %e, %out[%vi, %vj] : memref<4x16xf32>
    }
  }
}

// -----

/// The sums would be rounded to 11 bits, and might overflow, before they are scaled.
// CHECK-LABEL: @no_small_floats
// CHECK: tensor_loop.block "p"
// CHECK: tensor_loop.block "matmul" {{.*}} writes(%out
// CHECK-NOT: tensor_loop.block
tensor_loop.func @no_small_floats(%x: memref<4x8xf16>, %v: memref<8x2xf16>) outs(%out: memref<4x2xf16>) {
  %s = tensor_loop.alloc : memref<4x8xf16>
  %m = tensor_loop.alloc : memref<4xf16>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "m" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %low = arith.constant 0xfc00 : f16
        memref.store %low, %m[%vi] : memref<4xf16>
      }
      %a = memref.load %x[%vi, %vk] : memref<4x8xf16>
      %b = memref.load %m[%vi] : memref<4xf16>
      %c = arith.maximumf %b, %a : f16
      memref.store %c, %m[%vi] : memref<4xf16>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "e" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %x[%vi, %vk] : memref<4x8xf16>
      %b = memref.load %m[%vi] : memref<4xf16>
      %c = arith.subf %a, %b : f16
      %e = math.exp %c : f16
      memref.store %e, %s[%vi, %vk] : memref<4x8xf16>
    }
  }
  %r = tensor_loop.alloc : memref<4xf16>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f16
        memref.store %zero, %r[%vi] : memref<4xf16>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf16>
      %b = memref.load %r[%vi] : memref<4xf16>
      %c = arith.addf %b, %a fastmath<reassoc,contract> : f16
      memref.store %c, %r[%vi] : memref<4xf16>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "r" spatial(%vi in 4 = %i) {
      %one = arith.constant 1.0 : f16
      %a = memref.load %r[%vi] : memref<4xf16>
      %b = arith.divf %one, %a : f16
      memref.store %b, %r[%vi] : memref<4xf16>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf16>
      %b = memref.load %r[%vi] : memref<4xf16>
      %c = arith.mulf %a, %b : f16
      memref.store %c, %s[%vi, %vk] : memref<4x8xf16>
    }
  }
  tensor_loop.grid (%i, %j, %k) in (4, 2, 8) {
    tensor_loop.block "matmul" spatial(%vi in 4 = %i, %vj in 2 = %j) reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f16
        memref.store %zero, %out[%vi, %vj] : memref<4x2xf16>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf16>
      %b = memref.load %v[%vk, %vj] : memref<8x2xf16>
      %c = arith.mulf %a, %b fastmath<reassoc,contract> : f16
      %d = memref.load %out[%vi, %vj] : memref<4x2xf16>
      %e = arith.addf %d, %c fastmath<reassoc,contract> : f16
      memref.store %e, %out[%vi, %vj] : memref<4x2xf16>
    }
  }
}

// -----

/// Something else needs what is scaled.
// CHECK-LABEL: @no_other_reader
// CHECK: tensor_loop.block "p"
// CHECK: tensor_loop.block "matmul" {{.*}} writes(%out
// CHECK: tensor_loop.block "q"
// CHECK-NOT: tensor_loop.block
tensor_loop.func @no_other_reader(%x: memref<4x8xf32>, %v: memref<8x2xf32>) outs(%out: memref<4x2xf32>, %q: memref<4x8xf32>) {
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
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.mulf %a, %b : f32
      memref.store %c, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %j, %k) in (4, 2, 8) {
    tensor_loop.block "matmul" spatial(%vi in 4 = %i, %vj in 2 = %j) reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %out[%vi, %vj] : memref<4x2xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %v[%vk, %vj] : memref<8x2xf32>
      %c = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %d = memref.load %out[%vi, %vj] : memref<4x2xf32>
      %e = arith.addf %d, %c fastmath<reassoc,contract> : f32
      memref.store %e, %out[%vi, %vj] : memref<4x2xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "q" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      memref.store %a, %q[%vi, %vk] : memref<4x8xf32>
    }
  }
}
