// RUN: stepwell-opt %s -p schedule-cpu | filecheck %s

/// The first failing iteration in program order is reported: blocks with asserts keep their order.
// CHECK-LABEL: @no_assert
// CHECK: tensor_loop.grid (%j, %i) in (8, 8) {
tensor_loop.func @no_assert(%I: memref<8x8xi64>) outs(%B: memref<8x8xi64>) {
  %c0 = arith.constant 0 : i64
  tensor_loop.grid (%j, %i) in (8, 8) {
    tensor_loop.block "check" spatial(%vi in 8 = %i, %vj in 8 = %j) {
      %x = memref.load %I[%vi, %vj] : memref<8x8xi64>
      %ok = arith.cmpi sge, %x, %c0 : i64
      cf.assert %ok, "graph.take: index out of range"
      memref.store %x, %B[%vi, %vj] : memref<8x8xi64>
    }
  }
}

/// A data-dependent store: the last iteration wins.
// CHECK-LABEL: @no_scatter
// CHECK: tensor_loop.grid (%i) in (8) {
tensor_loop.func @no_scatter(%I: memref<8xindex>, %x: f32) outs(%B: memref<8xf32>) {
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "scatter" spatial(%vi in 8 = %i) {
      %r = memref.load %I[%vi] : memref<8xindex>
      memref.store %x, %B[%r] : memref<8xf32>
    }
  }
}

/// A recurrence: iterations read what others write.
// CHECK-LABEL: @no_recurrence
// CHECK: tensor_loop.grid (%j, %i) in (8, 8) {
tensor_loop.func @no_recurrence() outs(%B: memref<9x8xf32> {stepwell.in_place}) {
  %c1 = arith.constant 1 : index
  tensor_loop.grid (%j, %i) in (8, 8) {
    tensor_loop.block "cumsum" spatial(%vi in 8 = %i, %vj in 8 = %j) {
      %b = memref.load %B[%vi, %vj] : memref<9x8xf32>
      %next = arith.addi %vi, %c1 : index
      memref.store %b, %B[%next, %vj] : memref<9x8xf32>
    }
  }
}

/// Two blocks in one nest stay together.
// CHECK-LABEL: @no_imperfect
// CHECK: tensor_loop.grid (%j, %i) in (8, 8) {
tensor_loop.func @no_imperfect(%x: f32) outs(%B: memref<8x8xf32>, %C: memref<8x8xf32>) {
  tensor_loop.grid (%j, %i) in (8, 8) {
    tensor_loop.block "a" spatial(%vi in 8 = %i, %vj in 8 = %j) {
      memref.store %x, %B[%vi, %vj] : memref<8x8xf32>
    }
    tensor_loop.block "b" spatial(%vi in 8 = %i, %vj in 8 = %j) {
      memref.store %x, %C[%vi, %vj] : memref<8x8xf32>
    }
  }
}

/// Single loops have been scheduled by somebody.
// CHECK-LABEL: @no_for
// CHECK-NEXT: tensor_loop.for %j in 8 {
// CHECK-NEXT: tensor_loop.for %i in 8 {
tensor_loop.func @no_for(%x: f32) outs(%B: memref<8x8xf32>) {
  tensor_loop.for %j in 8 {
    tensor_loop.for %i in 8 {
      tensor_loop.block "fill" spatial(%vi in 8 = %i, %vj in 8 = %j) {
        memref.store %x, %B[%vi, %vj] : memref<8x8xf32>
      }
    }
  }
}

/// Different points store to one element: the last iteration wins.
// CHECK-LABEL: @no_diagonal
// CHECK: tensor_loop.grid (%i, %j) in (4, 4) {
tensor_loop.func @no_diagonal(%A: memref<4x4xf32>) outs(%C: memref<7xf32>) {
  tensor_loop.grid (%i, %j) in (4, 4) {
    tensor_loop.block "diagonal" spatial(%vi in 4 = %i, %vj in 4 = %j) {
      %a = memref.load %A[%vj, %vi] : memref<4x4xf32>
      %s = arith.addi %vi, %vj : index
      memref.store %a, %C[%s] : memref<7xf32>
    }
  }
}

/// Not left alone: row number times 4 plus column is another element for every point.
// CHECK-LABEL: @flattened
// CHECK: tensor_loop.for %i in 4 {
// CHECK-NEXT: tensor_loop.for %j in 4 {
tensor_loop.func @flattened(%A: memref<4x4xf32>) outs(%C: memref<16xf32>) {
  %c4 = arith.constant 4 : index
  tensor_loop.grid (%i, %j) in (4, 4) {
    tensor_loop.block "flat" spatial(%vi in 4 = %i, %vj in 4 = %j) {
      %a = memref.load %A[%vj, %vi] : memref<4x4xf32>
      %r = arith.muli %vi, %c4 : index
      %s = arith.addi %r, %vj : index
      memref.store %a, %C[%s] : memref<16xf32>
    }
  }
}

/// Elements of a type that no register holds make no product.
// CHECK-LABEL: @no_product_of_tf32
// CHECK-NOT: tile.mma
// CHECK: tensor_loop.for %k in 16 {
tensor_loop.func @no_product_of_tf32(%A: memref<12x16xtf32>, %B: memref<16x20xtf32>) outs(%C: memref<12x20xtf32>) {
  tensor_loop.grid (%i, %j, %k) in (12, 20, 16) {
    tensor_loop.block "mm" spatial(%vi in 12 = %i, %vj in 20 = %j) reduce(%vk in 16 = %k) {
      init {
        %z = arith.constant 0.0 : tf32
        memref.store %z, %C[%vi, %vj] : memref<12x20xtf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<12x16xtf32>
      %b = memref.load %B[%vk, %vj] : memref<16x20xtf32>
      %c = memref.load %C[%vi, %vj] : memref<12x20xtf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : tf32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : tf32
      memref.store %s, %C[%vi, %vj] : memref<12x20xtf32>
    }
  }
}

/// Of a grid around a grid the inner one alone has a block to decide about.
// CHECK-LABEL: @grid_in_grid(
// CHECK-NEXT: tensor_loop.grid (%i, %j) in (6, 1) {
// CHECK-NEXT: tensor_loop.for %k in 8 {
// CHECK-NEXT: tensor_loop.for %n in 5{{.*}} {
// CHECK-NEXT: tensor_loop.block "mm"
tensor_loop.func @grid_in_grid(%A: memref<6x8xf32>, %B: memref<8x5xf32>) outs(%C: memref<6x5xf32>) {
  tensor_loop.grid (%i, %j) in (6, 1) {
    tensor_loop.grid (%n, %k) in (5, 8) {
      tensor_loop.block "mm" spatial(%vi in 6 = %i, %vn in 5 = %j * 5 + %n) reduce(%vk in 8 = %k) {
        init {
          %z = arith.constant 0.0 : f32
          memref.store %z, %C[%vi, %vn] : memref<6x5xf32>
        }
        %a = memref.load %A[%vi, %vk] : memref<6x8xf32>
        %b = memref.load %B[%vk, %vn] : memref<8x5xf32>
        %c = memref.load %C[%vi, %vn] : memref<6x5xf32>
        %p = arith.mulf %a, %b fastmath<contract> : f32
        %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
        memref.store %s, %C[%vi, %vn] : memref<6x5xf32>
      }
    }
  }
}
