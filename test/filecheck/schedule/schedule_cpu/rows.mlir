// RUN: stepwell-opt %s -p schedule-cpu --split-input-file | filecheck %s

/// All loops are over the rows of %x, and become one. Six rows go through each of them at a time, so that one goes on
/// while the sum and the quotient of another are waited for. What is done once per row is no loop over all rows any more.
// CHECK-LABEL: @rows
// CHECK: tensor_loop.for %[[I:[a-z0-9_]+]] in 1 {
// CHECK-NEXT: tensor_loop.for %[[R:[a-z0-9_]+]] in 6 {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 80 vectorized {
// CHECK-NEXT: tensor_loop.block "total" spatial(%{{.*}} in 6 = %[[I]] * 6 + %[[R]])
// CHECK: tensor_loop.for %[[R2:[a-z0-9_]+]] in 6 {
// CHECK-NEXT: tensor_loop.block "scale" spatial(%{{.*}} in 6 = %[[I]] * 6 + %[[R2]])
// CHECK: tensor_loop.for %[[R3:[a-z0-9_]+]] in 6 {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 80 vectorized {
// CHECK-NEXT: tensor_loop.block "scaled" spatial(%{{.*}} in 6 = %[[I]] * 6 + %[[R3]],
// CHECK-NOT: tensor_loop.for
tensor_loop.func @rows(%x: memref<6x80xf32>) outs(%y: memref<6x80xf32>) {
  %t = tensor_loop.alloc : memref<6xf32>
  tensor_loop.grid (%i, %k) in (6, 80) {
    tensor_loop.block "total" spatial(%vi in 6 = %i) reduce(%vk in 80 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %t[%vi] : memref<6xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<6x80xf32>
      %a = memref.load %t[%vi] : memref<6xf32>
      %s = arith.addf %a, %v fastmath<reassoc> : f32
      memref.store %s, %t[%vi] : memref<6xf32>
    }
  }
  %u = tensor_loop.alloc : memref<6xf32>
  tensor_loop.grid (%i) in (6) {
    tensor_loop.block "scale" spatial(%vi in 6 = %i) {
      %one = arith.constant 1.0 : f32
      %v = memref.load %t[%vi] : memref<6xf32>
      %r = arith.divf %one, %v : f32
      memref.store %r, %u[%vi] : memref<6xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "scaled" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<6x80xf32>
      %r = memref.load %u[%vi] : memref<6xf32>
      %p = arith.mulf %v, %r : f32
      memref.store %p, %y[%vi, %vj] : memref<6x80xf32>
    }
  }
}

// -----

/// No number of rows from 2 to 8 divides 11: they go one at a time.
// CHECK-LABEL: @no_divisor
// CHECK: tensor_loop.for %[[I:[a-z0-9_]+]] in 11 {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 80 vectorized {
// CHECK-NEXT: tensor_loop.block "total" spatial(%{{.*}} in 11 = %[[I]])
// CHECK: tensor_loop.block "scale" spatial(%{{.*}} in 11 = %[[I]])
// CHECK: tensor_loop.block "scaled" spatial(%{{.*}} in 11 = %[[I]],
tensor_loop.func @no_divisor(%x: memref<11x80xf32>) outs(%y: memref<11x80xf32>) {
  %t = tensor_loop.alloc : memref<11xf32>
  tensor_loop.grid (%i, %k) in (11, 80) {
    tensor_loop.block "total" spatial(%vi in 11 = %i) reduce(%vk in 80 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %t[%vi] : memref<11xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<11x80xf32>
      %a = memref.load %t[%vi] : memref<11xf32>
      %s = arith.addf %a, %v fastmath<reassoc> : f32
      memref.store %s, %t[%vi] : memref<11xf32>
    }
  }
  %u = tensor_loop.alloc : memref<11xf32>
  tensor_loop.grid (%i) in (11) {
    tensor_loop.block "scale" spatial(%vi in 11 = %i) {
      %one = arith.constant 1.0 : f32
      %v = memref.load %t[%vi] : memref<11xf32>
      %r = arith.divf %one, %v : f32
      memref.store %r, %u[%vi] : memref<11xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (11, 80) {
    tensor_loop.block "scaled" spatial(%vi in 11 = %i, %vj in 80 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<11x80xf32>
      %r = memref.load %u[%vi] : memref<11xf32>
      %p = arith.mulf %v, %r : f32
      memref.store %p, %y[%vi, %vj] : memref<11x80xf32>
    }
  }
}

// -----

/// Several rows would not stay in the first-level cache.
// CHECK-LABEL: @no_several_long_rows
// CHECK: tensor_loop.for %[[I:[a-z0-9_]+]] in 8 {
// CHECK: tensor_loop.block "total" spatial(%{{.*}} in 8 = %[[I]])
// CHECK: tensor_loop.block "scaled" spatial(%{{.*}} in 8 = %[[I]],
tensor_loop.func @no_several_long_rows(%x: memref<8x30000xf32>) outs(%y: memref<8x30000xf32>) {
  %t = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i, %k) in (8, 30000) {
    tensor_loop.block "total" spatial(%vi in 8 = %i) reduce(%vk in 30000 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %t[%vi] : memref<8xf32>
      }
      %v = memref.load %x[%vi, %vk] : memref<8x30000xf32>
      %a = memref.load %t[%vi] : memref<8xf32>
      %s = arith.addf %a, %v fastmath<reassoc> : f32
      memref.store %s, %t[%vi] : memref<8xf32>
    }
  }
  %u = tensor_loop.alloc : memref<8xf32>
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "scale" spatial(%vi in 8 = %i) {
      %one = arith.constant 1.0 : f32
      %v = memref.load %t[%vi] : memref<8xf32>
      %r = arith.divf %one, %v : f32
      memref.store %r, %u[%vi] : memref<8xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (8, 30000) {
    tensor_loop.block "scaled" spatial(%vi in 8 = %i, %vj in 30000 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<8x30000xf32>
      %r = memref.load %u[%vi] : memref<8xf32>
      %p = arith.mulf %v, %r : f32
      memref.store %p, %y[%vi, %vj] : memref<8x30000xf32>
    }
  }
}

// -----

/// Nothing of a row is waited for.
// CHECK-LABEL: @no_sum
// CHECK: tensor_loop.for %[[I:[a-z0-9_]+]] in 8 {
// CHECK: tensor_loop.block "first" spatial(%{{.*}} in 8 = %[[I]],
// CHECK: tensor_loop.block "second" spatial(%{{.*}} in 8 = %[[I]],
tensor_loop.func @no_sum(%x: memref<8x80xf32>) outs(%y: memref<8x80xf32>) {
  %t = tensor_loop.alloc : memref<8x80xf32>
  tensor_loop.grid (%i, %j) in (8, 80) {
    tensor_loop.block "first" spatial(%vi in 8 = %i, %vj in 80 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<8x80xf32>
      memref.store %v, %t[%vi, %vj] : memref<8x80xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (8, 80) {
    tensor_loop.block "second" spatial(%vi in 8 = %i, %vj in 80 = %j) {
      %v = memref.load %t[%vi, %vj] : memref<8x80xf32>
      memref.store %v, %y[%vi, %vj] : memref<8x80xf32>
    }
  }
}

// -----

/// Row %i of the second loop needs another row of the first.
// CHECK-LABEL: @no_other_row
// CHECK: tensor_loop.for %{{.*}} in 6 {
// CHECK: tensor_loop.block "first"
// CHECK: tensor_loop.for %{{.*}} in 6 {
// CHECK: tensor_loop.block "second"
tensor_loop.func @no_other_row(%x: memref<6x80xf32>) outs(%y: memref<6x80xf32>) {
  %c5 = arith.constant 5 : index
  %t = tensor_loop.alloc : memref<6x80xf32>
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "first" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<6x80xf32>
      memref.store %v, %t[%vi, %vj] : memref<6x80xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "second" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      %o = arith.subi %c5, %vi : index
      %v = memref.load %t[%o, %vj] : memref<6x80xf32>
      memref.store %v, %y[%vi, %vj] : memref<6x80xf32>
    }
  }
}

// -----

/// Rows too short: what is done once per row would no longer be done in vectors.
// CHECK-LABEL: @no_short_rows
// CHECK: tensor_loop.block "first"
// CHECK: tensor_loop.for %{{.*}} in 80 {
// CHECK: tensor_loop.block "second"
tensor_loop.func @no_short_rows(%x: memref<80x6xf32>) outs(%y: memref<80x6xf32>) {
  %t = tensor_loop.alloc : memref<80x6xf32>
  tensor_loop.grid (%i, %j) in (80, 6) {
    tensor_loop.block "first" spatial(%vi in 80 = %i, %vj in 6 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<80x6xf32>
      memref.store %v, %t[%vi, %vj] : memref<80x6xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (80, 6) {
    tensor_loop.block "second" spatial(%vi in 80 = %i, %vj in 6 = %j) {
      %v = memref.load %t[%vi, %vj] : memref<80x6xf32>
      memref.store %v, %y[%vi, %vj] : memref<80x6xf32>
    }
  }
}

// -----

/// An assert must fail in program order.
// CHECK-LABEL: @no_assert
// CHECK: tensor_loop.for %{{.*}} in 6 {
// CHECK: tensor_loop.block "first"
// CHECK: tensor_loop.grid
// CHECK: tensor_loop.block "second"
tensor_loop.func @no_assert(%x: memref<6x80xi64>) outs(%y: memref<6x80xi64>) {
  %c0 = arith.constant 0 : i64
  %t = tensor_loop.alloc : memref<6x80xi64>
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "first" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<6x80xi64>
      memref.store %v, %t[%vi, %vj] : memref<6x80xi64>
    }
  }
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "second" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      %v = memref.load %t[%vi, %vj] : memref<6x80xi64>
      %ok = arith.cmpi sge, %v, %c0 : i64
      cf.assert %ok, "negative"
      memref.store %v, %y[%vi, %vj] : memref<6x80xi64>
    }
  }
}
