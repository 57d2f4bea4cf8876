// RUN: stepwell-opt %s -p 'quantize{weights=int4 block=16 keep="kept"}' --remarks 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix REMARK --input-file %t
// RUN: stepwell-opt %s -p 'quantize{weights=int8 block=32},eliminate-dead-code' | filecheck %s --check-prefix BYTES
// RUN: stepwell-opt %s -p 'quantize{weights=int4 block=16 zero-points}' | filecheck %s --check-prefix ZERO
// RUN: stepwell-opt %s -p 'quantize{weights=bf16 keep="kept"}' | filecheck %s --check-prefix HALF

/// Each block of a column gets a scale that makes the number farthest from 0 the least integer. Two lie in a byte.
// CHECK-LABEL: func.func @main
// CHECK: %w_packed = graph.constant dense<{{.*}}> : tensor<2x8xui8>
// CHECK-NEXT: %w_scale = graph.constant dense<{{\[\[}}-0.5], [0.25]]> : tensor<2x1xf32>
// CHECK-NEXT: %[[Z:.*]] = graph.full 8 : tensor<ui8>
// CHECK-NEXT: %y = graph.matmul_packed %x, %w_packed, %w_scale, %[[Z]], block_size = 16 : (tensor<3x4xf32>, tensor<2x8xui8>, tensor<2x1xf32>, tensor<ui8>) -> tensor<3x2xf32>
// CHECK: graph.reshape
// CHECK-NEXT: graph.matmul_packed
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: %kept = graph.matmul
// CHECK-NEXT: %product = graph.matmul
// BYTES: graph.matmul_packed {{.*}} bits = 8 : (tensor<3x4xf32>, tensor<2x32xui8>
// HALF: %w_bf16 = graph.constant dense<{{.*}}> : tensor<4x2xbf16>
// HALF-NEXT: %y = graph.matmul %x, %w_bf16 : (tensor<3x4xf32>, tensor<4x2xbf16>) -> tensor<3x2xf32>
// HALF: graph.matmul %b, {{.*}} : (tensor<2x3x4xf32>, tensor<4x2xbf16>) -> tensor<2x3x2xf32>
// HALF: %kept = graph.matmul {{.*}} : (tensor<3x4xf32>, tensor<4x2xf32>)
/// Each block goes from its least number to its greatest: -1 to 4 and -2 to 1. 0 is the integer 3 or 10.
// ZERO: %w_packed = graph.constant dense<{{.*}}> : tensor<2x8xui8>
// ZERO-NEXT: %w_scale = graph.constant dense<{{\[\[}}0.33333334], [0.2]]> : tensor<2x1xf32>
// ZERO-NEXT: %w_zero_point = graph.constant dense<{{\[\[}}3], [10]]> : tensor<2x1xui8>
// ZERO-NEXT: %y = graph.matmul_packed %x, %w_packed, %w_scale, %w_zero_point, block_size = 16 : (tensor<3x4xf32>, tensor<2x8xui8>, tensor<2x1xf32>, tensor<2x1xui8>)
// REMARK: remark: 'graph.matmul': the weights of %product stay in floats: they are not known before the program runs
// REMARK: remark: 'graph.conv2d': the weights of %c stay in floats: weights of few bits are those of products
// REMARK: remark: 'graph.matmul': the weights of %batch stay in floats: they have 3 dimensions, expected a matrix
func.func @main(%x: tensor<3x4xf32>, %b: tensor<2x3x4xf32>, %v: tensor<4x2xf32>, %i: tensor<1x1x4x4xf32>) -> (tensor<3x2xf32>, tensor<2x3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x1x3x3xf32>, tensor<2x3x2xf32>) {
  %w = graph.constant dense<[[4.0, 1.0], [2.0, -2.0], [-1.0, 0.5], [0.0, 0.25]]> : tensor<4x2xf32>
  %y = graph.matmul %x, %w : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %z = graph.matmul %b, %w : (tensor<2x3x4xf32>, tensor<4x2xf32>) -> tensor<2x3x2xf32>
  %kept = graph.matmul %x, %w : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %product = graph.matmul %x, %v : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %f = graph.constant dense<1.0> : tensor<1x1x2x2xf32>
  %c = graph.conv2d %i, %f : (tensor<1x1x4x4xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x3x3xf32>
  %u = graph.constant dense<1.0> : tensor<2x4x2xf32>
  %batch = graph.matmul %b, %u : (tensor<2x3x4xf32>, tensor<2x4x2xf32>) -> tensor<2x3x2xf32>
  func.return %y, %z, %kept, %product, %c, %batch : tensor<3x2xf32>, tensor<2x3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x1x3x3xf32>, tensor<2x3x2xf32>
}
