// RUN: stepwell-opt %s -p schedule-cpu --split-input-file | filecheck %s

/// Two tiles side by side, and loops over what is left: 4 rows below, then 1 column beside.
// CHECK-LABEL: @turned
// CHECK: tensor_loop.for %[[R:.*]] in 3 {
// CHECK-NEXT: tensor_loop.for %[[C:.*]] in 2 {
// CHECK-NEXT: tensor_loop.block "copy" spatial(%[[VI:.*]] in 2 = %[[C]], %[[VJ:.*]] in 3 = %[[R]]) reads(%x[%[[VJ]] * 16 : 16, %[[VI]] * 16 : 16]) writes(%y[%[[VI]] * 16 : 16, %[[VJ]] * 16 : 16]) {
// CHECK: %[[T:.*]] = tile.load %x[%[[J:.*]], %[[I:.*]]] : memref<52x33xf32>, vector<16x16xf32>
// CHECK-NEXT: %[[U:.*]] = tile.transpose %[[T]] : vector<16x16xf32>
// CHECK-NEXT: tile.store %[[U]], %y[%[[I]], %[[J]]] : vector<16x16xf32>, memref<33x52xf32>
// CHECK: tensor_loop.for %{{.*}} in 33 {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 4 {
// CHECK-NEXT: tensor_loop.block "copy_rest"
// CHECK: tensor_loop.for %{{.*}} in 48 {
// CHECK-NEXT: tensor_loop.block "copy_rest_1"
// CHECK-NOT: tensor_loop.for
tensor_loop.func @turned(%x: memref<52x33xf32>) outs(%y: memref<33x52xf32>) {
  tensor_loop.grid (%i, %j) in (33, 52) {
    tensor_loop.block "copy" spatial(%vi in 33 = %i, %vj in 52 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<52x33xf32>
      memref.store %v, %y[%vi, %vj] : memref<33x52xf32>
    }
  }
}

// -----

/// Four tiles side by side in the source at a time; other axes are loops outside.
// CHECK-LABEL: @of_images
// CHECK: tensor_loop.for %[[N:.*]] in 2 {
// CHECK-NEXT: tensor_loop.for %[[B:.*]] in 2 {
// CHECK-NEXT: tensor_loop.for %[[R:.*]] in 2 {
// CHECK-NEXT: tensor_loop.for %[[C:.*]] in 4 {
// CHECK: tile.transpose
tensor_loop.func @of_images(%x: memref<2x32x128xf32>) outs(%y: memref<2x128x32xf32>) {
  tensor_loop.grid (%n, %i, %j) in (2, 128, 32) {
    tensor_loop.block "copy" spatial(%vn in 2 = %n, %vi in 128 = %i, %vj in 32 = %j) {
      %v = memref.load %x[%vn, %vj, %vi] : memref<2x32x128xf32>
      memref.store %v, %y[%vn, %vi, %vj] : memref<2x128x32xf32>
    }
  }
}

// -----

/// No room for a tile.
// CHECK-LABEL: @no_small
// CHECK-NOT: tile.
tensor_loop.func @no_small(%x: memref<15x64xf32>) outs(%y: memref<64x15xf32>) {
  tensor_loop.grid (%i, %j) in (64, 15) {
    tensor_loop.block "copy" spatial(%vi in 64 = %i, %vj in 15 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<15x64xf32>
      memref.store %v, %y[%vi, %vj] : memref<64x15xf32>
    }
  }
}

// -----

/// Contiguous on both sides along one axis: a plain copy.
// CHECK-LABEL: @no_turn
// CHECK-NOT: tile.
// CHECK: vectorized
tensor_loop.func @no_turn(%x: memref<64x32xf32>) outs(%y: memref<64x32xf32>) {
  tensor_loop.grid (%i, %j) in (64, 32) {
    tensor_loop.block "copy" spatial(%vi in 64 = %i, %vj in 32 = %j) {
      %v = memref.load %x[%vi, %vj] : memref<64x32xf32>
      memref.store %v, %y[%vi, %vj] : memref<64x32xf32>
    }
  }
}

// -----

/// A map of a tile that is turned, a tile that lies as the result does, a number for each row and one for each column.
/// What is left over is mapped number by number.
// CHECK-LABEL: @mapped
// CHECK: %[[T:.*]] = tile.load %x[%[[J:.*]], %[[I:.*]]] : memref<52x33xf32>, vector<16x16xf32>
// CHECK-NEXT: %[[U:.*]] = tile.transpose %[[T]] : vector<16x16xf32>
// CHECK-NEXT: %[[Z:.*]] = tile.load %z[%[[I]], %[[J]]] : memref<33x52xf32>, vector<16x16xf32>
// CHECK-NEXT: %[[B:.*]] = tile.load %b[%[[J]]] : memref<52xf32>, vector<16x16xf32>
// CHECK-NEXT: %[[C:.*]] = tile.load %c[%[[I]]] along [0, -1] : memref<33xf32>, vector<16x16xf32>
// CHECK-NEXT: %[[M:.*]] = tile.map(%{{.*}} = %[[U]], %{{.*}} = %[[Z]], %{{.*}} = %[[B]], %{{.*}} = %[[C]])
// CHECK: tile.store %[[M]], %y[%[[I]], %[[J]]] : vector<16x16xf32>, memref<33x52xf32>
// CHECK: tensor_loop.block "map_rest"
// CHECK: arith.addf
// CHECK: tensor_loop.block "map_rest_1"
tensor_loop.func @mapped(%x: memref<52x33xf32>, %z: memref<33x52xf32>, %b: memref<52xf32>, %c: memref<33xf32>) outs(%y: memref<33x52xf32>) {
  tensor_loop.grid (%i, %j) in (33, 52) {
    tensor_loop.block "map" spatial(%vi in 33 = %i, %vj in 52 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<52x33xf32>
      %w = memref.load %z[%vi, %vj] : memref<33x52xf32>
      %p = memref.load %b[%vj] : memref<52xf32>
      %q = memref.load %c[%vi] : memref<33xf32>
      %0 = arith.addf %v, %w : f32
      %1 = arith.addf %0, %p : f32
      %2 = arith.addf %1, %q : f32
      memref.store %2, %y[%vi, %vj] : memref<33x52xf32>
    }
  }
}

// -----

/// Something else is loaded across the rows of the result, and is not turned.
// CHECK-LABEL: @no_turn_of_loads_across
// CHECK-NOT: tile.
tensor_loop.func @no_turn_of_loads_across(%x: memref<64x32xf32>, %z: memref<128x32xf32>) outs(%y: memref<32x64xf32>) {
  tensor_loop.grid (%i, %j) in (32, 64) {
    tensor_loop.block "map" spatial(%vi in 32 = %i, %vj in 64 = %j) {
      %v = memref.load %x[%vj, %vi] : memref<64x32xf32>
      %c2 = arith.constant 2 : index
      %k = arith.muli %vj, %c2 : index
      %c0 = arith.constant 0 : index
      %w = memref.load %z[%k, %c0] : memref<128x32xf32>
      %0 = arith.addf %v, %w : f32
      memref.store %0, %y[%vi, %vj] : memref<32x64xf32>
    }
  }
}
