// RUN: stepwell-opt %s -p 'integer-arithmetic' | filecheck %s
// RUN: stepwell-opt %s -p 'integer-arithmetic{numerics="strict"}' | filecheck %s --check-prefix=STRICT

/// What stands for all bytes is made of a constant. The bytes with signs are places in it from 128 on.
// CHECK-LABEL: func.func @integer_table(
// STRICT-LABEL: func.func @integer_table(
func.func @integer_table(%q: tensor<2x3xi8>) -> tensor<2x3xui8> {
  // CHECK: %[[ALL:.*]] = graph.constant dense<"0x000102
  // CHECK: %[[REAL:.*]] = graph.dequantize %[[ALL]], %s, %z : (tensor<256xi8>
  // CHECK: %[[MADE:.*]] = graph.gelu %[[REAL]], approximate = "tanh" : (tensor<256xf32>)
  // CHECK: %[[TABLE:.*]] = graph.requantize %[[MADE]], %{{.*}} -> tensor<256xui8>
  // CHECK: %[[PLACE:.*]] = graph.astype %q, dtype = ui8
  // CHECK: graph.take %[[TABLE]], %[[PLACE]], axis = 0 : (tensor<256xui8>, tensor<2x3xui8>) -> tensor<2x3xui8>
  // STRICT: graph.gelu %{{.*}} : (tensor<2x3xf32>)
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<i8>
  %t = graph.full 0.02 : tensor<f32>
  %u = graph.full 9 : tensor<ui8>
  %a = graph.dequantize %q, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>)
  %f = graph.gelu %a, approximate = "tanh" : (tensor<2x3xf32>)
  %y = graph.quantize %f, %t, %u : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %y : tensor<2x3xui8>
}

/// The result of the function is used elsewhere, so it is computed anyway.
// CHECK-LABEL: func.func @no_integer_table_of_two_users(
func.func @no_integer_table_of_two_users(%q: tensor<2x3xui8>) -> (tensor<2x3xf32>, tensor<2x3xui8>) {
  // CHECK-NOT: graph.take
  // CHECK: graph.sigmoid %{{.*}} : (tensor<2x3xf32>)
  // CHECK-NOT: graph.take
  // CHECK: func.return
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %a = graph.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %f = graph.sigmoid %a : (tensor<2x3xf32>)
  %y = graph.quantize %f, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %f, %y : tensor<2x3xf32>, tensor<2x3xui8>
}

/// The scale of the bytes, or of the result, is not known before a call.
// CHECK-LABEL: func.func @no_integer_table_of_unknown_scale(
func.func @no_integer_table_of_unknown_scale(%q: tensor<2x3xui8>, %s: tensor<f32>) -> tensor<2x3xui8> {
  // CHECK-NOT: graph.take
  // CHECK: graph.tanh %{{.*}} : (tensor<2x3xf32>)
  %t = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %a = graph.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %f = graph.tanh %a : (tensor<2x3xf32>)
  %y = graph.quantize %f, %t, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %y : tensor<2x3xui8>
}

// CHECK-LABEL: func.func @no_integer_table_of_unknown_steps(
func.func @no_integer_table_of_unknown_steps(%q: tensor<2x3xui8>, %t: tensor<f32>) -> tensor<2x3xui8> {
  // CHECK-NOT: graph.take
  // CHECK: graph.tanh %{{.*}} : (tensor<2x3xf32>)
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %a = graph.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %f = graph.tanh %a : (tensor<2x3xf32>)
  %y = graph.quantize %f, %t, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %y : tensor<2x3xui8>
}
