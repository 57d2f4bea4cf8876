// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// A convolution pads with zeros itself.
// CHECK-LABEL: func.func @convolution_of_padded(
func.func @convolution_of_padded(%x: tensor<1x2x4x5xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x7x6xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.conv2d %x, %w, padding = [3, 1, 2, 2] : (tensor<1x2x4x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x7x6xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<1x3x7x6xf32>
  %p = graph.pad %x, pad_width = [0, 0, 0, 0, 2, 1, 0, 1], value = 0.0 : (tensor<1x2x4x5xf32>) -> tensor<1x2x7x6xf32>
  %r = graph.conv2d %p, %w, padding = [1, 1, 1, 1] : (tensor<1x2x7x6xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x7x6xf32>
  func.return %r : tensor<1x3x7x6xf32>
}

/// Ones are no zeros.
// CHECK-LABEL: func.func @no_convolution_of_padded_with_ones(
func.func @no_convolution_of_padded_with_ones(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK-NEXT: %[[P:.*]] = graph.pad %x, pad_width = [0, 0, 0, 0, 1, 1, 1, 1], value = 1.0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x6xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.conv2d %[[P]], %w : (tensor<1x2x6x6xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<1x3x4x4xf32>
  %p = graph.pad %x, pad_width = [0, 0, 0, 0, 1, 1, 1, 1], value = 1.0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x6xf32>
  %r = graph.conv2d %p, %w : (tensor<1x2x6x6xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32>
  func.return %r : tensor<1x3x4x4xf32>
}

/// The convolution pads no channels.
// CHECK-LABEL: func.func @no_convolution_of_padded_channels(
func.func @no_convolution_of_padded_channels(%x: tensor<1x1x4x4xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32> {
  // CHECK-NEXT: %[[P:.*]] = graph.pad %x, pad_width = [0, 0, 0, 1, 0, 0, 0, 0], value = 0.0 : (tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.conv2d %[[P]], %w : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<1x3x2x2xf32>
  %p = graph.pad %x, pad_width = [0, 0, 0, 1, 0, 0, 0, 0], value = 0.0 : (tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
  %r = graph.conv2d %p, %w : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
  func.return %r : tensor<1x3x2x2xf32>
}

/// Two transposed operands make one transposed product.
// CHECK-LABEL: func.func @product_of_transposed(
func.func @product_of_transposed(%x: tensor<3x2xf32>, %y: tensor<4x3xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.matmul %y, %x : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.permute_dims %[[V0]], axes = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x4xf32>
  %a = graph.permute_dims %x : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %b = graph.permute_dims %y : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %r = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

/// `%a` is needed anyway.
// CHECK-LABEL: func.func @no_product_of_shared_transposed(
func.func @no_product_of_shared_transposed(%x: tensor<3x2xf32>, %y: tensor<4x3xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x : (tensor<3x2xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.permute_dims %y : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.matmul %[[A]], %[[B]] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[A]] : tensor<2x4xf32>, tensor<2x3xf32>
  %a = graph.permute_dims %x : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %b = graph.permute_dims %y : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %r = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %r, %a : tensor<2x4xf32>, tensor<2x3xf32>
}

/// The permutations move the batch.
// CHECK-LABEL: func.func @no_product_of_moved_batch(
func.func @no_product_of_moved_batch(%x: tensor<3x5x2xf32>, %y: tensor<4x5x3xf32>) -> tensor<5x2x4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x, axes = [1, 2, 0] : (tensor<3x5x2xf32>) -> tensor<5x2x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.permute_dims %y, axes = [1, 2, 0] : (tensor<4x5x3xf32>) -> tensor<5x3x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.matmul %[[A]], %[[B]] : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<5x2x4xf32>
  %a = graph.permute_dims %x, axes = [1, 2, 0] : (tensor<3x5x2xf32>) -> tensor<5x2x3xf32>
  %b = graph.permute_dims %y, axes = [1, 2, 0] : (tensor<4x5x3xf32>) -> tensor<5x3x4xf32>
  %r = graph.matmul %a, %b : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  func.return %r : tensor<5x2x4xf32>
}

/// (x^T y)^T is y^T x.
// CHECK-LABEL: func.func @transposed_product_left(
func.func @transposed_product_left(%x: tensor<3x2xf32>, %y: tensor<3x4xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.permute_dims %y, axes = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.matmul %[[V0]], %x : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4x2xf32>
  %a = graph.permute_dims %x : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %p = graph.matmul %a, %y : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = graph.permute_dims %p : (tensor<2x4xf32>) -> tensor<4x2xf32>
  func.return %r : tensor<4x2xf32>
}

/// (x y^T)^T is y x^T.
// CHECK-LABEL: func.func @transposed_product_right(
func.func @transposed_product_right(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.permute_dims %x, axes = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.matmul %y, %[[V0]] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4x2xf32>
  %b = graph.permute_dims %y : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %p = graph.matmul %x, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = graph.permute_dims %p : (tensor<2x4xf32>) -> tensor<4x2xf32>
  func.return %r : tensor<4x2xf32>
}

/// A vector has no rows to transpose.
// CHECK-LABEL: func.func @no_transposed_product_of_vector(
func.func @no_transposed_product_of_vector(%x: tensor<3xf32>, %y: tensor<5x4x3xf32>) -> tensor<4x5xf32> {
  // CHECK-NEXT: %[[B:.*]] = graph.permute_dims %y, axes = [0, 2, 1] : (tensor<5x4x3xf32>) -> tensor<5x3x4xf32>
  // CHECK-NEXT: %[[P:.*]] = graph.matmul %x, %[[B]] : (tensor<3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.permute_dims %[[P]] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4x5xf32>
  %b = graph.permute_dims %y, axes = [0, 2, 1] : (tensor<5x4x3xf32>) -> tensor<5x3x4xf32>
  %p = graph.matmul %x, %b : (tensor<3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
  %r = graph.permute_dims %p : (tensor<5x4xf32>) -> tensor<4x5xf32>
  func.return %r : tensor<4x5xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_transposed_shared_product(
func.func @no_transposed_shared_product(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> (tensor<4x2xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: %[[B:.*]] = graph.permute_dims %y : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[P:.*]] = graph.matmul %x, %[[B]] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.permute_dims %[[P]] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4x2xf32>, tensor<2x4xf32>
  %b = graph.permute_dims %y : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %p = graph.matmul %x, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = graph.permute_dims %p : (tensor<2x4xf32>) -> tensor<4x2xf32>
  func.return %r, %p : tensor<4x2xf32>, tensor<2x4xf32>
}

/// `%b` is needed anyway.
// CHECK-LABEL: func.func @no_product_of_transposed_and_shared(
func.func @no_product_of_transposed_and_shared(%x: tensor<3x2xf32>, %y: tensor<4x3xf32>) -> (tensor<2x4xf32>, tensor<3x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x : (tensor<3x2xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.permute_dims %y : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.matmul %[[A]], %[[B]] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[B]] : tensor<2x4xf32>, tensor<3x4xf32>
  %a = graph.permute_dims %x : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %b = graph.permute_dims %y : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %r = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %r, %b : tensor<2x4xf32>, tensor<3x4xf32>
}

/// The product reads half floats itself.
// CHECK-LABEL: func.func @product_of_narrow(
func.func @product_of_narrow(%x: tensor<2x3xf32>, %w: tensor<3x4xf16>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf16>) -> tensor<2x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x4xf32>
  %f = graph.astype %w, dtype = f32 : (tensor<3x4xf16>) -> tensor<3x4xf32>
  %r = graph.matmul %x, %f : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

/// They may be moved before.
// CHECK-LABEL: func.func @product_of_moved_narrow(
func.func @product_of_moved_narrow(%x: tensor<2x3xf64>, %w: tensor<4x3xbf16>) -> tensor<2x4xf64> {
  // CHECK-NEXT: %[[P:.*]] = graph.permute_dims %w : (tensor<4x3xbf16>) -> tensor<3x4xbf16>
  // CHECK-NEXT: %[[R:.*]] = graph.matmul %x, %[[P]] : (tensor<2x3xf64>, tensor<3x4xbf16>) -> tensor<2x4xf64>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x4xf64>
  %f = graph.astype %w, dtype = f64 : (tensor<4x3xbf16>) -> tensor<4x3xf64>
  %p = graph.permute_dims %f : (tensor<4x3xf64>) -> tensor<3x4xf64>
  %r = graph.matmul %x, %p : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  func.return %r : tensor<2x4xf64>
}

/// The product of two f16 would be an f16.
// CHECK-LABEL: func.func @no_product_of_narrow_alone(
func.func @no_product_of_narrow_alone(%x: tensor<2x3xf16>, %w: tensor<3x4xf16>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[F:.*]] = graph.astype %w, dtype = f32 : (tensor<3x4xf16>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.matmul %x, %[[F]] : (tensor<2x3xf16>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x4xf32>
  %f = graph.astype %w, dtype = f32 : (tensor<3x4xf16>) -> tensor<3x4xf32>
  %r = graph.matmul %x, %f : (tensor<2x3xf16>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @no_product_of_moved_narrow_alone(
func.func @no_product_of_moved_narrow_alone(%x: tensor<2x3xbf16>, %w: tensor<4x3xbf16>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[F:.*]] = graph.astype %w, dtype = f32 : (tensor<4x3xbf16>) -> tensor<4x3xf32>
  // CHECK-NEXT: %[[P:.*]] = graph.permute_dims %[[F]] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.matmul %x, %[[P]] : (tensor<2x3xbf16>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x4xf32>
  %f = graph.astype %w, dtype = f32 : (tensor<4x3xbf16>) -> tensor<4x3xf32>
  %p = graph.permute_dims %f : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %r = graph.matmul %x, %p : (tensor<2x3xbf16>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

/// The conversion rounds.
// CHECK-LABEL: func.func @no_product_of_rounded(
func.func @no_product_of_rounded(%x: tensor<2x3xf16>, %w: tensor<3x4xbf16>) -> tensor<2x4xf16> {
  // CHECK-NEXT: %[[F:.*]] = graph.astype %w, dtype = f16 : (tensor<3x4xbf16>) -> tensor<3x4xf16>
  // CHECK-NEXT: %[[R:.*]] = graph.matmul %x, %[[F]] : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x4xf16>
  %f = graph.astype %w, dtype = f16 : (tensor<3x4xbf16>) -> tensor<3x4xf16>
  %r = graph.matmul %x, %f : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  func.return %r : tensor<2x4xf16>
}

/// A token is multiplied by the keys before it as they are in memory.
// CHECK-LABEL: func.func @few_rows_by_rows(
func.func @few_rows_by_rows(%q: tensor<2x4x64xf32>, %k: tensor<2x100x64xf32>) -> tensor<2x4x100xf32> {
  // CHECK-NEXT: %[[Q:.*]] = graph.expand_dims %q, axis = [-2] : (tensor<2x4x64xf32>) -> tensor<2x4x1x64xf32>
  // CHECK-NEXT: %[[K:.*]] = graph.expand_dims %k, axis = [-3] : (tensor<2x100x64xf32>) -> tensor<2x1x100x64xf32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[Q]], %[[K]] : (tensor<2x4x1x64xf32>, tensor<2x1x100x64xf32>) -> tensor<2x4x100x64xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.sum %[[P]], axis = [-1] : (tensor<2x4x100x64xf32>) -> tensor<2x4x100xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x4x100xf32>
  %t = graph.permute_dims %k, axes = [0, 2, 1] : (tensor<2x100x64xf32>) -> tensor<2x64x100xf32>
  %r = graph.matmul %q, %t : (tensor<2x4x64xf32>, tensor<2x64x100xf32>) -> tensor<2x4x100xf32>
  func.return %r : tensor<2x4x100xf32>
}

/// Twice as many rows are few where a transposed copy takes long.
// CHECK-LABEL: func.func @few_rows_by_rows_of_whole_pages(
func.func @few_rows_by_rows_of_whole_pages(%q: tensor<7x64xf32>, %k: tensor<2048x64xf32>) -> tensor<7x2048xf32> {
  // CHECK: graph.sum
  // CHECK-NEXT: func.return
  %t = graph.permute_dims %k : (tensor<2048x64xf32>) -> tensor<64x2048xf32>
  %r = graph.matmul %q, %t : (tensor<7x64xf32>, tensor<64x2048xf32>) -> tensor<7x2048xf32>
  func.return %r : tensor<7x2048xf32>
}

/// More rows are worth a transposed copy.
// CHECK-LABEL: func.func @no_few_rows_by_rows(
func.func @no_few_rows_by_rows(%q: tensor<5x64xf32>, %k: tensor<100x64xf32>) -> tensor<5x100xf32> {
  // CHECK: graph.matmul
  // CHECK-NEXT: func.return
  %t = graph.permute_dims %k : (tensor<100x64xf32>) -> tensor<64x100xf32>
  %r = graph.matmul %q, %t : (tensor<5x64xf32>, tensor<64x100xf32>) -> tensor<5x100xf32>
  func.return %r : tensor<5x100xf32>
}

/// The sum of a row takes the time of 16 terms.
// CHECK-LABEL: func.func @no_few_rows_by_rows_of_few_terms(
func.func @no_few_rows_by_rows_of_few_terms(%q: tensor<3x32xf32>, %k: tensor<100x32xf32>) -> tensor<3x100xf32> {
  // CHECK: graph.matmul
  // CHECK-NEXT: func.return
  %t = graph.permute_dims %k : (tensor<100x32xf32>) -> tensor<32x100xf32>
  %r = graph.matmul %q, %t : (tensor<3x32xf32>, tensor<32x100xf32>) -> tensor<3x100xf32>
  func.return %r : tensor<3x100xf32>
}

/// Weights are transposed once.
// CHECK-LABEL: func.func @no_few_rows_by_rows_of_weights(
func.func @no_few_rows_by_rows_of_weights(%q: tensor<1x64xf32>) -> tensor<1x100xf32> {
  // CHECK: graph.matmul
  // CHECK-NEXT: func.return
  %k = graph.weight "k" : tensor<100x64xf32>
  %t = graph.permute_dims %k : (tensor<100x64xf32>) -> tensor<64x100xf32>
  %r = graph.matmul %q, %t : (tensor<1x64xf32>, tensor<64x100xf32>) -> tensor<1x100xf32>
  func.return %r : tensor<1x100xf32>
}

/// One matrix for several batches is not read once for each.
// CHECK-LABEL: func.func @no_few_rows_by_rows_for_batches(
func.func @no_few_rows_by_rows_for_batches(%q: tensor<2x1x64xf32>, %k: tensor<100x64xf32>) -> tensor<2x1x100xf32> {
  // CHECK: graph.matmul
  // CHECK-NEXT: func.return
  %t = graph.permute_dims %k : (tensor<100x64xf32>) -> tensor<64x100xf32>
  %r = graph.matmul %q, %t : (tensor<2x1x64xf32>, tensor<64x100xf32>) -> tensor<2x1x100xf32>
  func.return %r : tensor<2x1x100xf32>
}

/// Sums of f16 are formed in f32.
// CHECK-LABEL: func.func @few_rows_by_rows_of_halves(
func.func @few_rows_by_rows_of_halves(%q: tensor<1x64xf16>, %k: tensor<100x64xf16>) -> tensor<1x100xf16> {
  // CHECK-NEXT: graph.astype %q, dtype = f32
  // CHECK-NEXT: graph.astype %k, dtype = f32
  // CHECK: %[[S:.*]] = graph.sum
  // CHECK-NEXT: %[[R:.*]] = graph.astype %[[S]], dtype = f16 : (tensor<1x100xf32>) -> tensor<1x100xf16>
  // CHECK-NEXT: func.return %[[R]] : tensor<1x100xf16>
  %t = graph.permute_dims %k : (tensor<100x64xf16>) -> tensor<64x100xf16>
  %r = graph.matmul %q, %t : (tensor<1x64xf16>, tensor<64x100xf16>) -> tensor<1x100xf16>
  func.return %r : tensor<1x100xf16>
}

/// A vector has no rows, and sums of f64 or of two types are formed otherwise.
// CHECK-LABEL: func.func @no_few_rows_by_rows_of_others(
func.func @no_few_rows_by_rows_of_others(%v: tensor<64xf32>, %q: tensor<1x64xf64>, %k: tensor<100x64xf32>, %d: tensor<100x64xf64>, %h: tensor<1x64xf16>) -> (tensor<100xf32>, tensor<1x100xf64>, tensor<1x100xf32>) {
  // CHECK-COUNT-3: graph.matmul
  // CHECK-NEXT: func.return
  %t = graph.permute_dims %k : (tensor<100x64xf32>) -> tensor<64x100xf32>
  %r = graph.matmul %v, %t : (tensor<64xf32>, tensor<64x100xf32>) -> tensor<100xf32>
  %u = graph.permute_dims %d : (tensor<100x64xf64>) -> tensor<64x100xf64>
  %s = graph.matmul %q, %u : (tensor<1x64xf64>, tensor<64x100xf64>) -> tensor<1x100xf64>
  %p = graph.permute_dims %k : (tensor<100x64xf32>) -> tensor<64x100xf32>
  %m = graph.matmul %h, %p : (tensor<1x64xf16>, tensor<64x100xf32>) -> tensor<1x100xf32>
  func.return %r, %s, %m : tensor<100xf32>, tensor<1x100xf64>, tensor<1x100xf32>
}

/// The transposed copy is needed by another op.
// CHECK-LABEL: func.func @no_few_rows_by_rows_of_shared(
func.func @no_few_rows_by_rows_of_shared(%q: tensor<1x64xf32>, %k: tensor<100x64xf32>) -> (tensor<1x100xf32>, tensor<64x100xf32>) {
  // CHECK: graph.matmul
  // CHECK-NEXT: func.return
  %t = graph.permute_dims %k : (tensor<100x64xf32>) -> tensor<64x100xf32>
  %r = graph.matmul %q, %t : (tensor<1x64xf32>, tensor<64x100xf32>) -> tensor<1x100xf32>
  func.return %r, %t : tensor<1x100xf32>, tensor<64x100xf32>
}
