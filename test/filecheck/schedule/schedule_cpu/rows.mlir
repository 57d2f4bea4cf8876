// RUN: stepwell-opt %s -p schedule-cpu --split-input-file | filecheck %s

/// Both loops are over the rows of %x: each row is finished before the next. What is done once per row is no loop any more.
// CHECK-LABEL: @rows
// CHECK: tensor_loop.for %[[I:[a-z0-9_]+]] in 6 {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 80 vectorized {
// CHECK-NEXT: tensor_loop.block "total" spatial(%{{.*}} in 6 = %[[I]])
// CHECK: tensor_loop.block "scale" spatial(%{{.*}} in 6 = %[[I]])
// CHECK: tensor_loop.for %{{.*}} in 80 vectorized {
// CHECK-NEXT: tensor_loop.block "scaled" spatial(%{{.*}} in 6 = %[[I]],
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
