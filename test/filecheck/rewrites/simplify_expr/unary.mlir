// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// -(-x) = x.
// CHECK-LABEL: @negative_of_negative(
func.func @negative_of_negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %a = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// not not x = x.
// CHECK-LABEL: @not_of_not(
func.func @not_of_not(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: func.return %x : tensor<4xi1>
  %a = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_not %a : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// ~~x = x.
// CHECK-LABEL: @bitwise_not_of_not(
func.func @bitwise_not_of_not(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %a = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_not %a : (tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// relu, abs and sign keep their own results.
// CHECK-LABEL: @relu_of_relu(
func.func @relu_of_relu(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.sign %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[C]], %[[E]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %a = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.abs %c : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.sign %x : (tensor<4xf32>) -> tensor<4xf32>
  %f = graph.sign %e : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b, %d, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

/// A clip with the same bounds does nothing more.
// CHECK-LABEL: @clip_of_clip(
func.func @clip_of_clip(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.clip %x, min = 0.0, max = 6.0 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]] : tensor<4xf32>
  %a = graph.clip %x, min = 0.0, max = 6.0 : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.clip %a, min = 0.0, max = 6.0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Other bounds are another op.
// CHECK-LABEL: @no_clip_of_other_clip(
func.func @no_clip_of_other_clip(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.clip %x, min = 1.0, max = 6.0 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a = graph.clip %x, min = 0.0, max = 6.0 : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.clip %a, min = 1.0, max = 6.0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// exp of exp is not exp.
// CHECK-LABEL: @no_exp_of_exp(
func.func @no_exp_of_exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.exp %[[A]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// An op between blocks the rule.
// CHECK-LABEL: @no_relu_of_negative(
func.func @no_relu_of_negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.negative %[[A]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.relu %[[B]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.relu %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// An integer value needs no second rounding of any kind.
// CHECK-LABEL: @rounding_of_rounded(
func.func @rounding_of_rounded(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]] : tensor<4xf32>
  %a = graph.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.floor %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.round %b : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.trunc %c : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Integers are rounded already.
// CHECK-LABEL: @rounding_of_integer(
func.func @rounding_of_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %a = graph.floor %x : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.round %a : (tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Unsigned integers are not negative.
// CHECK-LABEL: @abs_of_unsigned(
func.func @abs_of_unsigned(%x: tensor<4xui8>, %i: tensor<4xi32>) -> (tensor<4xui8>, tensor<4xi32>) {
  // CHECK-NEXT: %[[C:.*]] = graph.abs %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %x, %[[C]] : tensor<4xui8>, tensor<4xi32>
  %a = graph.abs %x : (tensor<4xui8>) -> tensor<4xui8>
  %b = graph.relu %a : (tensor<4xui8>) -> tensor<4xui8>
  %c = graph.abs %i : (tensor<4xi32>) -> tensor<4xi32>
  func.return %b, %c : tensor<4xui8>, tensor<4xi32>
}

/// |-x| = |x|.
// CHECK-LABEL: @abs_of_negative(
func.func @abs_of_negative(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[B:.*]] = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.abs %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[B]], %[[D]] : tensor<4xf32>, tensor<4xi32>
  %a = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.abs %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.negative %i : (tensor<4xi32>) -> tensor<4xi32>
  %d = graph.abs %c : (tensor<4xi32>) -> tensor<4xi32>
  func.return %b, %d : tensor<4xf32>, tensor<4xi32>
}

/// not (x = y) is x != y, for NaN too.
// CHECK-LABEL: @not_of_equal(
func.func @not_of_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %a = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_not %a : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// not (x < y) is not x >= y for NaN.
// CHECK-LABEL: @no_not_of_less(
func.func @no_not_of_less(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[A:.*]] = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[A]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %a = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_not %a : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// The comparison is needed anyway.
// CHECK-LABEL: @no_not_of_shared_equal(
func.func @no_not_of_shared_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[A:.*]] = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[B:.*]] = graph.logical_not %[[A]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xi1>, tensor<4xi1>
  %a = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %b = graph.logical_not %a : (tensor<4xi1>) -> tensor<4xi1>
  func.return %a, %b : tensor<4xi1>, tensor<4xi1>
}

/// A clip without bounds does nothing.
// CHECK-LABEL: @clip_without_bounds(
func.func @clip_without_bounds(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %r = graph.clip %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// A conversion to the same type does nothing.
// CHECK-LABEL: @astype_to_same(
func.func @astype_to_same(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %r = graph.astype %x, dtype = f32 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// A step over a wider type changes nothing: bf16 to f32 to bf16, i8 to i32 to f16.
// CHECK-LABEL: @astype_of_astype(
func.func @astype_of_astype(%x: tensor<4xbf16>, %i: tensor<4xi8>) -> (tensor<4xbf16>, tensor<4xf16>) {
  // CHECK-NEXT: %[[D:.*]] = graph.astype %i, dtype = f16 : (tensor<4xi8>) -> tensor<4xf16>
  // CHECK-NEXT: func.return %x, %[[D]] : tensor<4xbf16>, tensor<4xf16>
  %a = graph.astype %x, dtype = f32 : (tensor<4xbf16>) -> tensor<4xf32>
  %b = graph.astype %a, dtype = bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  %c = graph.astype %i, dtype = i32 : (tensor<4xi8>) -> tensor<4xi32>
  %d = graph.astype %c, dtype = f16 : (tensor<4xi32>) -> tensor<4xf16>
  func.return %b, %d : tensor<4xbf16>, tensor<4xf16>
}

/// A step over a narrower type loses digits.
// CHECK-LABEL: @no_astype_over_narrower(
func.func @no_astype_over_narrower(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.astype %x, dtype = f16 : (tensor<4xf32>) -> tensor<4xf16>
  // CHECK-NEXT: %[[R:.*]] = graph.astype %[[A]], dtype = f32 : (tensor<4xf16>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a = graph.astype %x, dtype = f16 : (tensor<4xf32>) -> tensor<4xf16>
  %r = graph.astype %a, dtype = f32 : (tensor<4xf16>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// i8 over f32 to ui8 saturates, i8 to ui8 wraps.
// CHECK-LABEL: @no_astype_that_saturates(
func.func @no_astype_that_saturates(%x: tensor<4xi8>) -> tensor<4xui8> {
  // CHECK-NEXT: %[[A:.*]] = graph.astype %x, dtype = f32 : (tensor<4xi8>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.astype %[[A]], dtype = ui8 : (tensor<4xf32>) -> tensor<4xui8>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xui8>
  %a = graph.astype %x, dtype = f32 : (tensor<4xi8>) -> tensor<4xf32>
  %r = graph.astype %a, dtype = ui8 : (tensor<4xf32>) -> tensor<4xui8>
  func.return %r : tensor<4xui8>
}
