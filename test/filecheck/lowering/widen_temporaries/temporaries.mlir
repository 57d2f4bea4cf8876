// RUN: stepwell-opt %s -p widen-temporaries --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p widen-temporaries,widen-temporaries --split-input-file | filecheck %s

/// Sums that are only read unrounded are stored as f32. The casts say that the rounding between is an implied one.
// CHECK-LABEL: @scores
// CHECK: %t = tensor_loop.alloc : memref<4x8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f16
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[SUM]] {stepwell.implied} : f16 to f32
// CHECK-NEXT: memref.store %[[WIDE]], %t[%vi, %vj] : memref<4x8xf32>
// CHECK: %[[LOADED:.*]] = memref.load %t[%vi_1, %vj_1] : memref<4x8xf32>
// CHECK-NEXT: math.exp %[[LOADED]] : f32
tensor_loop.func private @scores(%x: memref<4x8xf16>) outs(%out: memref<4x8xf32>) {
  %t = tensor_loop.alloc : memref<4x8xf16>
  tensor_loop.grid (%i, %j) in (4, 8) {
    tensor_loop.block "add" spatial(%vi in 4 = %i, %vj in 8 = %j) {
      %a = memref.load %x[%vi, %vj] : memref<4x8xf16>
      %s = arith.addf %a, %a : f16
      memref.store %s, %t[%vi, %vj] : memref<4x8xf16>
    }
  }
  tensor_loop.grid (%i, %j) in (4, 8) {
    tensor_loop.block "exp" spatial(%vi in 4 = %i, %vj in 8 = %j) {
      %b = memref.load %t[%vi, %vj] : memref<4x8xf16>
      %w = arith.extf %b {stepwell.implied} : f16 to f32
      %e = math.exp %w : f32
      memref.store %e, %out[%vi, %vj] : memref<4x8xf32>
    }
  }
}

// -----

/// A cast that is written takes a rounded number.
// CHECK-LABEL: @no_written_cast
// CHECK: %t = tensor_loop.alloc : memref<8xbf16>
tensor_loop.func private @no_written_cast(%x: memref<8xbf16>) outs(%out: memref<8xf32>) {
  %t = tensor_loop.alloc : memref<8xbf16>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "add" spatial(%vi in 8 = %i) {
      %a = memref.load %x[%vi] : memref<8xbf16>
      %s = arith.addf %a, %a : bf16
      memref.store %s, %t[%vi] : memref<8xbf16>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "cast" spatial(%vi in 8 = %i) {
      %b = memref.load %t[%vi] : memref<8xbf16>
      %w = arith.extf %b : bf16 to f32
      memref.store %w, %out[%vi] : memref<8xf32>
    }
  }
}

// -----

/// What is only moved has been rounded before.
// CHECK-LABEL: @no_copy
// CHECK: %t = tensor_loop.alloc : memref<8xf16>
tensor_loop.func private @no_copy(%x: memref<8xf16>) outs(%out: memref<8xf32>) {
  %t = tensor_loop.alloc : memref<8xf16>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %a = memref.load %x[%vi] : memref<8xf16>
      memref.store %a, %t[%vi] : memref<8xf16>
    }
  }
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "exp" spatial(%vi in 8 = %i) {
      %b = memref.load %t[%vi] : memref<8xf16>
      %w = arith.extf %b {stepwell.implied} : f16 to f32
      memref.store %w, %out[%vi] : memref<8xf32>
    }
  }
}

// -----

/// A reduction rounds its sum at each step.
// CHECK-LABEL: @no_reduction
// CHECK: %t = tensor_loop.alloc : memref<4xf16>
tensor_loop.func private @no_reduction(%x: memref<4x8xf16>) outs(%out: memref<4xf32>) {
  %t = tensor_loop.alloc : memref<4xf16>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "largest" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f16
        memref.store %z, %t[%vi] : memref<4xf16>
      }
      %a = memref.load %x[%vi, %vk] : memref<4x8xf16>
      %b = memref.load %t[%vi] : memref<4xf16>
      %s = arith.addf %a, %b : f16
      memref.store %s, %t[%vi] : memref<4xf16>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "exp" spatial(%vi in 4 = %i) {
      %b = memref.load %t[%vi] : memref<4xf16>
      %w = arith.extf %b {stepwell.implied} : f16 to f32
      memref.store %w, %out[%vi] : memref<4xf32>
    }
  }
}
