// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// Every i8 is from -128 to 127.
// CHECK-LABEL: func.func @clip_of_everything(
func.func @clip_of_everything(%x: tensor<4xi8>) -> tensor<4xi8> {
  // CHECK-NEXT: func.return %x : tensor<4xi8>
  %r = graph.clip %x, min = -128 : (tensor<4xi8>)
  func.return %r : tensor<4xi8>
}

/// -128 is cut.
// CHECK-LABEL: func.func @no_clip_of_something(
func.func @no_clip_of_something(%x: tensor<4xi8>) -> tensor<4xi8> {
  // CHECK-NEXT: %[[R:.*]] = graph.clip %x, min = -127, max = 127 : (tensor<4xi8>) -> tensor<4xi8>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi8>
  %r = graph.clip %x, min = -127, max = 127 : (tensor<4xi8>)
  func.return %r : tensor<4xi8>
}

/// Every ui8 is from 0 to 255, as a float too.
// CHECK-LABEL: func.func @clip_of_converted(
func.func @clip_of_converted(%x: tensor<4xui8>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[F:.*]] = graph.astype %x, dtype = f32 : (tensor<4xui8>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[F]] : tensor<4xf32>
  %f = graph.astype %x, dtype = f32 : (tensor<4xui8>)
  %r = graph.clip %f, min = 0.0, max = 255.0 : (tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// 255 is cut; and as an i8 255 is -1, below 0.
// CHECK-LABEL: func.func @no_clip_of_converted(
func.func @no_clip_of_converted(%x: tensor<4xui8>) -> (tensor<4xf32>, tensor<4xi8>) {
  // CHECK-NEXT: %[[F:.*]] = graph.astype %x, dtype = f32 : (tensor<4xui8>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.clip %[[F]], min = 0.0, max = 254.0 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[I:.*]] = graph.astype %x, dtype = i8 : (tensor<4xui8>) -> tensor<4xi8>
  // CHECK-NEXT: %[[S:.*]] = graph.clip %[[I]], min = 0 : (tensor<4xi8>) -> tensor<4xi8>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<4xf32>, tensor<4xi8>
  %f = graph.astype %x, dtype = f32 : (tensor<4xui8>)
  %r = graph.clip %f, min = 0.0, max = 254.0 : (tensor<4xf32>)
  %i = graph.astype %x, dtype = i8 : (tensor<4xui8>)
  %s = graph.clip %i, min = 0 : (tensor<4xi8>)
  func.return %r, %s : tensor<4xf32>, tensor<4xi8>
}

/// Bounds after bounds.
// CHECK-LABEL: func.func @clip_of_clip(
func.func @clip_of_clip(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.clip %x, min = 0, max = 6 : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[S:.*]] = graph.clip %x, min = 4, max = 4 : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<4xi32>, tensor<4xi32>
  %a = graph.clip %x, min = 0, max = 9 : (tensor<4xi32>)
  %r = graph.clip %a, min = -3, max = 6 : (tensor<4xi32>)
  %b = graph.clip %x, max = 2 : (tensor<4xi32>)
  %s = graph.clip %b, min = 4 : (tensor<4xi32>)
  func.return %r, %s : tensor<4xi32>, tensor<4xi32>
}

/// Bounds that cross: everything is 1, then 2.
// CHECK-LABEL: func.func @no_clip_of_crossed_clip(
func.func @no_clip_of_crossed_clip(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[A:.*]] = graph.clip %x, min = 3, max = 1 : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.clip %[[A]], min = 2, max = 6 : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %a = graph.clip %x, min = 3, max = 1 : (tensor<4xi32>)
  %r = graph.clip %a, min = 2, max = 6 : (tensor<4xi32>)
  func.return %r : tensor<4xi32>
}

/// The condition is the result.
// CHECK-LABEL: func.func @where_of_booleans(
func.func @where_of_booleans(%c: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: func.return %c : tensor<4xi1>
  %t = graph.full true : tensor<i1>
  %f = graph.full false : tensor<i1>
  %r = graph.where %c, %t, %f : (tensor<4xi1>, tensor<i1>, tensor<i1>)
  func.return %r : tensor<4xi1>
}

/// As numbers it is not. With the choices exchanged it is the negation.
// CHECK-LABEL: func.func @no_where_of_numbers(
func.func @no_where_of_numbers(%c: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK-NEXT: %[[T:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[F:.*]] = graph.full 0.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.where %c, %[[T]], %[[F]] : (tensor<4xi1>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.logical_not %c : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<4xf32>, tensor<4xi1>
  %t = graph.full 1.0 : tensor<f32>
  %f = graph.full 0.0 : tensor<f32>
  %r = graph.where %c, %t, %f : (tensor<4xi1>, tensor<f32>, tensor<f32>)
  %y = graph.full true : tensor<i1>
  %n = graph.full false : tensor<i1>
  %s = graph.where %c, %n, %y : (tensor<4xi1>, tensor<i1>, tensor<i1>)
  func.return %r, %s : tensor<4xf32>, tensor<4xi1>
}

/// The choices change places.
// CHECK-LABEL: func.func @where_of_not(
func.func @where_of_not(%c: tensor<4xi1>, %x: tensor<f32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.where %c, %y, %x : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %n = graph.logical_not %c : (tensor<4xi1>)
  %r = graph.where %n, %x, %y : (tensor<4xi1>, tensor<f32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// A negation among the choices changes none.
// CHECK-LABEL: func.func @no_where_of_negated_choice(
func.func @no_where_of_negated_choice(%c: tensor<4xi1>, %x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[N:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.where %c, %[[N]], %y : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %n = graph.logical_not %x : (tensor<4xi1>)
  %r = graph.where %c, %n, %y : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>)
  func.return %r : tensor<4xi1>
}
