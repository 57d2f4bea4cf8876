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

/// x * sigmoid(x) as quantisers write it. The bytes of the sigmoid are an op of the table, not of the program.
// CHECK-LABEL: func.func @integer_table_of_two(
// STRICT-LABEL: func.func @integer_table_of_two(
func.func @integer_table_of_two(%q: tensor<2x3xi8>) -> tensor<2x3xui8> {
  // CHECK: %[[ALL:.*]] = graph.constant dense<"0x000102
  // CHECK-NEXT: %[[REAL:.*]] = graph.dequantize %[[ALL]], %s, %z : (tensor<256xi8>
  // CHECK: %[[INNER:.*]] = graph.requantize %{{.*}} -> tensor<256xui8>
  // CHECK: %[[X:.*]] = graph.dequantize %{{.*}}, %s, %z : (tensor<256xi8>
  // CHECK-NEXT: %[[Y:.*]] = graph.dequantize %[[INNER]], %t, %u : (tensor<256xui8>
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %[[X]], %[[Y]] : (tensor<256xf32>, tensor<256xf32>)
  // CHECK-NEXT: %[[TABLE:.*]] = graph.requantize %[[M]], %{{.*}} -> tensor<256xui8>
  // CHECK-NEXT: %[[PLACE:.*]] = graph.astype %q, dtype = ui8
  // CHECK-NEXT: %[[R:.*]] = graph.take %[[TABLE]], %[[PLACE]], axis = 0 : (tensor<256xui8>, tensor<2x3xui8>)
  // CHECK-NEXT: func.return %[[R]]
  // STRICT: graph.multiply %{{.*}} : (tensor<2x3xf32>, tensor<2x3xf32>)
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<i8>
  %t = graph.full 0.004 : tensor<f32>
  %u = graph.full 0 : tensor<ui8>
  %v = graph.full 0.03 : tensor<f32>
  %o = graph.full 9 : tensor<ui8>
  %x = graph.dequantize %q, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>)
  %f = graph.sigmoid %x : (tensor<2x3xf32>)
  %g = graph.quantize %f, %t, %u : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  %y = graph.dequantize %g, %t, %u : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %m = graph.multiply %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>)
  %r = graph.quantize %m, %v, %o : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %r : tensor<2x3xui8>
}

/// gelu as it is written out, with numbers of any shape.
// CHECK-LABEL: func.func @integer_table_of_several_ops(
func.func @integer_table_of_several_ops(%q: tensor<2x3xui8>) -> tensor<2x3xui8> {
  // CHECK: %[[X:.*]] = graph.dequantize %{{.*}} -> tensor<256xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.erf %[[X]] : (tensor<256xf32>)
  // CHECK-NEXT: %[[B:.*]] = graph.add %[[A]], %{{.*}} : (tensor<256xf32>, tensor<f32>)
  // CHECK-NEXT: %[[C:.*]] = graph.multiply %[[X]], %{{.*}} : (tensor<256xf32>, tensor<f32>)
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %[[B]], %[[C]] : (tensor<256xf32>, tensor<256xf32>)
  // CHECK: graph.take %{{.*}}, %q, axis = 0
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %one = graph.constant dense<1.0> : tensor<1x1xf32>
  %half = graph.full 0.5 : tensor<2x3xf32>
  %x = graph.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %a = graph.erf %x : (tensor<2x3xf32>)
  %b = graph.add %a, %one : (tensor<2x3xf32>, tensor<1x1xf32>)
  %c = graph.multiply %x, %half : (tensor<2x3xf32>, tensor<2x3xf32>)
  %m = graph.multiply %b, %c : (tensor<2x3xf32>, tensor<2x3xf32>)
  %r = graph.quantize %m, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %r : tensor<2x3xui8>
}

/// Two tensors of bytes have 65536 pairs.
// CHECK-LABEL: func.func @no_integer_table_of_two_tensors(
func.func @no_integer_table_of_two_tensors(%q: tensor<2x3xui8>, %p: tensor<2x3xui8>) -> tensor<2x3xui8> {
  // CHECK-NOT: graph.take
  // CHECK: graph.tanh %{{.*}} : (tensor<2x3xf32>)
  // CHECK-NOT: graph.take
  // CHECK: func.return
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %x = graph.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %y = graph.dequantize %p, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %f = graph.tanh %x : (tensor<2x3xf32>)
  %m = graph.multiply %f, %y : (tensor<2x3xf32>, tensor<2x3xf32>)
  %r = graph.quantize %m, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %r : tensor<2x3xui8>
}

/// Plain arithmetic is done along with what is before it.
// CHECK-LABEL: func.func @no_integer_table_of_arithmetic(
func.func @no_integer_table_of_arithmetic(%q: tensor<2x3xui8>) -> tensor<2x3xui8> {
  // CHECK-NOT: graph.take
  // CHECK: func.return
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %t = graph.full 0.07 : tensor<f32>
  %x = graph.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %f = graph.clip %x, min = 0.0, max = 6.0 : (tensor<2x3xf32>)
  %m = graph.multiply %f, %x : (tensor<2x3xf32>, tensor<2x3xf32>)
  %r = graph.quantize %m, %t, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %r : tensor<2x3xui8>
}

/// An element is made of another one than that at its place.
// CHECK-LABEL: func.func @no_integer_table_of_other_places(
func.func @no_integer_table_of_other_places(%q: tensor<2x2xui8>) -> tensor<2x2xui8> {
  // CHECK-NOT: graph.take
  // CHECK: func.return
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %x = graph.dequantize %q, %s, %z : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>)
  %f = graph.exp %x : (tensor<2x2xf32>)
  %a = graph.cumulative_sum %f, axis = 1 : (tensor<2x2xf32>)
  %m = graph.multiply %a, %x : (tensor<2x2xf32>, tensor<2x2xf32>)
  %r = graph.quantize %m, %s, %z : (tensor<2x2xf32>, tensor<f32>, tensor<ui8>)
  func.return %r : tensor<2x2xui8>
}

/// One column spreads over several.
// CHECK-LABEL: func.func @no_integer_table_of_a_column(
func.func @no_integer_table_of_a_column(%q: tensor<2x1xui8>, %p: tensor<2x3xf32>) -> tensor<2x3xui8> {
  // CHECK-NOT: tensor<256xf32>
  // CHECK: func.return
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %x = graph.dequantize %q, %s, %z : (tensor<2x1xui8>, tensor<f32>, tensor<ui8>)
  %f = graph.exp %x : (tensor<2x1xf32>)
  %m = graph.multiply %f, %p : (tensor<2x1xf32>, tensor<2x3xf32>)
  %r = graph.quantize %m, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %r : tensor<2x3xui8>
}

/// The result of the op is used elsewhere, or there is a scale for each row, or none that is known.
// CHECK-LABEL: func.func @no_integer_table_of_two_users_of_two(
func.func @no_integer_table_of_two_users_of_two(%q: tensor<2x3xui8>) -> (tensor<2x3xf32>, tensor<2x3xui8>) {
  // CHECK-NOT: graph.take
  // CHECK: func.return
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %x = graph.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %f = graph.tanh %x : (tensor<2x3xf32>)
  %m = graph.multiply %f, %x : (tensor<2x3xf32>, tensor<2x3xf32>)
  %r = graph.quantize %m, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %m, %r : tensor<2x3xf32>, tensor<2x3xui8>
}

// CHECK-LABEL: func.func @no_integer_table_of_two_and_scales_of_rows(
func.func @no_integer_table_of_two_and_scales_of_rows(%q: tensor<2x3xui8>) -> tensor<2x3xui8> {
  // CHECK-NOT: graph.take
  // CHECK: func.return
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %t = graph.constant dense<[0.05, 0.07]> : tensor<2xf32>
  %u = graph.full 3 : tensor<2xui8>
  %x = graph.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %f = graph.tanh %x : (tensor<2x3xf32>)
  %m = graph.multiply %f, %x : (tensor<2x3xf32>, tensor<2x3xf32>)
  %r = graph.quantize %m, %t, %u, axis = 0 : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xui8>)
  func.return %r : tensor<2x3xui8>
}

// CHECK-LABEL: func.func @no_integer_table_of_two_and_unknown_steps(
func.func @no_integer_table_of_two_and_unknown_steps(%q: tensor<2x3xui8>, %t: tensor<f32>) -> tensor<2x3xui8> {
  // CHECK-NOT: graph.take
  // CHECK: func.return
  %s = graph.full 0.05 : tensor<f32>
  %z = graph.full 3 : tensor<ui8>
  %x = graph.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %f = graph.tanh %x : (tensor<2x3xf32>)
  %m = graph.multiply %f, %x : (tensor<2x3xf32>, tensor<2x3xf32>)
  %r = graph.quantize %m, %t, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>)
  func.return %r : tensor<2x3xui8>
}
