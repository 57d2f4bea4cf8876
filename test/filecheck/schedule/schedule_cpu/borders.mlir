// RUN: stepwell-opt %s -p 'lower-graph-to-loops,fuse-loops,inline-loops,schedule-cpu{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'schedule-cpu{target="x86-64-v4"}' | filecheck %s --check-prefix IN-PLACE

/// What somebody else reads padded is copied.
// CHECK-LABEL: tensor_loop.func private @both(
// CHECK: tensor_loop.block "pad"
// CHECK-NOT: rows
// CHECK: tile.mma %{{.*}}, %padded[
tensor_loop.func private @both(%x: memref<4x16xf32>, %w: memref<3x16x32xf32>) outs(%y: memref<4x32xf32>, %padded: memref<6x16xf32>) {
  tensor_loop.grid (%i, %j) in (6, 16) {
    tensor_loop.block "pad" spatial(%vi in 6 = %i, %vj in 16 = %j) {
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1 : index
      %five = arith.constant 5 : index
      %below = arith.cmpi sge, %vi, %one : index
      %above = arith.cmpi slt, %vi, %five : index
      %inside = arith.andi %below, %above : i1
      %v = scf.if %inside -> (f32) {
        %at = arith.subi %vi, %one : index
        %u = memref.load %x[%at, %vj] : memref<4x16xf32>
        scf.yield %u : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %v, %padded[%vi, %vj] : memref<6x16xf32>
    }
  }
  tensor_loop.grid (%i, %j, %r, %k) in (4, 32, 3, 16) {
    tensor_loop.block "conv" spatial(%vi in 4 = %i, %vj in 32 = %j) reduce(%vr in 3 = %r, %vk in 16 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %y[%vi, %vj] : memref<4x32xf32>
      }
      %at = arith.addi %vi, %vr : index
      %a = memref.load %padded[%at, %vk] : memref<6x16xf32>
      %b = memref.load %w[%vr, %vk, %vj] : memref<3x16x32xf32>
      %c = memref.load %y[%vi, %vj] : memref<4x32xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %y[%vi, %vj] : memref<4x32xf32>
    }
  }
}

/// Where what follows stores to the image itself, it does so after all tiles have read that.
// IN-PLACE-LABEL: tensor_loop.func private @in_place(
// IN-PLACE-NOT: block "pad"
// IN-PLACE: tile.mma %{{.*}}, %x[{{.*}} rows
// IN-PLACE: tile.store %{{.*}}, %y[
// IN-PLACE: tensor_loop.block "relu"
tensor_loop.func private @in_place(%w: memref<3x16x16xf32>) outs(%x: memref<4x16xf32>) {
  %padded = tensor_loop.alloc : memref<6x16xf32>
  %y = tensor_loop.alloc : memref<4x16xf32>
  tensor_loop.grid (%i, %j) in (4, 16) {
    tensor_loop.block "fill" spatial(%vi in 4 = %i, %vj in 16 = %j) {
      %one = arith.constant 1.0 : f32
      memref.store %one, %x[%vi, %vj] : memref<4x16xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (6, 16) {
    tensor_loop.block "pad" spatial(%vi in 6 = %i, %vj in 16 = %j) {
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1 : index
      %five = arith.constant 5 : index
      %below = arith.cmpi sge, %vi, %one : index
      %above = arith.cmpi slt, %vi, %five : index
      %inside = arith.andi %below, %above : i1
      %v = scf.if %inside -> (f32) {
        %at = arith.subi %vi, %one : index
        %u = memref.load %x[%at, %vj] : memref<4x16xf32>
        scf.yield %u : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %v, %padded[%vi, %vj] : memref<6x16xf32>
    }
  }
  tensor_loop.grid (%i, %j, %r, %k) in (4, 16, 3, 16) {
    tensor_loop.block "conv" spatial(%vi in 4 = %i, %vj in 16 = %j) reduce(%vr in 3 = %r, %vk in 16 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %y[%vi, %vj] : memref<4x16xf32>
      }
      %at = arith.addi %vi, %vr : index
      %a = memref.load %padded[%at, %vk] : memref<6x16xf32>
      %b = memref.load %w[%vr, %vk, %vj] : memref<3x16x16xf32>
      %c = memref.load %y[%vi, %vj] : memref<4x16xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %y[%vi, %vj] : memref<4x16xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (4, 16) {
    tensor_loop.block "relu" spatial(%vi in 4 = %i, %vj in 16 = %j) {
      %u = memref.load %y[%vi, %vj] : memref<4x16xf32>
      %zero = arith.constant 0.0 : f32
      %v = arith.maximumf %u, %zero : f32
      memref.store %v, %x[%vi, %vj] : memref<4x16xf32>
    }
  }
}

/// Stride 2, one row and column of padding in front: nothing is copied. Above the image a row of taps is passed over; tap 0 of the first
/// tile of a row finds all but the first of its pixels inside, and its image starts at the first of those.
// CHECK-LABEL: tensor_loop.func private @conv2d(
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.block "conv2d" spatial(%voh in 4 = %oh)
// CHECK: scf.for %kh
// CHECK: arith.cmpi sge
// CHECK-NOT: arith.cmpi
// CHECK: scf.if %{{.*}} -> (vector<10x32xf32>) {
// CHECK-NOT: scf.for %kw
// CHECK: %[[FIRST:.*]] = arith.constant 1 : index
// CHECK: tile.mma %{{.*}}, %data[%{{.*}}, %{{.*}}, %[[FIRST]], %{{.*}}] by [2, 1], %{{.*}} depth 4 rows [1, 9]
// CHECK: scf.for %kw
// CHECK-NOT: rows
// CHECK: tile.mma %{{.*}} depth 4 : vector<10x32xf32>
// CHECK: } else {
// CHECK-NEXT: scf.yield %acc{{.*}} : vector<10x32xf32>
// CHECK: tensor_loop.block "conv2d_1" spatial(%voh_1 in 4 = %oh)
// CHECK-NOT: rows
// CHECK: tile.mma %{{.*}} depth 4 : vector<10x32xf32>
// CHECK-NOT: tensor_loop.block
func.func @main(%x: tensor<1x8x40x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<1x4x20x32xf32> {
  %y = graph.conv2d %x, %w, strides = [2, 2], padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x8x40x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x4x20x32xf32>
  func.return %y : tensor<1x4x20x32xf32>
}
