// RUN: stepwell-opt %s -p relax-exponentials --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p relax-exponentials,relax-exponentials --split-input-file | filecheck %s

/// The factor of the scores goes to the differences, and the exponentials may be approximate.
// CHECK-LABEL: @softmax
// CHECK: tensor_loop.block "scores"
// CHECK-NOT: tensor_loop.block "scaled"
// CHECK: tensor_loop.block "m"
// CHECK: tensor_loop.block "e"
// CHECK: %[[D:.*]] = arith.subf
// CHECK-NEXT: %[[F:.*]] = arith.constant 1.250000e-01 : f32
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[D]], %[[F]] : f32
// CHECK-NEXT: math.exp %[[P]] fastmath<afn> : f32
tensor_loop.func @softmax(%x: memref<4x8xf32>) outs(%out: memref<4x8xf32>) {
  %s = tensor_loop.alloc : memref<4x8xf32>
  %m = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scores" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %x[%vi, %vk] : memref<4x8xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scaled" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %f = arith.constant 1.250000e-01 : f32
      %b = arith.mulf %a, %f : f32
      memref.store %b, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "m" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %low = arith.constant 0xff800000 : f32
        memref.store %low, %m[%vi] : memref<4xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %m[%vi] : memref<4xf32>
      %c = arith.maximumf %b, %a : f32
      memref.store %c, %m[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "e" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
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
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.divf %a, %b : f32
      memref.store %c, %out[%vi, %vk] : memref<4x8xf32>
    }
  }
}

// -----

/// A negative factor would make the least number the greatest.
// CHECK-LABEL: @no_negative_factor
// CHECK: arith.mulf
// CHECK: tensor_loop.block "e"
// CHECK: %[[D:.*]] = arith.subf
// CHECK-NEXT: math.exp %[[D]] fastmath<afn> : f32
tensor_loop.func @no_negative_factor(%x: memref<4x8xf32>) outs(%out: memref<4x8xf32>) {
  %s = tensor_loop.alloc : memref<4x8xf32>
  %m = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scores" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %x[%vi, %vk] : memref<4x8xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scaled" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %f = arith.constant -1.250000e-01 : f32
      %b = arith.mulf %a, %f : f32
      memref.store %b, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "m" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %low = arith.constant 0xff800000 : f32
        memref.store %low, %m[%vi] : memref<4xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %m[%vi] : memref<4xf32>
      %c = arith.maximumf %b, %a : f32
      memref.store %c, %m[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "e" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
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
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.divf %a, %b : f32
      memref.store %c, %out[%vi, %vk] : memref<4x8xf32>
    }
  }
}

// -----

/// Only some of the scores are scaled.
// CHECK-LABEL: @no_part
// CHECK: arith.mulf
// CHECK: tensor_loop.block "e"
// CHECK: %[[D:.*]] = arith.subf
// CHECK-NEXT: math.exp %[[D]] fastmath<afn> : f32
tensor_loop.func @no_part(%x: memref<4x8xf32>) outs(%out: memref<4x8xf32>) {
  %s = tensor_loop.alloc : memref<4x8xf32>
  %m = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scores" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %x[%vi, %vk] : memref<4x8xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 7) {
    tensor_loop.block "scaled" spatial(%vi in 4 = %i, %vk in 7 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %f = arith.constant 1.250000e-01 : f32
      %b = arith.mulf %a, %f : f32
      memref.store %b, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "m" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %low = arith.constant 0xff800000 : f32
        memref.store %low, %m[%vi] : memref<4xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %m[%vi] : memref<4xf32>
      %c = arith.maximumf %b, %a : f32
      memref.store %c, %m[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "e" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
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
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.divf %a, %b : f32
      memref.store %c, %out[%vi, %vk] : memref<4x8xf32>
    }
  }
}

// -----

/// The scaled scores are needed elsewhere.
// CHECK-LABEL: @no_other_reader
// CHECK: arith.mulf
// CHECK: tensor_loop.block "e"
// CHECK: %[[D:.*]] = arith.subf
// CHECK-NEXT: math.exp %[[D]] fastmath<afn> : f32
tensor_loop.func @no_other_reader(%x: memref<4x8xf32>) outs(%out: memref<4x8xf32>, %copy: memref<4x8xf32>) {
  %s = tensor_loop.alloc : memref<4x8xf32>
  %m = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scores" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %x[%vi, %vk] : memref<4x8xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scaled" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %f = arith.constant 1.250000e-01 : f32
      %b = arith.mulf %a, %f : f32
      memref.store %b, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "copy" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      memref.store %a, %copy[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "m" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %low = arith.constant 0xff800000 : f32
        memref.store %low, %m[%vi] : memref<4xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %m[%vi] : memref<4xf32>
      %c = arith.maximumf %b, %a : f32
      memref.store %c, %m[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "e" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
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
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %r[%vi] : memref<4xf32>
      %c = arith.divf %a, %b : f32
      memref.store %c, %out[%vi, %vk] : memref<4x8xf32>
    }
  }
}

// -----

/// There is no faster exponential in f64.
// CHECK-LABEL: @no_double
// CHECK: arith.mulf
// CHECK: math.exp %{{.*}} : f64
tensor_loop.func @no_double(%x: memref<4x8xf64>) outs(%out: memref<4x8xf64>) {
  %s = tensor_loop.alloc : memref<4x8xf64>
  %m = tensor_loop.alloc : memref<4xf64>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scores" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %x[%vi, %vk] : memref<4x8xf64>
      %b = arith.addf %a, %a : f64
      memref.store %b, %s[%vi, %vk] : memref<4x8xf64>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scaled" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf64>
      %f = arith.constant 1.250000e-01 : f64
      %b = arith.mulf %a, %f : f64
      memref.store %b, %s[%vi, %vk] : memref<4x8xf64>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "m" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %low = arith.constant 0xfff0000000000000 : f64
        memref.store %low, %m[%vi] : memref<4xf64>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf64>
      %b = memref.load %m[%vi] : memref<4xf64>
      %c = arith.maximumf %b, %a : f64
      memref.store %c, %m[%vi] : memref<4xf64>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "e" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf64>
      %b = memref.load %m[%vi] : memref<4xf64>
      %c = arith.subf %a, %b : f64
      %e = math.exp %c : f64
      memref.store %e, %s[%vi, %vk] : memref<4x8xf64>
    }
  }
  %r = tensor_loop.alloc : memref<4xf64>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f64
        memref.store %zero, %r[%vi] : memref<4xf64>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf64>
      %b = memref.load %r[%vi] : memref<4xf64>
      %c = arith.addf %b, %a fastmath<reassoc,contract> : f64
      memref.store %c, %r[%vi] : memref<4xf64>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf64>
      %b = memref.load %r[%vi] : memref<4xf64>
      %c = arith.divf %a, %b : f64
      memref.store %c, %out[%vi, %vk] : memref<4x8xf64>
    }
  }
}

// -----

/// The exponentials are not divided by their sum.
// CHECK-LABEL: @no_softmax
// CHECK: arith.mulf
// CHECK: math.exp %{{.*}} : f32
tensor_loop.func @no_softmax(%x: memref<4x8xf32>) outs(%out: memref<4x8xf32>) {
  %s = tensor_loop.alloc : memref<4x8xf32>
  %m = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scores" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %x[%vi, %vk] : memref<4x8xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "scaled" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %f = arith.constant 1.250000e-01 : f32
      %b = arith.mulf %a, %f : f32
      memref.store %b, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "m" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %low = arith.constant 0xff800000 : f32
        memref.store %low, %m[%vi] : memref<4xf32>
      }
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %m[%vi] : memref<4xf32>
      %c = arith.maximumf %b, %a : f32
      memref.store %c, %m[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "e" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %m[%vi] : memref<4xf32>
      %c = arith.subf %a, %b : f32
      %e = math.exp %c : f32
      memref.store %e, %s[%vi, %vk] : memref<4x8xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "p" spatial(%vi in 4 = %i, %vk in 8 = %k) {
      %a = memref.load %s[%vi, %vk] : memref<4x8xf32>
      %b = memref.load %m[%vi] : memref<4xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %out[%vi, %vk] : memref<4x8xf32>
    }
  }
}
