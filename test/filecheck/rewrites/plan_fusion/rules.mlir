// RUN: stepwell-opt %s -p plan-fusion | filecheck %s
// RUN: stepwell-opt %s -p plan-fusion,plan-fusion | filecheck %s

/// A product, its bias and what maps the sum.
// CHECK-LABEL: @fuse_elementwise_epilogue(
func.func @fuse_elementwise_epilogue(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: graph.matmul %x, %w {graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-epilogue"}
  // CHECK-NEXT: graph.add %{{.*}}, %b {graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-epilogue"}
  // CHECK-NEXT: graph.relu %{{.*}} {graph.group = 0 : i64} :
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = graph.add %0, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %2 = graph.relu %1 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %2 : tensor<4x6xf32>
}

/// The product has a user outside.
// CHECK-LABEL: @no_elementwise_epilogue_of_two_users(
func.func @no_elementwise_epilogue_of_two_users(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: graph.matmul %x, %x {graph.group = 0 : i64} :
  // CHECK-NEXT: graph.add %{{.*}}, %b {graph.group = 1 : i64} :
  // CHECK-NEXT: graph.add %{{.*}}, %x {graph.group = 2 : i64} :
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = graph.add %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

/// All users of the product meet again in the group.
// CHECK-LABEL: @diamond_after_a_product(
func.func @diamond_after_a_product(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-epilogue"}
  // CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-epilogue"}
  // CHECK-NEXT: graph.tanh {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-epilogue"}
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64} :
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.tanh %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.add %1, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

/// The sum stretches the product.
// CHECK-LABEL: @no_stretched_product(
func.func @no_stretched_product(%x: tensor<4x4xf32>, %b: tensor<2x1x1xf32>) -> tensor<2x4x4xf32> {
  // CHECK-NEXT: graph.matmul %x, %x {graph.group = 0 : i64} :
  // CHECK-NEXT: graph.add %{{.*}}, %b {graph.group = 1 : i64} :
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %b : (tensor<4x4xf32>, tensor<2x1x1xf32>) -> tensor<2x4x4xf32>
  func.return %1 : tensor<2x4x4xf32>
}

/// A convolution, a batch normalisation that has become arithmetic, and a relu.
// CHECK-LABEL: @convolution_scale_shift_relu(
func.func @convolution_scale_shift_relu(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %s: tensor<4x1x1xf32>, %o: tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  // CHECK-NEXT: graph.conv2d {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-epilogue"}
  // CHECK-NEXT: graph.multiply {{.*}}{graph.group = 0 : i64
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64
  // CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64} :
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = graph.multiply %0, %s : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %2 = graph.add %1, %o : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %3 = graph.relu %2 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return %3 : tensor<1x4x6x6xf32>
}

/// A sum, and arithmetic with one element per row.
// CHECK-LABEL: @fuse_reduction_with_elementwise_epilogue(
func.func @fuse_reduction_with_elementwise_epilogue(%x: tensor<4x8xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-reduction-with-elementwise-epilogue"}
  // CHECK-NEXT: graph.divide {{.*}}{graph.group = 0 : i64} :
  %0 = graph.sum %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = graph.divide %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// What takes the sum goes over a tensor that has nothing to do with the rows.
// CHECK-LABEL: @no_reduction_with_other_rows(
func.func @no_reduction_with_other_rows(%x: tensor<4x8xf32>, %y: tensor<5x4xf32>) -> tensor<5x4xf32> {
  // CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.divide {{.*}}{graph.group = 1 : i64} :
  %0 = graph.sum %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = graph.divide %y, %0 : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  func.return %1 : tensor<5x4xf32>
}

/// Maps of maps, a diamond among them.
// CHECK-LABEL: @fuse_elementwise_into_elementwise(
func.func @fuse_elementwise_into_elementwise(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
  // CHECK-NEXT: graph.tanh {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
  // CHECK-NEXT: graph.multiply {{.*}}{graph.group = 0 : i64} :
  %0 = graph.add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = graph.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.multiply %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %2 : tensor<4x8xf32>
}

/// The first map is a result too.
// CHECK-LABEL: @no_elementwise_used_outside(
func.func @no_elementwise_used_outside(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: graph.exp {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.tanh {{.*}}{graph.group = 1 : i64} :
  %0 = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

/// What moves elements computes them.
// CHECK-LABEL: @fuse_into_injective(
func.func @fuse_into_injective(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: graph.negative {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64} :
  %0 = graph.negative %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.permute_dims %0 : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return %1 : tensor<8x4xf32>
}

/// A map of moved elements. With the permutation it is injective itself, so the reshape is read by something injective.
// CHECK-LABEL: @fuse_injective_into_elementwise(
func.func @fuse_injective_into_elementwise(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-elementwise"}
  // CHECK-NEXT: graph.reshape {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64} :
  %0 = graph.permute_dims %x : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = graph.reshape %x, shape = [8, 4] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = graph.add %0, %1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %2 : tensor<8x4xf32>
}

/// Whole rows are moved, then mapped and transposed, which reads them faster from memory.
// CHECK-LABEL: @no_transpose_of_mapped_rows(
func.func @no_transpose_of_mapped_rows(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.relu {{.*}}{graph.group = 1 : i64, graph.group_reason = "fuse-into-injective"}
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 1 : i64} :
  %0 = graph.permute_dims %x, axes = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = graph.relu %0 : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %2 = graph.permute_dims %1, axes = [2, 0, 1] : (tensor<3x2x4xf32>) -> tensor<4x3x2xf32>
  func.return %2 : tensor<4x3x2xf32>
}

/// Where the rows are mapped to integers, or stay rows, all is one loop.
// CHECK-LABEL: @transpose_of_rows_that_become_integers(
func.func @transpose_of_rows_that_become_integers(%x: tensor<2x3x4xf32>) -> (tensor<4x3x2xi32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
  // CHECK-NEXT: graph.astype {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 1 : i64, graph.group_reason = "fuse-into-injective"}
  // CHECK-NEXT: graph.relu {{.*}}{graph.group = 1 : i64, graph.group_reason = "fuse-into-injective"}
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 1 : i64} :
  %0 = graph.permute_dims %x, axes = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = graph.astype %0, dtype = i32 : (tensor<3x2x4xf32>) -> tensor<3x2x4xi32>
  %2 = graph.permute_dims %1, axes = [2, 0, 1] : (tensor<3x2x4xi32>) -> tensor<4x3x2xi32>
  %3 = graph.permute_dims %x, axes = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %4 = graph.relu %3 : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %5 = graph.permute_dims %4, axes = [1, 0, 2] : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
  func.return %2, %5 : tensor<4x3x2xi32>, tensor<2x3x4xf32>
}

/// A product is written before its elements are moved.
// CHECK-LABEL: @no_injective_after_a_product(
func.func @no_injective_after_a_product(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 1 : i64} :
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.permute_dims %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}

/// A prologue.
// CHECK-LABEL: @fuse_injective_into_reduction(
func.func @fuse_injective_into_reduction(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.square {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-reduction"}
  // CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64} :
  %0 = graph.square %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.sum %0, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// A contraction reads each element many times, and a window reads some several times.
// CHECK-LABEL: @no_prologue_of_a_contraction(
func.func @no_prologue_of_a_contraction(%x: tensor<4x4xf32>, %i: tensor<1x1x4x4xf32>) -> (tensor<4x4xf32>, tensor<1x1x2x2xf32>) {
  // CHECK-NEXT: graph.exp {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.exp {{.*}}{graph.group = 2 : i64} :
  // CHECK-NEXT: graph.max_pool2d {{.*}}{graph.group = 3 : i64} :
  %0 = graph.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.exp %i : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %3 = graph.max_pool2d %2, pool_size = [2, 2], strides = [2, 2] : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
  func.return %1, %3 : tensor<4x4xf32>, tensor<1x1x2x2xf32>
}

/// A softmax op by op, of a product of two tensors.
// CHECK-LABEL: @fuse_reductions_of_the_same_rows(
func.func @fuse_reductions_of_the_same_rows(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK-NEXT: graph.multiply {{.*}}{graph.group = 0 : i64,
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64,
  // CHECK-NEXT: graph.subtract {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-reduction-with-elementwise-epilogue"}
  // CHECK-NEXT: graph.exp {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-reductions-of-the-same-rows"}
  // CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64,
  // CHECK-NEXT: graph.divide {{.*}}{graph.group = 0 : i64} :
  %x = graph.multiply %a, %b : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = graph.max %x, axis = [1], keepdims = true : (tensor<8x16xf32>) -> tensor<8x1xf32>
  %d = graph.subtract %x, %m : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %e = graph.exp %d : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = graph.sum %e, axis = [1], keepdims = true : (tensor<8x16xf32>) -> tensor<8x1xf32>
  %y = graph.divide %e, %s : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  func.return %y : tensor<8x16xf32>
}

/// A layer normalisation op by op.
// CHECK-LABEL: @layer_norm_op_by_op(
func.func @layer_norm_op_by_op(%x: tensor<8x16xf32>, %gamma: tensor<16xf32>, %beta: tensor<16xf32>) -> tensor<8x16xf32> {
  // CHECK-NEXT: graph.full 1.0e-05 : tensor<f32>
  // CHECK-COUNT-8: {graph.group = 0 : i64, graph.group_reason = "
  // CHECK: graph.add %{{.*}}, %beta {graph.group = 0 : i64} :
  %eps = graph.full 1.0e-5 : tensor<f32>
  %m = graph.mean %x, axis = [1], keepdims = true : (tensor<8x16xf32>) -> tensor<8x1xf32>
  %d = graph.subtract %x, %m : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %q = graph.square %d : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %v = graph.mean %q, axis = [1], keepdims = true : (tensor<8x16xf32>) -> tensor<8x1xf32>
  %w = graph.add %v, %eps : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %r = graph.sqrt %w : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %n = graph.divide %d, %r : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %g = graph.multiply %n, %gamma : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %y = graph.add %g, %beta : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  func.return %y : tensor<8x16xf32>
}

/// The second sum goes along the other axis.
// CHECK-LABEL: @no_reductions_of_other_rows(
func.func @no_reductions_of_other_rows(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64,
  // CHECK-NEXT: graph.subtract {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.sum {{.*}}{graph.group = 1 : i64,
  // CHECK-NEXT: graph.divide {{.*}}{graph.group = 1 : i64} :
  %m = graph.max %x, axis = [1], keepdims = true : (tensor<8x16xf32>) -> tensor<8x1xf32>
  %d = graph.subtract %x, %m : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %s = graph.sum %d, axis = [0], keepdims = true : (tensor<8x16xf32>) -> tensor<1x16xf32>
  %y = graph.divide %d, %s : (tensor<8x16xf32>, tensor<1x16xf32>) -> tensor<8x16xf32>
  func.return %y : tensor<8x16xf32>
}

/// Three reductions of one tensor, whose maps follow. A map of two of them joins the last.
// CHECK-LABEL: @fuse_sibling_reductions(
func.func @fuse_sibling_reductions(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x1xf32>) {
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-reduction-with-elementwise-epilogue"}
  // CHECK-NEXT: graph.abs {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-sibling-reductions"}
  // CHECK-NEXT: graph.min {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-reduction-with-elementwise-epilogue"}
  // CHECK-NEXT: graph.subtract {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-sibling-reductions"}
  // CHECK-NEXT: graph.mean {{.*}}{graph.group = 0 : i64} :
  %0 = graph.max %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = graph.abs %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.min %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %3 = graph.subtract %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.mean %x, axis = [1], keepdims = true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %1, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4x1xf32>
}

/// What only the two of them read is not stored.
// CHECK-LABEL: @fuse_injective_into_siblings(
func.func @fuse_injective_into_siblings(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: graph.exp {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-siblings"}
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-sibling-reductions"}
  // CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64} :
  %0 = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.max %0, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = graph.sum %0, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

/// The exponentials are a result too.
// CHECK-LABEL: @no_prologue_used_elsewhere(
func.func @no_prologue_used_elsewhere(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: graph.exp {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 1 : i64, graph.group_reason = "fuse-sibling-reductions"}
  // CHECK-NEXT: graph.sum {{.*}}{graph.group = 1 : i64} :
  %0 = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.max %0, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = graph.sum %0, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %1, %2, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>
}

/// Other axes, and another tensor.
// CHECK-LABEL: @no_siblings_of_other_rows(
func.func @no_siblings_of_other_rows(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.min {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.min {{.*}}{graph.group = 2 : i64} :
  %0 = graph.max %x, axis = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %1 = graph.min %x, axis = [0] : (tensor<8x8xf32>) -> tensor<8xf32>
  %2 = graph.min %y, axis = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  func.return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

/// A mean and a variance: the second reduction needs the result of the first.
// CHECK-LABEL: @no_siblings_that_need_each_other(
func.func @no_siblings_that_need_each_other(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  // CHECK-NEXT: graph.mean {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.subtract {{.*}}{graph.group = 1 : i64,
  // CHECK-NEXT: graph.square {{.*}}{graph.group = 1 : i64,
  // CHECK-NEXT: graph.mean {{.*}}{graph.group = 1 : i64} :
  %0 = graph.mean %x, axis = [1], keepdims = true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = graph.subtract %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = graph.square %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.mean %2, axis = [1], keepdims = true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %0, %3 : tensor<4x1xf32>, tensor<4x1xf32>
}

/// The epilogue of the second needs a product of the first.
// CHECK-LABEL: @no_siblings_around_a_product(
func.func @no_siblings_around_a_product(%x: tensor<4x8xf32>, %w: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.min {{.*}}{graph.group = 2 : i64,
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 2 : i64} :
  %0 = graph.max %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = graph.matmul %0, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  %2 = graph.min %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %3 = graph.add %2, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

/// A call between them needs the first, and calls keep their order.
// CHECK-LABEL: @no_siblings_around_a_call(
func.func @no_siblings_around_a_call(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: func.call
  // CHECK-NEXT: graph.min {{.*}}{graph.group = 1 : i64} :
  %0 = graph.max %x, axis = [1] : (tensor<4x4xf32>) -> tensor<4xf32>
  %1 = func.call @fused(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.min %x, axis = [1] : (tensor<4x4xf32>) -> tensor<4xf32>
  func.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

/// Two pairs of siblings, each of which would need the other: one of them joins.
// CHECK-LABEL: @no_pairs_that_need_each_other(
func.func @no_pairs_that_need_each_other(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-sibling-reductions"}
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.min {{.*}}{graph.group = 0 : i64,
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.min {{.*}}{graph.group = 2 : i64,
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 2 : i64} :
  %0 = graph.max %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = graph.max %y, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = graph.min %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %3 = graph.add %2, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.min %y, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %5 = graph.add %4, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

/// Calls of fused functions, constants and ops that may fail are in no group; what is in branches has groups of its own.
// CHECK-LABEL: @no_opaque_ops(
func.func @no_opaque_ops(%x: tensor<4xf32>, %i: tensor<4xi32>, %c: i1) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: graph.constant dense<
  // CHECK-NEXT: graph.exp {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: func.call @fused(
  // CHECK-NEXT: graph.multiply {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.divide %i, %i : (tensor
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: graph.relu {{.*}}{graph.group = 2 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
  // CHECK-NEXT: graph.exp {{.*}}{graph.group = 2 : i64} :
  %k = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @fused(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.multiply %1, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.divide %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %4 = scf.if %c -> (tensor<4xf32>) {
    %5 = graph.relu %2 : (tensor<4xf32>) -> tensor<4xf32>
    %6 = graph.exp %5 : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %6 : tensor<4xf32>
  } else {
    scf.yield %2 : tensor<4xf32>
  }
  func.return %4, %3 : tensor<4xf32>, tensor<4xi32>
}

/// What is a group already is not looked into.
// CHECK-LABEL: func.func private @fused(
func.func private @fused(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  // CHECK-NEXT: graph.relu %x : (tensor
  // CHECK-NEXT: graph.exp %{{.*}} : (tensor
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// A plan that is there is kept.
// CHECK-LABEL: @plan_of_its_own(
func.func @plan_of_its_own(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.relu %x {graph.group = 7 : i64} :
  // CHECK-NEXT: graph.exp %{{.*}} : (tensor
  %0 = graph.relu %x {graph.group = 7 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// Attention is one group, with what moves its operands and its result.
// CHECK-LABEL: @fuse_moves_into_rows_of_products(
func.func @fuse_moves_into_rows_of_products(%q: tensor<8x2x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>) -> tensor<8x2x4xf32> {
  // CHECK-NEXT: graph.permute_dims %q, axes = [1, 0, 2] {graph.group = 0 : i64, graph.group_reason = "fuse-moves-into-rows-of-products"}
  // CHECK-NEXT: graph.permute_dims %k, axes = [0, 2, 1] {graph.group = 0 : i64, graph.group_reason = "fuse-moves-into-rows-of-products"}
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-product-into-its-rows"}
  // CHECK-NEXT: graph.softmax {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-rows-into-product"}
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-rows-of-products-into-moves"}
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64} :
  %0 = graph.permute_dims %q, axes = [1, 0, 2] : (tensor<8x2x4xf32>) -> tensor<2x8x4xf32>
  %1 = graph.permute_dims %k, axes = [0, 2, 1] : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
  %2 = graph.matmul %0, %1 : (tensor<2x8x4xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
  %3 = graph.softmax %2, axis = 2 : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %4 = graph.matmul %3, %v : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %5 = graph.permute_dims %4, axes = [1, 0, 2] : (tensor<2x8x4xf32>) -> tensor<8x2x4xf32>
  func.return %5 : tensor<8x2x4xf32>
}

/// A softmax by hand, with a mask by a choice.
// CHECK-LABEL: @fuse_rows_into_product(
func.func @fuse_rows_into_product(%q: tensor<8x4xf32>, %k: tensor<4x6xf32>, %v: tensor<6x4xf32>, %c: tensor<8x6xi1>, %l: tensor<f32>) -> tensor<8x4xf32> {
  // CHECK-COUNT-7: {graph.group = 0 : i64, graph.group_reason = "fuse-
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64} :
  %s = graph.matmul %q, %k : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %b = graph.where %c, %s, %l : (tensor<8x6xi1>, tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
  %m = graph.max %b, axis = [1], keepdims = true : (tensor<8x6xf32>) -> tensor<8x1xf32>
  %d = graph.subtract %b, %m : (tensor<8x6xf32>, tensor<8x1xf32>) -> tensor<8x6xf32>
  %e = graph.exp %d : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %t = graph.sum %e, axis = [1], keepdims = true : (tensor<8x6xf32>) -> tensor<8x1xf32>
  %p = graph.divide %e, %t : (tensor<8x6xf32>, tensor<8x1xf32>) -> tensor<8x6xf32>
  %y = graph.matmul %p, %v : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

/// The scores have another user.
// CHECK-LABEL: @no_attention_whose_scores_are_shown(
func.func @no_attention_whose_scores_are_shown(%q: tensor<8x4xf32>, %k: tensor<4x6xf32>, %v: tensor<6x4xf32>) -> (tensor<8x4xf32>, tensor<8x6xf32>) {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.softmax {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 2 : i64} :
  %0 = graph.matmul %q, %k : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = graph.matmul %1, %v : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  func.return %2, %0 : tensor<8x4xf32>, tensor<8x6xf32>
}

/// The weights have another user.
// CHECK-LABEL: @no_attention_whose_weights_are_shown(
func.func @no_attention_whose_weights_are_shown(%q: tensor<8x4xf32>, %k: tensor<4x6xf32>, %v: tensor<6x4xf32>) -> (tensor<8x4xf32>, tensor<8x6xf32>) {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.softmax {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 2 : i64} :
  %0 = graph.matmul %q, %k : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = graph.matmul %1, %v : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  func.return %2, %1 : tensor<8x4xf32>, tensor<8x6xf32>
}

/// A row of the result needs all rows of the scores.
// CHECK-LABEL: @no_softmax_of_columns(
func.func @no_softmax_of_columns(%q: tensor<8x4xf32>, %k: tensor<4x6xf32>, %v: tensor<6x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.softmax {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 2 : i64} :
  %0 = graph.matmul %q, %k : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = graph.softmax %0, axis = 0 : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = graph.matmul %1, %v : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  func.return %2 : tensor<8x4xf32>
}

/// The weights are the right operand.
// CHECK-LABEL: @no_weights_on_the_right(
func.func @no_weights_on_the_right(%q: tensor<8x4xf32>, %k: tensor<4x6xf32>, %v: tensor<4x8xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.softmax {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 2 : i64} :
  %0 = graph.matmul %q, %k : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = graph.matmul %v, %1 : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  func.return %2 : tensor<4x6xf32>
}

/// One query has one row, which is no work to share.
// CHECK-LABEL: @no_attention_of_one_query(
func.func @no_attention_of_one_query(%q: tensor<2x1x4xf32>, %k: tensor<2x4x6xf32>, %v: tensor<2x6x4xf32>) -> tensor<2x1x4xf32> {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.softmax {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 2 : i64} :
  %0 = graph.matmul %q, %k : (tensor<2x1x4xf32>, tensor<2x4x6xf32>) -> tensor<2x1x6xf32>
  %1 = graph.softmax %0, axis = 2 : (tensor<2x1x6xf32>) -> tensor<2x1x6xf32>
  %2 = graph.matmul %1, %v : (tensor<2x1x6xf32>, tensor<2x6x4xf32>) -> tensor<2x1x4xf32>
  func.return %2 : tensor<2x1x4xf32>
}

/// A move of an operand that something else needs stays outside.
// CHECK-LABEL: @no_move_of_two_users(
func.func @no_move_of_two_users(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> (tensor<8x4xf32>, tensor<4x6xf32>) {
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 1 : i64, graph.group_reason = "fuse-product-into-its-rows"}
  %0 = graph.permute_dims %k, axes = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %2 = graph.softmax %1, axis = 1 : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %3 = graph.matmul %2, %v : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  func.return %3, %0 : tensor<8x4xf32>, tensor<4x6xf32>
}

/// A product, a softmax of its rows, and another product.
// CHECK-LABEL: @fuse_product_into_its_rows(
func.func @fuse_product_into_its_rows(%q: tensor<8x4xf32>, %k: tensor<4x6xf32>, %v: tensor<6x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-product-into-its-rows"}
  // CHECK-NEXT: graph.softmax {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-rows-into-product"}
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64} :
  %0 = graph.matmul %q, %k : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = graph.matmul %1, %v : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  func.return %2 : tensor<8x4xf32>
}

/// The result of attention is moved.
// CHECK-LABEL: @fuse_rows_of_products_into_moves(
func.func @fuse_rows_of_products_into_moves(%q: tensor<2x8x4xf32>, %k: tensor<2x4x6xf32>, %v: tensor<2x6x4xf32>) -> tensor<8x8xf32> {
  // CHECK-COUNT-3: {graph.group = 0 : i64, graph.group_reason = "fuse-
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
  // CHECK-NEXT: graph.reshape {{.*}}{graph.group = 0 : i64} :
  %0 = graph.matmul %q, %k : (tensor<2x8x4xf32>, tensor<2x4x6xf32>) -> tensor<2x8x6xf32>
  %1 = graph.softmax %0, axis = 2 : (tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %2 = graph.matmul %1, %v : (tensor<2x8x6xf32>, tensor<2x6x4xf32>) -> tensor<2x8x4xf32>
  %3 = graph.permute_dims %2, axes = [1, 0, 2] : (tensor<2x8x4xf32>) -> tensor<8x2x4xf32>
  %4 = graph.reshape %3, shape = [8, 8] : (tensor<8x2x4xf32>) -> tensor<8x8xf32>
  func.return %4 : tensor<8x8xf32>
}

/// A product whose result is moved, but that takes no rows of another one.
// CHECK-LABEL: @no_rows_of_products_into_moves(
func.func @no_rows_of_products_into_moves(%q: tensor<8x4xf32>, %k: tensor<4x6xf32>) -> tensor<6x8xf32> {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 1 : i64} :
  %0 = graph.matmul %q, %k : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = graph.permute_dims %0, axes = [1, 0] : (tensor<8x6xf32>) -> tensor<6x8xf32>
  func.return %1 : tensor<6x8xf32>
}

/// What is added to a product is computed where it is added.
// CHECK-LABEL: @fuse_elementwise_into_epilogue(
func.func @fuse_elementwise_into_epilogue(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %z: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: graph.relu %z {graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-epilogue"}
  // CHECK-NEXT: graph.matmul %x, %w {graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-epilogue"}
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64} :
  %0 = graph.relu %z : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %2 = graph.add %1, %0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %2 : tensor<4x6xf32>
}

/// A map of stretched tensors, read by two maps after the product.
// CHECK-LABEL: @stretched_into_epilogue(
func.func @stretched_into_epilogue(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %c: tensor<4x1xf32>, %r: tensor<1x6xf32>) -> tensor<4x6xf32> {
  // CHECK-COUNT-5: {graph.group = 0 : i64
  %0 = graph.add %c, %r : (tensor<4x1xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>
  %1 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %2 = graph.add %1, %0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = graph.negative %0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = graph.maximum %2, %3 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %4 : tensor<4x6xf32>
}

/// The sum stretches the row, which has fewer elements.
// CHECK-LABEL: @no_row_into_epilogue(
func.func @no_row_into_epilogue(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %z: tensor<1x6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: graph.relu %z {graph.group = 0 : i64} :
  // CHECK-NEXT: graph.matmul %x, %w {graph.group = 1 : i64,
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 1 : i64} :
  %0 = graph.relu %z : (tensor<1x6xf32>) -> tensor<1x6xf32>
  %1 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %2 = graph.add %1, %0 : (tensor<4x6xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>
  func.return %2 : tensor<4x6xf32>
}

/// Bytes lie between two products whose results are added. The later one reads them.
// CHECK-LABEL: @bytes_between_products(
func.func @bytes_between_products(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<4x4xf32> {
  // CHECK-NEXT: graph.matmul %x, %w {graph.group = 0 : i64,
  // CHECK-NEXT: graph.quantize {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.dequantize {{.*}}{graph.group = 1 : i64, graph.group_reason = "fuse-elementwise-into-epilogue"}
  // CHECK-NEXT: graph.matmul %w, %x {graph.group = 1 : i64,
  // CHECK-NEXT: graph.quantize {{.*}}{graph.group = 1 : i64,
  // CHECK-NEXT: graph.dequantize {{.*}}{graph.group = 1 : i64,
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 1 : i64} :
  %0 = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.quantize %0, %s, %z : (tensor<4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<4x4xi8>
  %2 = graph.dequantize %1, %s, %z : (tensor<4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<4x4xf32>
  %3 = graph.matmul %w, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = graph.quantize %3, %s, %z : (tensor<4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<4x4xi8>
  %5 = graph.dequantize %4, %s, %z : (tensor<4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<4x4xf32>
  %6 = graph.add %2, %5 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %6 : tensor<4x4xf32>
}

/// A contraction would compute the map again for every term.
// CHECK-LABEL: @no_map_into_product(
func.func @no_map_into_product(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: graph.relu %x {graph.group = 0 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 1 : i64,
  // CHECK-NEXT: graph.abs {{.*}}{graph.group = 1 : i64} :
  %0 = graph.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.abs %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %2 : tensor<4x4xf32>
}

/// The epilogue would read the columns of what is transposed.
// CHECK-LABEL: @no_moves_into_epilogue(
func.func @no_moves_into_epilogue(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: graph.permute_dims %z {graph.group = 0 : i64} :
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 1 : i64,
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 1 : i64} :
  %0 = graph.permute_dims %z : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.add %1, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %2 : tensor<4x4xf32>
}

/// The rows are summed up beside the product that takes them, as where bytes have a zero point.
// CHECK-LABEL: @rows_into_product_with_their_sums(
func.func @rows_into_product_with_their_sums(%q: tensor<8x4xf32>, %k: tensor<4x6xf32>, %v: tensor<6x4xf32>) -> tensor<8x4xf32> {
  // CHECK-COUNT-8: {graph.group = 0 : i64
  %0 = graph.matmul %q, %k : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = graph.sum %1, axis = [1], keepdims = true : (tensor<8x6xf32>) -> tensor<8x1xf32>
  %3 = graph.square %2 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %4 = graph.matmul %1, %v : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %5 = graph.subtract %4, %3 : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %6 = graph.max %1, axis = [1], keepdims = true : (tensor<8x6xf32>) -> tensor<8x1xf32>
  %7 = graph.add %5, %6 : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %7 : tensor<8x4xf32>
}

/// The columns are summed up.
// CHECK-LABEL: @no_rows_into_product_with_sums_of_columns(
func.func @no_rows_into_product_with_sums_of_columns(%q: tensor<8x4xf32>, %k: tensor<4x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64
  // CHECK-NEXT: graph.softmax {{.*}}{graph.group = [[ROWS:[0-9]]] : i64
  // CHECK-NEXT: graph.sum {{.*}}{graph.group = [[SUMS:[1-9]]] : i64
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = [[PRODUCT:[2-9]]] : i64
  // CHECK-NEXT: graph.subtract {{.*}}{graph.group = [[PRODUCT]] : i64
  %0 = graph.matmul %q, %k : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = graph.sum %1, axis = [0], keepdims = true : (tensor<8x8xf32>) -> tensor<1x8xf32>
  %3 = graph.matmul %1, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = graph.subtract %3, %2 : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  func.return %4 : tensor<8x8xf32>
}
