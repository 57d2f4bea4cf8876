// RUN: stepwell-opt %s -p 'to-loops,prepack-weights{target="x86-64-v3"}' | filecheck %s
// RUN: stepwell-opt %s -p 'to-loops,prepack-weights{target="x86-64-v3" subnormals=true}' | filecheck %s --check-prefix KEPT

/// On their way into panels subnormal weights become zeros.
// CHECK-LABEL: tensor_loop.func private @pack_panels0
// CHECK: %[[W:.*]] = tile.load %weight
// CHECK-NEXT: %[[M:.*]] = tile.map(%[[X:.*]] = %[[W]])
// CHECK-NEXT: %[[A:.*]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[T:.*]] = arith.constant 1.17549435e-38 : f32
// CHECK-NEXT: %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[C:.*]] = arith.cmpf olt, %[[A]], %[[T]] : f32
// CHECK-NEXT: %[[R:.*]] = arith.select %[[C]], %[[Z]], %[[X]] : f32
// CHECK-NEXT: tile.yield %[[R]]
// CHECK: tile.store %[[M]], %panels
// KEPT-LABEL: tensor_loop.func private @pack_panels0
// KEPT: %[[W:.*]] = tile.load %weight
// KEPT-NEXT: tile.store %[[W]], %panels
func.func @main(%x: tensor<4x32xf32>) -> tensor<4x16xf32> {
  %w = graph.weight "w" : tensor<32x16xf32>
  %0 = graph.matmul %x, %w : (tensor<4x32xf32>, tensor<32x16xf32>)
  func.return %0 : tensor<4x16xf32>
}

/// Those of f16 are normal numbers in the f32 that products of f16 are computed in.
// CHECK-LABEL: tensor_loop.func private @pack_panels1
// CHECK: %[[W:.*]] = tile.load %weight
// CHECK-NEXT: tile.store %[[W]], %panels
func.func @no_subnormals_of_halves(%x: tensor<4x32xf16>) -> tensor<4x16xf16> {
  %w = graph.weight "h" : tensor<32x16xf16>
  %0 = graph.matmul %x, %w : (tensor<4x32xf16>, tensor<32x16xf16>)
  func.return %0 : tensor<4x16xf16>
}
