// RUN: stepwell-opt %s -p zero-subnormals | filecheck %s
// RUN: stepwell-opt %s -p zero-subnormals,zero-subnormals | filecheck %s

/// Addends, in either place; other users keep the constant as it is.
// CHECK-LABEL: func.func @addends(
func.func @addends(%x: tensor<2xf32>, %y: tensor<1x2x3xf64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<1x2x3xf64>) {
  // CHECK-NEXT: %[[B:.*]] = graph.constant dense<[-1.0, 1.0e-40]>
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[-1.0, 0.0]>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[C]], %x
  // CHECK-NEXT: graph.multiply %[[S]], %[[B]]
  %b = graph.constant dense<[-1.0, 1.0e-40]> : tensor<2xf32>
  %0 = graph.add %b, %x : (tensor<2xf32>, tensor<2xf32>)
  %1 = graph.multiply %0, %b : (tensor<2xf32>, tensor<2xf32>)
  // CHECK-NEXT: graph.constant dense<[-1.0e-40, 1.0e-310]> : tensor<2xf64>
  // CHECK-NEXT: %[[D:.*]] = graph.constant dense<[-1.0e-40, 0.0]> : tensor<2xf64>
  // CHECK-NEXT: graph.bias_add %y, %[[D]]
  %d = graph.constant dense<[-1.0e-40, 1.0e-310]> : tensor<2xf64>
  %2 = graph.bias_add %y, %d : (tensor<1x2x3xf64>, tensor<2xf64>)
  func.return %1, %b, %2 : tensor<2xf32>, tensor<2xf32>, tensor<1x2x3xf64>
}

/// Filters of convolutions in groups: those of a side-car are cleaned by what runs when the program is loaded.
// CHECK-LABEL: func.func @filters(
func.func @filters(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x6x6xf32> {
  // CHECK-NEXT: %[[W:.*]] = graph.weight "w"
  // CHECK-NEXT: %[[A:.*]] = graph.abs %[[W]]
  // CHECK-NEXT: %[[T:.*]] = graph.full 1.1754944e-38 : tensor<f32>
  // CHECK-NEXT: %[[Z:.*]] = graph.full 0.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.less %[[A]], %[[T]]
  // CHECK-NEXT: %[[F:.*]] = graph.where %[[L]], %[[Z]], %[[W]]
  // CHECK-NEXT: graph.conv2d %x, %[[F]]
  %w = graph.weight "w" : tensor<2x1x3x3xf32>
  %0 = graph.conv2d %x, %w, groups = 2 : (tensor<1x2x8x8xf32>, tensor<2x1x3x3xf32>)
  func.return %0 : tensor<1x2x6x6xf32>
}

// CHECK-LABEL: func.func @no_subnormals(
func.func @no_subnormals(%x: tensor<2xf32>, %h: tensor<2xf16>, %i: tensor<1x2x8x8xf32>) -> (tensor<2xf32>, tensor<2xf16>, tensor<1x2x6x6xf32>) {
  // CHECK-NEXT: %[[B:.*]] = graph.constant dense<[0.0, 1.1754944e-38]>
  // CHECK-NEXT: graph.add %x, %[[B]]
  // CHECK-NEXT: %[[H:.*]] = graph.constant {{.*}} : tensor<2xf16>
  // CHECK-NEXT: graph.add %h, %[[H]]
  // CHECK-NEXT: %[[W:.*]] = graph.weight "w"
  // CHECK-NEXT: graph.conv2d %i, %[[W]]
  %b = graph.constant dense<[0.0, 1.1754944e-38]> : tensor<2xf32>
  %0 = graph.add %x, %b : (tensor<2xf32>, tensor<2xf32>)
  %c = graph.constant dense<[0.0, 1.0e-6]> : tensor<2xf16>
  %1 = graph.add %h, %c : (tensor<2xf16>, tensor<2xf16>)
  %w = graph.weight "w" : tensor<2x2x3x3xf32>
  %2 = graph.conv2d %i, %w : (tensor<1x2x8x8xf32>, tensor<2x2x3x3xf32>)
  func.return %0, %1, %2 : tensor<2xf32>, tensor<2xf16>, tensor<1x2x6x6xf32>
}
