// RUN: stepwell-opt %s -p apply-fusion-plan | filecheck %s
// RUN: stepwell-opt %s -p apply-fusion-plan,inline-primitive | filecheck %s --check-prefix=INLINED

/// All results of the last op that something uses are results of the function, the others are not.
// CHECK-LABEL: func.func @results_of_a_split(
// INLINED-LABEL: func.func @results_of_a_split(
func.func @results_of_a_split(%x: tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: %a, %c = func.call @fused_relu_split0(%x) : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  // CHECK-NEXT: func.return %c, %a
  // INLINED-NEXT: %[[R:.*]] = graph.relu %x
  // INLINED-NEXT: %a, %b, %c = graph.split %[[R]], sections = 3
  %r = graph.relu %x {graph.group = 0 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  %a, %b, %c = graph.split %r, sections = 3 {graph.group = 0 : i64} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  func.return %c, %a : tensor<2xf32>, tensor<2xf32>
}

/// The same ops with other results that are used are another function.
// CHECK-LABEL: func.func @another_result_of_a_split(
func.func @another_result_of_a_split(%x: tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: %b = func.call @fused_relu_split1(%x) : (tensor<6xf32>) -> tensor<2xf32>
  // CHECK-NEXT: graph.concat
  // CHECK-NEXT: %z = func.call @fused_relu_split2(%y) : (tensor<6xf32>) -> tensor<2xf32>
  %r = graph.relu %x {graph.group = 0 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  %a, %b, %c = graph.split %r, sections = 3 {graph.group = 0 : i64} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %y = graph.concat %b, %b, %b : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
  %s = graph.relu %y {graph.group = 1 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  %d, %e, %z = graph.split %s, sections = 3 {graph.group = 1 : i64} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  func.return %b, %z : tensor<2xf32>, tensor<2xf32>
}

/// Nothing uses the last op, so all of its results count.
// CHECK-LABEL: func.func @no_result_is_used(
func.func @no_result_is_used(%x: tensor<6xf32>) {
  // CHECK-NEXT: func.call @fused_relu_split3(%x) : (tensor<6xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %r = graph.relu %x {graph.group = 0 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  %a, %b = graph.split %r, sections = 2 {graph.group = 0 : i64} : (tensor<6xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  func.return
}
