// RUN: stepwell-opt %s -p 'integer-arithmetic' | filecheck %s

/// Two of three products that are computed on the right have a zero point. The third has 0 by chance, and gets the same
/// sums of rows times 0, so that all can share a kernel. The weights of the last one have none.
// CHECK-LABEL: func.func @zero_by_chance(
func.func @zero_by_chance(%x: tensor<4x16xui8>, %y: tensor<16x4xi8>, %w: tensor<16x4xi8>, %s: tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: %[[NONE:.*]] = graph.full 0 : tensor<i32>
  // CHECK-COUNT-2: graph.matmul
  // CHECK: %[[ROWS:.*]] = graph.sum %{{.*}}, axis = [-1], keepdims = true
  // CHECK: %[[LESS:.*]] = graph.ewise_fma %[[ROWS]], %[[NONE]], %[[NONE]]
  // CHECK: %[[P:.*]] = graph.matmul
  // CHECK: graph.subtract %[[P]], %[[LESS]]
  // CHECK-NOT: graph.sum
  // CHECK: %[[Q:.*]] = graph.matmul %x, %{{.*}}, out_dtype = i32
  // CHECK: graph.astype %[[Q]], dtype = f32
  %z = graph.full 0 : tensor<ui8>
  %0 = graph.full 0 : tensor<i8>
  %1 = graph.full 1 : tensor<i8>
  %2 = graph.full 2 : tensor<i8>
  %c = graph.weight "c" : tensor<16x4xi8>
  %a = graph.dequantize %x, %s, %z : (tensor<4x16xui8>, tensor<f32>, tensor<ui8>)
  %b1 = graph.dequantize %y, %s, %1 : (tensor<16x4xi8>, tensor<f32>, tensor<i8>)
  %b2 = graph.dequantize %y, %s, %2 : (tensor<16x4xi8>, tensor<f32>, tensor<i8>)
  %b0 = graph.dequantize %w, %s, %0 : (tensor<16x4xi8>, tensor<f32>, tensor<i8>)
  %bc = graph.dequantize %c, %s, %0 : (tensor<16x4xi8>, tensor<f32>, tensor<i8>)
  %y1 = graph.matmul %a, %b1 : (tensor<4x16xf32>, tensor<16x4xf32>)
  %y2 = graph.matmul %a, %b2 : (tensor<4x16xf32>, tensor<16x4xf32>)
  %y0 = graph.matmul %a, %b0 : (tensor<4x16xf32>, tensor<16x4xf32>)
  %yc = graph.matmul %a, %bc : (tensor<4x16xf32>, tensor<16x4xf32>)
  func.return %y1, %y2, %y0, %yc : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
