// RUN: stepwell-opt %s -p plan-fusion | filecheck %s

/// A map of an op that computes rows and of its moved elements: the moves join the map, and the rows stay apart.
// CHECK-LABEL: func.func @softmax_around_injective_into_elementwise(
// CHECK-NEXT: graph.softmax {{.*}}{graph.group = 0 : i64}
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 1 : i64, graph.group_reason = "fuse-injective-into-elementwise"}
// CHECK-NEXT: graph.add {{.*}}{graph.group = 1 : i64}
func.func @softmax_around_injective_into_elementwise(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.softmax %x, axis = 1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.permute_dims %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %2 : tensor<4x4xf32>
}

/// Sums and their moved elements fit the rows after the map.
// CHECK-LABEL: func.func @reduction_around_injective_into_reduction_of_sum(
// CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-reduction-with-elementwise-epilogue"}
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-reduction-with-elementwise-epilogue"}
// CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-reductions-of-the-same-rows"}
// CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64}
func.func @reduction_around_injective_into_reduction_of_sum(%x: tensor<4x4xf32>) -> tensor<4x1xf32> {
  %0 = graph.sum %x, axis = [1], keepdims = true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %1 = graph.permute_dims %0 : (tensor<4x1xf32>) -> tensor<1x4xf32>
  %2 = graph.add %0, %1 : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %3 = graph.sum %2, axis = [1], keepdims = true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  func.return %3 : tensor<4x1xf32>
}

/// A stretched tensor, a map of it and their sum are computed in a reduction.
// CHECK-LABEL: func.func @broadcast_around_elementwise_into_softmax_of_sum(
// CHECK-NEXT: graph.broadcast_to {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
// CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
// CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-reduction"}
// CHECK-NEXT: graph.softmax {{.*}}{graph.group = 0 : i64}
func.func @broadcast_around_elementwise_into_softmax_of_sum(%x: tensor<4x4xf32>) -> tensor<2x4x4xf32> {
  %0 = graph.broadcast_to %x, shape = [2, 4, 4] : (tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %1 = graph.relu %0 : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %2 = graph.add %0, %1 : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %3 = graph.softmax %2, axis = 2 : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  func.return %3 : tensor<2x4x4xf32>
}

/// The sums do not fit the rows of the reduction, so the map, which they read, stays apart too.
// CHECK-LABEL: func.func @elementwise_around_sums_of_a_slice_into_reduction(
// CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64}
// CHECK-NEXT: graph.sum {{.*}}{graph.group = 1 : i64}
// CHECK-NEXT: graph.where {{.*}}{graph.group = 2 : i64, graph.group_reason = "fuse-injective-into-reduction"}
// CHECK-NEXT: graph.sum {{.*}}{graph.group = 2 : i64}
func.func @elementwise_around_sums_of_a_slice_into_reduction(%x: tensor<4x4xf32>, %c: tensor<2x4x4xi1>) -> tensor<2x4xf32> {
  %0 = graph.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.sum %0, axis = [1], keepdims = true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %2 = graph.where %c, %0, %1 : (tensor<2x4x4xi1>, tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<2x4x4xf32>
  %3 = graph.sum %2, axis = [1] : (tensor<2x4x4xf32>) -> tensor<2x4xf32>
  func.return %3 : tensor<2x4xf32>
}

/// Sums stay apart from what moves elements, and so does the map that both read.
// CHECK-LABEL: func.func @elementwise_beside_sums(
// CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64}
// CHECK-NEXT: graph.sum {{.*}}{graph.group = 1 : i64}
// CHECK-NEXT: graph.concat {{.*}}{graph.group = 2 : i64}
func.func @elementwise_beside_sums(%x: tensor<4x4xf32>) -> tensor<4x5xf32> {
  %0 = graph.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.sum %0, axis = [1], keepdims = true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %2 = graph.concat %0, %1, axis = 1 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  func.return %2 : tensor<4x5xf32>
}

/// A stretched tensor and a map of it are computed where they are moved.
// CHECK-LABEL: func.func @broadcast_around_elementwise_into_injective(
// CHECK-NEXT: graph.broadcast_to {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
// CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
// CHECK-NEXT: graph.concat {{.*}}{graph.group = 0 : i64}
func.func @broadcast_around_elementwise_into_injective(%x: tensor<4x4xf32>) -> tensor<4x4x4xf32> {
  %0 = graph.broadcast_to %x, shape = [2, 4, 4] : (tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %1 = graph.relu %0 : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %2 = graph.concat %0, %1, axis = 0 : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<4x4x4xf32>
  func.return %2 : tensor<4x4x4xf32>
}

/// A map that is stretched is computed where it is stretched.
// CHECK-LABEL: func.func @elementwise_into_broadcast(
// CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
// CHECK-NEXT: graph.broadcast_to {{.*}}{graph.group = 0 : i64}
func.func @elementwise_into_broadcast(%x: tensor<4x4xf32>) -> tensor<2x4x4xf32> {
  %0 = graph.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.broadcast_to %0, shape = [2, 4, 4] : (tensor<4x4xf32>) -> tensor<2x4x4xf32>
  func.return %1 : tensor<2x4x4xf32>
}

/// Moved elements are read where they are stretched.
// CHECK-LABEL: func.func @injective_into_broadcast(
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-elementwise"}
// CHECK-NEXT: graph.broadcast_to {{.*}}{graph.group = 0 : i64}
func.func @injective_into_broadcast(%x: tensor<4x4xf32>) -> tensor<2x4x4xf32> {
  %0 = graph.permute_dims %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.broadcast_to %0, shape = [2, 4, 4] : (tensor<4x4xf32>) -> tensor<2x4x4xf32>
  func.return %1 : tensor<2x4x4xf32>
}

/// Elements that a contraction reads are moved once.
// CHECK-LABEL: func.func @injective_into_product(
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64}
// CHECK-NEXT: graph.matmul {{.*}}{graph.group = 1 : i64}
func.func @injective_into_product(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.permute_dims %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}

/// A map reads moved elements that are moved again, at both places.
// CHECK-LABEL: func.func @injective_around_injective_into_elementwise(
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-elementwise"}
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-elementwise"}
// CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64}
func.func @injective_around_injective_into_elementwise(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.permute_dims %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.permute_dims %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %2 : tensor<4x4xf32>
}

/// What is stretched for reductions side by side is computed in their function.
// CHECK-LABEL: func.func @broadcast_before_siblings(
// CHECK-NEXT: graph.broadcast_to {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-siblings"}
// CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-sibling-reductions"}
// CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64}
func.func @broadcast_before_siblings(%b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.broadcast_to %b, shape = [4, 4] : (tensor<4xf32>) -> tensor<4x4xf32>
  %1 = graph.sum %0, axis = [1] : (tensor<4x4xf32>) -> tensor<4xf32>
  %2 = graph.max %0, axis = [1] : (tensor<4x4xf32>) -> tensor<4xf32>
  func.return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

/// The sums do not fit what they are stretched to, so the moves that they read stay apart too.
// CHECK-LABEL: func.func @injective_around_sums_of_a_slice(
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64}
// CHECK-NEXT: graph.sum {{.*}}{graph.group = 1 : i64}
// CHECK-NEXT: graph.where {{.*}}{graph.group = 2 : i64}
func.func @injective_around_sums_of_a_slice(%x: tensor<4x4xf32>, %c: tensor<2x4x4xi1>) -> tensor<2x4x4xf32> {
  %0 = graph.permute_dims %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.sum %0, axis = [1], keepdims = true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %2 = graph.where %c, %0, %1 : (tensor<2x4x4xi1>, tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<2x4x4xf32>
  func.return %2 : tensor<2x4x4xf32>
}

/// A moved operand that both products of attention take joins them.
// CHECK-LABEL: func.func @moves_used_by_both_products(
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-moves-into-rows-of-products"}
// CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-product-into-its-rows"}
// CHECK-NEXT: graph.softmax {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-rows-into-product"}
// CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64}
func.func @moves_used_by_both_products(%q: tensor<4x4xf32>, %k: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.permute_dims %k : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %q, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.softmax %1, axis = 1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.matmul %2, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

/// A map, what stretches it, and their sum are computed in a reduction.
// CHECK-LABEL: func.func @elementwise_around_broadcast_into_softmax_of_sum(
// CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
// CHECK-NEXT: graph.broadcast_to {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
// CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-reduction"}
// CHECK-NEXT: graph.softmax {{.*}}{graph.group = 0 : i64}
func.func @elementwise_around_broadcast_into_softmax_of_sum(%x: tensor<4x4xf32>) -> tensor<2x4x4xf32> {
  %0 = graph.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.broadcast_to %0, shape = [2, 4, 4] : (tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %2 = graph.add %0, %1 : (tensor<4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %3 = graph.softmax %2, axis = 2 : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  func.return %3 : tensor<2x4x4xf32>
}

/// Two moves of the result of attention are joined, and then attention joins them.
// CHECK-LABEL: func.func @two_moves_of_attention(
// CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-product-into-its-rows"}
// CHECK-NEXT: graph.softmax {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-rows-into-product"}
// CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-rows-of-products-into-moves"}
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
// CHECK-NEXT: graph.reshape {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
// CHECK-NEXT: graph.concat {{.*}}{graph.group = 0 : i64}
func.func @two_moves_of_attention(%q: tensor<4x4xf32>, %k: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %0 = graph.matmul %q, %k : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.matmul %1, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.permute_dims %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = graph.reshape %2, shape = [4, 4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = graph.concat %3, %4, axis = 0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  func.return %5 : tensor<8x4xf32>
}

/// Rows of one element are the same rows before and after they are summed up.
// CHECK-LABEL: func.func @softmax_of_rows_of_one_element(
// CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-reductions-of-the-same-rows"}
// CHECK-NEXT: graph.softmax {{.*}}{graph.group = 0 : i64}
func.func @softmax_of_rows_of_one_element(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = graph.sum %x, axis = [1], keepdims = true : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %1 : tensor<4x1xf32>
}

/// Reductions side by side do not compute the reduction of other rows that they read.
// CHECK-LABEL: func.func @reduction_before_siblings(
// CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64}
// CHECK-NEXT: graph.sum {{.*}}{graph.group = 1 : i64, graph.group_reason = "fuse-sibling-reductions"}
// CHECK-NEXT: graph.min {{.*}}{graph.group = 1 : i64}
func.func @reduction_before_siblings(%x: tensor<4x5xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = graph.max %x, axis = [0] : (tensor<4x5xf32>) -> tensor<5xf32>
  %1 = graph.sum %0, axis = [0] : (tensor<5xf32>) -> tensor<f32>
  %2 = graph.min %0, axis = [0] : (tensor<5xf32>) -> tensor<f32>
  func.return %1, %2 : tensor<f32>, tensor<f32>
}

/// Moved elements of a map, and the map, are read by another map.
// CHECK-LABEL: func.func @elementwise_around_injective_into_elementwise(
// CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
// CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64}
func.func @elementwise_around_injective_into_elementwise(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.permute_dims %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %2 : tensor<4x4xf32>
}

/// Rows that have been moved are transposed as they lie in memory.
// CHECK-LABEL: func.func @no_transpose_of_moved_rows(
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
// CHECK-NEXT: graph.reshape {{.*}}{graph.group = 0 : i64}
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 1 : i64}
func.func @no_transpose_of_moved_rows(%x: tensor<4x2x4x4xf32>) -> tensor<4x8x4xf32> {
  %0 = graph.permute_dims %x, axes = [0, 2, 1, 3] : (tensor<4x2x4x4xf32>) -> tensor<4x4x2x4xf32>
  %1 = graph.reshape %0, shape = [4, 4, 8] : (tensor<4x4x2x4xf32>) -> tensor<4x4x8xf32>
  %2 = graph.permute_dims %1, axes = [0, 2, 1] : (tensor<4x4x8xf32>) -> tensor<4x8x4xf32>
  func.return %2 : tensor<4x8x4xf32>
}

/// Where the innermost axis stays, moves are one loop.
// CHECK-LABEL: func.func @moves_of_whole_rows(
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
// CHECK-NEXT: graph.reshape {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64}
func.func @moves_of_whole_rows(%x: tensor<4x2x4x4xf32>) -> tensor<4x4x8xf32> {
  %0 = graph.permute_dims %x, axes = [0, 2, 1, 3] : (tensor<4x2x4x4xf32>) -> tensor<4x4x2x4xf32>
  %1 = graph.reshape %0, shape = [4, 4, 8] : (tensor<4x4x2x4xf32>) -> tensor<4x4x8xf32>
  %2 = graph.permute_dims %1, axes = [1, 0, 2] : (tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  func.return %2 : tensor<4x4x8xf32>
}

/// After two transposes, rows may be whole again.
// CHECK-LABEL: func.func @transposes_there_and_back(
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
// CHECK-NEXT: graph.reshape {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
// CHECK-NEXT: graph.permute_dims {{.*}}{graph.group = 0 : i64}
func.func @transposes_there_and_back(%x: tensor<4x8x4xf32>) -> tensor<4x4x2x4xf32> {
  %0 = graph.permute_dims %x, axes = [0, 2, 1] : (tensor<4x8x4xf32>) -> tensor<4x4x8xf32>
  %1 = graph.reshape %0, shape = [4, 4, 4, 2] : (tensor<4x4x8xf32>) -> tensor<4x4x4x2xf32>
  %2 = graph.permute_dims %1, axes = [0, 2, 3, 1] : (tensor<4x4x4x2xf32>) -> tensor<4x4x2x4xf32>
  func.return %2 : tensor<4x4x2x4xf32>
}
