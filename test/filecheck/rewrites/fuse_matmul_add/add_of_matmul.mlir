// RUN: stepwell-opt %s -p fuse-matmul-add | filecheck %s

/// Two layers, two functions; the bias may be on either side. What is between them stays.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4x8xf32>, %w0: tensor<8x6xf32>, %b0: tensor<6xf32>, %w1: tensor<6x2xf32>, %b1: tensor<2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[V0:.*]] = func.call @fused_matmul_add0(%x, %w0, %b0) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.relu %[[V0]] : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: %[[V2:.*]] = func.call @fused_matmul_add2(%[[V1]], %w1, %b1) : (tensor<4x6xf32>, tensor<6x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[V2]] : tensor<4x2xf32>
  %0 = graph.matmul %x, %w0 : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = graph.add %0, %b0 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %2 = graph.relu %1 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = graph.matmul %2, %w1 : (tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
  %4 = graph.add %b1, %3 : (tensor<2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return %4 : tensor<4x2xf32>
}

/// A value used several times is one parameter.
// CHECK-LABEL: func.func @shared_parameter(
func.func @shared_parameter(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = func.call @fused_matmul_add3(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: func.return %[[V0]] : tensor<4x4xf32>
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}

/// A product with two users would be computed twice.
// CHECK-LABEL: func.func @no_two_users(
func.func @no_two_users(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %[[V0]], %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.add %[[V0]], %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: func.return %[[V1]], %[[V2]] : tensor<4x4xf32>, tensor<4x4xf32>
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = graph.add %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

/// The other operand is the product itself.
// CHECK-LABEL: func.func @no_product_plus_itself(
func.func @no_product_plus_itself(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %[[V0]], %[[V0]] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: func.return %[[V1]] : tensor<4x4xf32>
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}

/// The addition stretches the product.
// CHECK-LABEL: func.func @no_stretched_product(
func.func @no_stretched_product(%x: tensor<4x4xf32>, %b: tensor<2x1x1xf32>) -> tensor<2x4x4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %[[V0]], %b : (tensor<4x4xf32>, tensor<2x1x1xf32>) -> tensor<2x4x4xf32>
  // CHECK-NEXT: func.return %[[V1]] : tensor<2x4x4xf32>
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %b : (tensor<4x4xf32>, tensor<2x1x1xf32>) -> tensor<2x4x4xf32>
  func.return %1 : tensor<2x4x4xf32>
}

/// A name that is taken is not used again; a fused function is not fused once more.
// CHECK-LABEL: func.func private @fused_matmul_add1(
func.func private @fused_matmul_add1(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> attributes {graph.primitive} {
  // CHECK-NEXT: %[[V0:.*]] = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %[[V0]], %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: func.return %[[V1]] : tensor<4x4xf32>
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func private @fused_matmul_add0(
// CHECK-SAME: attributes {graph.primitive} {
// CHECK-NEXT: %[[V0:.*]] = graph.matmul %[[X:.*]], %[[W0:.*]] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: %[[V1:.*]] = graph.add %[[V0]], %[[B0:.*]] : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: func.return %[[V1]] : tensor<4x6xf32>

// CHECK-LABEL: func.func private @fused_matmul_add2(
// CHECK-SAME: attributes {graph.primitive} {
// CHECK-NEXT: %[[V1:.*]] = graph.matmul %[[V0:.*]], %[[W1:.*]] : (tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: %[[V2:.*]] = graph.add %[[B1:.*]], %[[V1]] : (tensor<2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: func.return %[[V2]] : tensor<4x2xf32>

// CHECK-LABEL: func.func private @fused_matmul_add3(
// CHECK-SAME: attributes {graph.primitive} {
// CHECK-NEXT: %[[V0:.*]] = graph.matmul %[[X:.*]], %[[X]] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[V1:.*]] = graph.add %[[V0]], %[[X]] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: func.return %[[V1]] : tensor<4x4xf32>
