// RUN: stepwell-opt %s -p split-loops | filecheck %s

/// Rows of 23 elements are too short for a border.
// CHECK-LABEL: @no_short_rows
// CHECK: in (8, 23)
// CHECK: scf.if
tensor_loop.func @no_short_rows(%x: memref<8x23xf32>) outs(%out: memref<8x23xf32>) {
  tensor_loop.grid (%i, %j) in (8, 23) {
    tensor_loop.block "b" spatial(%vi in 8 = %i, %vj in 23 = %j) {
      %ten = arith.constant 10 : index
      %c = arith.cmpi slt, %vj, %ten : index
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %x[%vi, %vj] : memref<8x23xf32>
        scf.yield %1 : f32
      } else {
        %2 = arith.constant 1.0 : f32
        scf.yield %2 : f32
      }
      memref.store %0, %out[%vi, %vj] : memref<8x23xf32>
    }
  }
}

/// On the diagonal there is no border of an axis.
// CHECK-LABEL: @no_diagonal
// CHECK: in (32, 32)
// CHECK: scf.if
tensor_loop.func @no_diagonal(%x: memref<32x32xf32>) outs(%out: memref<32x32xf32>) {
  tensor_loop.grid (%i, %j) in (32, 32) {
    tensor_loop.block "b" spatial(%vi in 32 = %i, %vj in 32 = %j) {
      %c = arith.cmpi sle, %vj, %vi : index
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %x[%vi, %vj] : memref<32x32xf32>
        scf.yield %1 : f32
      } else {
        %2 = arith.constant 1.0 : f32
        scf.yield %2 : f32
      }
      memref.store %0, %out[%vi, %vj] : memref<32x32xf32>
    }
  }
}

/// A block that reads what it writes may need its order.
// CHECK-LABEL: @no_own_results
// CHECK: in (32, 32)
// CHECK: scf.if
tensor_loop.func @no_own_results(%x: memref<32x32xf32>) outs(%out: memref<32x32xf32>) {
  tensor_loop.grid (%i, %j) in (32, 32) {
    tensor_loop.block "b" spatial(%vi in 32 = %i, %vj in 32 = %j) {
      %ten = arith.constant 10 : index
      %c = arith.cmpi slt, %vj, %ten : index
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %x[%vi, %vj] : memref<32x32xf32>
        scf.yield %1 : f32
      } else {
        %2 = memref.load %out[%vi, %ten] : memref<32x32xf32>
        scf.yield %2 : f32
      }
      memref.store %0, %out[%vi, %vj] : memref<32x32xf32>
    }
  }
}

/// What a reduction reads keeps its condition, by which schedules know the padding of a convolution.
// CHECK-LABEL: @no_padding_of_sums
// CHECK: in (34)
// CHECK: scf.if
// CHECK: block "sum"
tensor_loop.func @no_padding_of_sums(%x: memref<32xf32>) outs(%out: memref<32xf32>) {
  %p = tensor_loop.alloc : memref<34xf32>
  tensor_loop.grid (%i) in (34) {
    tensor_loop.block "pad" spatial(%vi in 34 = %i) {
      %one = arith.constant 1 : index
      %c33 = arith.constant 33 : index
      %a = arith.cmpi sge, %vi, %one : index
      %b = arith.cmpi slt, %vi, %c33 : index
      %c = arith.andi %a, %b : i1
      %0 = scf.if %c -> (f32) {
        %1 = arith.subi %vi, %one : index
        %2 = memref.load %x[%1] : memref<32xf32>
        scf.yield %2 : f32
      } else {
        %3 = arith.constant 0.0 : f32
        scf.yield %3 : f32
      }
      memref.store %0, %p[%vi] : memref<34xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (32, 3) {
    tensor_loop.block "sum" spatial(%vi in 32 = %i) reduce(%vk in 3 = %k) {
      tensor_loop.init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %out[%vi] : memref<32xf32>
      }
      %at = arith.addi %vi, %vk : index
      %0 = memref.load %p[%at] : memref<34xf32>
      %1 = memref.load %out[%vi] : memref<32xf32>
      %2 = arith.addf %1, %0 : f32
      memref.store %2, %out[%vi] : memref<32xf32>
    }
  }
}
