// RUN: stepwell-opt %s -p lower-graph-to-loops --split-input-file | filecheck %s

/// A byte holds an element. What is above its bits does not count: it becomes the sign where the element is computed with.
// CHECK: tensor_loop.func private @astype(%operand: memref<4xi8>) outs(%out: memref<4xf32>)
// CHECK: %[[X:.*]] = memref.load %operand[%{{.*}}] : memref<4xi8>
// CHECK-NEXT: %[[M:.*]] = arith.constant 15 : i8
// CHECK-NEXT: %[[L:.*]] = arith.andi %[[X]], %[[M]] : i8
// CHECK-NEXT: %[[E:.*]] = arith.constant 8 : i8
// CHECK-NEXT: %[[F:.*]] = arith.xori %[[L]], %[[E]] : i8
// CHECK-NEXT: %[[S:.*]] = arith.subi %[[F]], %[[E]] : i8
// CHECK-NEXT: arith.sitofp %[[S]] : i8 to f32
func.func @main(%x: tensor<4xi4>) -> tensor<4xf32> {
  %0 = graph.astype %x, dtype = f32 : (tensor<4xi4>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

/// What is written has zeros there.
// CHECK: tensor_loop.func private @astype(%operand: memref<4xi32>) outs(%out: memref<4xi8>)
// CHECK: %[[T:.*]] = arith.trunci %{{.*}} : i32 to i8
// CHECK-NEXT: %[[M:.*]] = arith.constant 3 : i8
// CHECK-NEXT: %[[L:.*]] = arith.andi %[[T]], %[[M]] : i8
// CHECK-NEXT: memref.store %[[L]], %out
func.func @main(%x: tensor<4xi32>) -> tensor<4xi2> {
  %0 = graph.astype %x, dtype = i2 : (tensor<4xi32>) -> tensor<4xi2>
  func.return %0 : tensor<4xi2>
}

// -----

/// What only moves is a byte.
// CHECK: tensor_loop.func private @permute_dims(%operand: memref<4x8xi8>) outs(%out: memref<8x4xi8>)
// CHECK-NOT: arith.andi
// CHECK: memref.store %{{.*}}, %out[%{{.*}}] : memref<8x4xi8>
func.func @no_conversion(%x: tensor<4x8xui4>) -> tensor<8x4xui4> {
  %0 = graph.permute_dims %x, axes = [1, 0] : (tensor<4x8xui4>) -> tensor<8x4xui4>
  func.return %0 : tensor<8x4xui4>
}
