// RUN: stepwell-opt %s -p plan-fusion | filecheck %s
// RUN: stepwell-opt %s -p plan-fusion,plan-fusion | filecheck %s
// RUN: stepwell-opt %s -p plan-fusion --remarks 2>&1 | filecheck %s --check-prefix=REMARK

/// A gated unit: all results of the split meet in the product.
// CHECK-LABEL: @split_into_maps(
func.func @split_into_maps(%x: tensor<4x16xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: graph.split {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-elementwise"}
  // CHECK-NEXT: graph.sigmoid {{.*}}{graph.group = 0 : i64, graph.group_reason =
  // CHECK-NEXT: graph.multiply {{.*}}{graph.group = 0 : i64} :
  %a, %b = graph.split %x, sections = 2, axis = 1 : (tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %s = graph.sigmoid %b : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = graph.multiply %a, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

/// The split computes each element where it reads it. All of its results are used outside.
// CHECK-LABEL: @maps_into_split(
func.func @maps_into_split(%x: tensor<4x16xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: graph.relu {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-into-injective"}
  // CHECK-NEXT: graph.split {{.*}} {graph.group = 0 : i64} :
  %r = graph.relu %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %a, %b, %c = graph.split %r, indices = [4, 8], axis = 1 : (tensor<4x16xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf32>)
  func.return %a, %b, %c : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf32>
}

/// Maps, a split and a sum of whole rows of what becomes of its results.
// CHECK-LABEL: @split_into_reduction(
func.func @split_into_reduction(%x: tensor<4x16xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.tanh {{.*}}{graph.group = 0 : i64
  // CHECK-NEXT: graph.split {{.*}}{graph.group = 0 : i64
  // CHECK-NEXT: graph.multiply {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-reduction"}
  // CHECK-NEXT: graph.sum {{.*}}{graph.group = 0 : i64} :
  %t = graph.tanh %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %a, %b = graph.split %t, sections = 2, axis = 1 : (tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %p = graph.multiply %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = graph.sum %p, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

/// A split is between the map and where its results meet.
// CHECK-LABEL: @split_between(
func.func @split_between(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-COUNT-4: {graph.group = 0 : i64
  %r = graph.relu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %a, %b = graph.split %r, sections = 2 : (tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %c = graph.concat %b, %a, axis = 0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = graph.add %c, %r : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

/// What only sibling reductions read is computed in their function, a split as well.
// CHECK-LABEL: @split_into_siblings(
func.func @split_into_siblings(%x: tensor<4x16xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: graph.split {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-elementwise"}
  // CHECK-NEXT: graph.add {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-injective-into-siblings"}
  // CHECK-NEXT: graph.max {{.*}}{graph.group = 0 : i64, graph.group_reason = "fuse-sibling-reductions"}
  // CHECK-NEXT: graph.min {{.*}}{graph.group = 0 : i64} :
  %a, %b = graph.split %x, sections = 2, axis = 1 : (tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %s = graph.add %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = graph.max %s, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = graph.min %s, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

/// One result is used outside, so the split stays apart from what takes both.
// CHECK-LABEL: @no_split_with_a_result_outside(
// REMARK: remark: 'graph.multiply': not fused: 'graph.split' has 2 users outside the group
func.func @no_split_with_a_result_outside(%x: tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: graph.split {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.multiply {{.*}}{graph.group = 1 : i64} :
  // CHECK-NEXT: graph.negative {{.*}}{graph.group = 2 : i64} :
  %a, %b = graph.split %x, sections = 2, axis = 1 : (tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %y = graph.multiply %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = graph.negative %b : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

/// A product is computed as a whole, before anything moves its elements.
// CHECK-LABEL: @no_product_into_split(
// REMARK: remark: 'graph.split': not fused: 'graph.split' moves elements of %m, which is computed as a whole
func.func @no_product_into_split(%x: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: graph.matmul {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.split {{.*}}{graph.group = 1 : i64} :
  %m = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a, %b = graph.split %m, sections = 2 : (tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  func.return %a, %b : tensor<2x4xf32>, tensor<2x4xf32>
}

/// Nothing is known about which elements the largest ones are.
// CHECK-LABEL: @no_top_k(
// REMARK: remark: 'graph.top_k': not fused: 'graph.top_k' is in no group: nothing is known about which elements it needs
func.func @no_top_k(%x: tensor<4x16xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>) {
  // CHECK-NEXT: %r = graph.relu {{.*}}{graph.group = 0 : i64} :
  // CHECK-NEXT: graph.top_k %r, k = 2 : (
  %r = graph.relu %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v, %i = graph.top_k %r, k = 2 : (tensor<4x16xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  func.return %v, %i : tensor<4x2xf32>, tensor<4x2xi64>
}
