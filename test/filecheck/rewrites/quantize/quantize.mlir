// RUN: stepwell-opt %s -p 'quantize{table="%S/table.json"}' | filecheck %s
// RUN: stepwell-opt %s -p 'quantize{table="%S/table.json" activations=symmetric bias-correction=false}' | filecheck %s --check-prefix=SYMMETRIC
// RUN: stepwell-opt %s -p 'quantize{table="%S/table.json" keep="c*",y}' | filecheck %s --check-prefix=KEEP
// RUN: stepwell-opt %s -p 'quantize{table="%S/table.json" keep-kinds=conv2d}' | filecheck %s --check-prefix=KINDS
// RUN: stepwell-opt %s -p 'quantize{table="%S/table.json" switches}' | filecheck %s --check-prefix=SWITCHES
// RUN: stepwell-opt %s -p 'quantize{table="%S/table.json"},integer-arithmetic,eliminate-dead-code' | filecheck %s --check-prefix=INTEGER

/// The input covers -32 to 31.75, the first result 0 to 127.5, so that scales are powers of two. Values are quantised
/// where they are made: before the pooling, which then moves bytes, and before what else reads them.
// CHECK-LABEL: func.func @main
// CHECK: %[[SX:.*]] = graph.full 0.25 : tensor<f32>
// CHECK-NEXT: %[[ZX:.*]] = graph.full 0 : tensor<i8>
// CHECK-NEXT: %x_q = graph.quantize %x, %[[SX]], %[[ZX]] : (tensor<1x1x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1x4x4xi8>
// CHECK-NEXT: %x_dq = graph.dequantize %x_q, %[[SX]], %[[ZX]]
// CHECK-NEXT: %w_q = graph.constant dense<{{.*}}127{{.*}}-127{{.*}}> : tensor<2x1x1x1xi8>
// CHECK-NEXT: %w_scale = graph.constant dense<[0.5, 0.25]> : tensor<2xf32>
// CHECK-NEXT: %[[ZW:.*]] = graph.full 0 : tensor<2xi8>
// CHECK-NEXT: %w_dq = graph.dequantize %w_q, %w_scale, %[[ZW]], axis = 0
// CHECK-NEXT: %c = graph.conv2d %x_dq, %w_dq
// CHECK-NEXT: %r = graph.relu %c
// CHECK-NEXT: %[[SR:.*]] = graph.full 0.5 : tensor<f32>
// CHECK-NEXT: %[[ZR:.*]] = graph.full -128 : tensor<i8>
// CHECK-NEXT: %r_q = graph.quantize %r, %[[SR]], %[[ZR]]
// CHECK-NEXT: %r_dq = graph.dequantize %r_q, %[[SR]], %[[ZR]]
// CHECK-NEXT: %p = graph.max_pool2d %r_dq
// CHECK-NEXT: %n = graph.negative %r_dq
/// Rounding takes 0.25 off the second column, and rows have the mean 10: the bias makes up for that.
// CHECK-NEXT: %f = graph.reshape %p, shape = [4, 2]
// CHECK: %[[V:.*]] = graph.dequantize %v_q, %v_scale, %{{[0-9]+}} :
// CHECK-NEXT: %y = graph.matmul %f, %[[V]]
// CHECK-NEXT: %b_corrected = graph.constant dense<[1.0, 4.5]> : tensor<2xf32>
// CHECK-NEXT: %z = graph.add %y, %b_corrected
/// What the function returns is not quantised.
// CHECK-NEXT: func.return %z, %r, %n

// SYMMETRIC: graph.full 0.251968{{[0-9]+}} : tensor<f32>
// SYMMETRIC-NOT: -128
// SYMMETRIC-NOT: corrected
// SYMMETRIC: %z = graph.add %y, %b :

/// A layer that is kept reads floats, also where a value is quantised for others.
// KEEP-NOT: quantize

// KINDS-NOT: graph.quantize %x
// KINDS: %c = graph.conv2d %x, %w :
// KINDS: graph.quantize %r,
// KINDS: %y = graph.matmul

/// Each layer chooses by its element of an argument more.
// SWITCHES-LABEL: func.func @main(%x: tensor<1x1x4x4xf32>, %quantised: tensor<2xi1>)
// SWITCHES: %[[S0:.*]] = graph.strided_slice %quantised, axes = [0], begin = [0], end = [1]
// SWITCHES-NEXT: %[[C0:.*]] = graph.reshape %[[S0]], shape = []
// SWITCHES-NEXT: %[[S1:.*]] = graph.strided_slice %quantised, axes = [0], begin = [1], end = [2]
// SWITCHES-NEXT: %[[C1:.*]] = graph.reshape %[[S1]], shape = []
// SWITCHES: %[[X:.*]] = graph.where %[[C0]], %x_dq, %x :
// SWITCHES-NEXT: %[[W:.*]] = graph.where %[[C0]], %w_dq, %w :
// SWITCHES-NEXT: graph.conv2d %[[X]], %[[W]]
// SWITCHES: %n = graph.negative %r :
// SWITCHES: %[[B:.*]] = graph.where %[[C1]], %b_corrected, %b :
// SWITCHES-NEXT: graph.add %y, %[[B]]

/// Products of bytes follow from that.
// INTEGER: graph.conv2d %{{.*}}, out_dtype = i32
// INTEGER: graph.max_pool2d %r_q{{.*}} -> tensor<1x2x2x2xi8>
// INTEGER: graph.matmul %{{.*}}, out_dtype = i32
func.func @main(%x: tensor<1x1x4x4xf32>) -> (tensor<4x2xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = graph.constant dense<[[[[63.5]]], [[[-31.75]]]]> : tensor<2x1x1x1xf32>
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = graph.relu %c : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %p = graph.max_pool2d %r, pool_size = [2, 2], strides = [2, 2] : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %n = graph.negative %r : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %f = graph.reshape %p, shape = [4, 2] : (tensor<1x2x2x2xf32>) -> tensor<4x2xf32>
  %v = graph.constant dense<[[127.0, 127.0], [2.0, 3.25]]> : tensor<2x2xf32>
  %y = graph.matmul %f, %v : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %z = graph.add %y, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  func.return %z, %r, %n : tensor<4x2xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}
