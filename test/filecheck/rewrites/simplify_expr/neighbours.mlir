// RUN: stepwell-opt %s -p 'simplify-expr' | filecheck %s

/// The addition stretches the vector itself.
// CHECK-LABEL: func.func @broadcast_on_the_left(
func.func @broadcast_on_the_left(%x: tensor<3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %y : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x3xf32>
  %b = graph.broadcast_to %x, shape = [2, 3] : (tensor<3xf32>)
  %r = graph.subtract %b, %y : (tensor<2x3xf32>, tensor<2x3xf32>)
  func.return %r : tensor<2x3xf32>
}

/// And on the other side.
// CHECK-LABEL: func.func @broadcast_on_the_right(
func.func @broadcast_on_the_right(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x3xf32>
  %b = graph.broadcast_to %y, shape = [2, 3] : (tensor<3xf32>)
  %r = graph.divide %x, %b : (tensor<2x3xf32>, tensor<2x3xf32>)
  func.return %r : tensor<2x3xf32>
}

/// Without it the result would have another shape.
// CHECK-LABEL: func.func @no_broadcast_that_makes_the_shape(
func.func @no_broadcast_that_makes_the_shape(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast_to %x, shape = [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[B]], %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x3xf32>
  %b = graph.broadcast_to %x, shape = [2, 3] : (tensor<3xf32>)
  %r = graph.add %b, %y : (tensor<2x3xf32>, tensor<3xf32>)
  func.return %r : tensor<2x3xf32>
}

/// 0 to 255 fit into ui8.
// CHECK-LABEL: func.func @conversions_of_clip(
func.func @conversions_of_clip(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[C:.*]] = graph.clip %x, min = 0, max = 255 : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[C]] : tensor<4xi32>
  %c = graph.clip %x, min = 0, max = 255 : (tensor<4xi32>)
  %n = graph.astype %c, dtype = ui8 : (tensor<4xi32>)
  %r = graph.astype %n, dtype = i32 : (tensor<4xui8>)
  func.return %r : tensor<4xi32>
}

/// 256 does not, floats are cut, and a missing bound is none.
// CHECK-LABEL: func.func @no_conversions_that_change(
func.func @no_conversions_that_change(%x: tensor<4xi32>, %y: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[C:.*]] = graph.clip %x, min = 0, max = 256 : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[N:.*]] = graph.astype %[[C]], dtype = ui8 : (tensor<4xi32>) -> tensor<4xui8>
  // CHECK-NEXT: %[[R:.*]] = graph.astype %[[N]], dtype = i32 : (tensor<4xui8>) -> tensor<4xi32>
  // CHECK-NEXT: %[[D:.*]] = graph.clip %y, min = 0.0, max = 9.0 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[O:.*]] = graph.astype %[[D]], dtype = i8 : (tensor<4xf32>) -> tensor<4xi8>
  // CHECK-NEXT: %[[S:.*]] = graph.astype %[[O]], dtype = f32 : (tensor<4xi8>) -> tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.clip %x, min = 0 : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[P:.*]] = graph.astype %[[E]], dtype = ui8 : (tensor<4xi32>) -> tensor<4xui8>
  // CHECK-NEXT: %[[T:.*]] = graph.astype %[[P]], dtype = i32 : (tensor<4xui8>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[S]], %[[T]] : tensor<4xi32>, tensor<4xf32>, tensor<4xi32>
  %c = graph.clip %x, min = 0, max = 256 : (tensor<4xi32>)
  %n = graph.astype %c, dtype = ui8 : (tensor<4xi32>)
  %r = graph.astype %n, dtype = i32 : (tensor<4xui8>)
  %d = graph.clip %y, min = 0.0, max = 9.0 : (tensor<4xf32>)
  %o = graph.astype %d, dtype = i8 : (tensor<4xf32>)
  %s = graph.astype %o, dtype = f32 : (tensor<4xi8>)
  %e = graph.clip %x, min = 0 : (tensor<4xi32>)
  %p = graph.astype %e, dtype = ui8 : (tensor<4xi32>)
  %t = graph.astype %p, dtype = i32 : (tensor<4xui8>)
  func.return %r, %s, %t : tensor<4xi32>, tensor<4xf32>, tensor<4xi32>
}

/// f32 holds every i8.
// CHECK-LABEL: func.func @position_in_converted(
func.func @position_in_converted(%x: tensor<2x4xi8>) -> tensor<2xi64> {
  // CHECK-NEXT: %[[R:.*]] = graph.argmax %x, axis = 1 : (tensor<2x4xi8>) -> tensor<2xi64>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xi64>
  %f = graph.astype %x, dtype = f32 : (tensor<2x4xi8>)
  %r = graph.argmax %f, axis = 1 : (tensor<2x4xf32>)
  func.return %r : tensor<2xi64>
}

/// Not every i32: different integers become equal floats.
// CHECK-LABEL: func.func @no_position_in_rounded(
func.func @no_position_in_rounded(%x: tensor<2x4xi32>) -> tensor<2xi64> {
  // CHECK-NEXT: %[[F:.*]] = graph.astype %x, dtype = f32 : (tensor<2x4xi32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.argmax %[[F]], axis = 1 : (tensor<2x4xf32>) -> tensor<2xi64>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xi64>
  %f = graph.astype %x, dtype = f32 : (tensor<2x4xi32>)
  %r = graph.argmax %f, axis = 1 : (tensor<2x4xf32>)
  func.return %r : tensor<2xi64>
}

/// Literals are multiplied with each other.
// CHECK-LABEL: func.func @multiply_by_constants_integer(
func.func @multiply_by_constants_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[V1:.*]] = graph.multiply %[[V0]], %[[L]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V1]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<4xi32>
  %l = graph.full 5 : tensor<i32>
  %a = graph.multiply %x, %k : (tensor<4xi32>, tensor<4xi32>)
  %r = graph.multiply %l, %a : (tensor<i32>, tensor<4xi32>)
  func.return %r : tensor<4xi32>
}

/// And added to each other.
// CHECK-LABEL: func.func @add_of_constants_integer(
func.func @add_of_constants_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %[[V0]], %[[L]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %[[V1]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<4xi32>
  %l = graph.full 5 : tensor<i32>
  %a = graph.add %x, %k : (tensor<4xi32>, tensor<4xi32>)
  %r = graph.add %l, %a : (tensor<i32>, tensor<4xi32>)
  func.return %r : tensor<4xi32>
}

/// Sums of floats would be rounded differently; a sum with another user stays.
// CHECK-LABEL: func.func @no_merged_constants(
func.func @no_merged_constants(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[B:.*]] = graph.add %y, %[[V2]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[V3:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[B]], %[[V3]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[S]], %[[B]] : tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
  %k = graph.full 3.0 : tensor<4xf32>
  %a = graph.add %x, %k : (tensor<4xf32>, tensor<4xf32>)
  %r = graph.add %a, %k : (tensor<4xf32>, tensor<4xf32>)
  %l = graph.full 3 : tensor<4xi32>
  %b = graph.add %y, %l : (tensor<4xi32>, tensor<4xi32>)
  %s = graph.add %b, %l : (tensor<4xi32>, tensor<4xi32>)
  func.return %r, %s, %b : tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}

/// argmax takes no booleans.
// CHECK-LABEL: func.func @no_position_in_booleans(
func.func @no_position_in_booleans(%x: tensor<2x4xi1>) -> tensor<2xi64> {
  // CHECK-NEXT: %[[F:.*]] = graph.astype %x, dtype = i8 : (tensor<2x4xi1>) -> tensor<2x4xi8>
  // CHECK-NEXT: %[[R:.*]] = graph.argmax %[[F]], axis = 1 : (tensor<2x4xi8>) -> tensor<2xi64>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xi64>
  %f = graph.astype %x, dtype = i8 : (tensor<2x4xi1>)
  %r = graph.argmax %f, axis = 1 : (tensor<2x4xi8>)
  func.return %r : tensor<2xi64>
}

/// Three literals could be paired for ever; fold-constant computes them.
// CHECK-LABEL: func.func @no_constants_only(
func.func @no_constants_only() -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<4xi32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<4xi32>
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %[[K]], %[[L]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[V0]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<4xi32>
  %l = graph.full 5 : tensor<4xi32>
  %a = graph.multiply %k, %l : (tensor<4xi32>, tensor<4xi32>)
  %r = graph.multiply %a, %k : (tensor<4xi32>, tensor<4xi32>)
  func.return %r : tensor<4xi32>
}
