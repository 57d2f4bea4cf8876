// RUN: stepwell-opt %s -p equalize-layers --split-input-file | filecheck %s

/// The channels of the first are 64 and 1, what reads them is 1 and 4: the factors are 8 and 1/2.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %w = graph.constant dense<[[8.0, 2.0]]> : tensor<1x2xf32>
// CHECK-NEXT: %c = graph.matmul %x, %w
// CHECK-NEXT: %b = graph.constant dense<[1.0, 6.0]> : tensor<2xf32>
// CHECK-NEXT: %a = graph.add %c, %b
// CHECK-NEXT: %r = graph.relu %a
// CHECK-NEXT: %v = graph.constant dense<[{{\[}}8.0], [2.0]]> : tensor<2x1xf32>
// CHECK-NEXT: %y = graph.matmul %r, %v
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %w = graph.constant dense<[[64.0, 1.0]]> : tensor<1x2xf32>
  %c = graph.matmul %x, %w : (tensor<4x1xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  %b = graph.constant dense<[8.0, 3.0]> : tensor<2xf32>
  %a = graph.add %c, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %r = graph.relu %a : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %v = graph.constant dense<[[1.0], [4.0]]> : tensor<2x1xf32>
  %y = graph.matmul %r, %v : (tensor<4x2xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}

// -----

/// Each channel of a depthwise convolution has weights of its own.
// CHECK-LABEL: func.func @main
// CHECK: %w = graph.constant dense<[{{\[\[}}[8.0]]], [{{\[}}[2.0]]]]> : tensor<2x1x1x1xf32>
// CHECK: %v = graph.constant dense<[{{\[\[}}[8.0]]], [{{\[}}[2.0]]]]> : tensor<2x1x1x1xf32>
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %w = graph.constant dense<[[[[64.0]]], [[[1.0]]]]> : tensor<2x1x1x1xf32>
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %p = graph.max_pool2d %c, pool_size = [2, 2], strides = [2, 2] : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %v = graph.constant dense<[[[[1.0]]], [[[4.0]]]]> : tensor<2x1x1x1xf32>
  %y = graph.conv2d %p, %v, groups = 2 : (tensor<1x2x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  func.return %y : tensor<1x2x2x2xf32>
}

// -----

/// The bounds of a clip do not scale along.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %w = graph.constant dense<[{{\[}}64.0, 1.0]]>
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %w = graph.constant dense<[[64.0, 1.0]]> : tensor<1x2xf32>
  %c = graph.matmul %x, %w : (tensor<4x1xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  %r = graph.clip %c, min = 0, max = 6 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %v = graph.constant dense<[[1.0], [4.0]]> : tensor<2x1xf32>
  %y = graph.matmul %r, %v : (tensor<4x2xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}

// -----

/// Somebody else reads the result of the first.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %w = graph.constant dense<[{{\[}}64.0, 1.0]]>
func.func @main(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x2xf32>) {
  %w = graph.constant dense<[[64.0, 1.0]]> : tensor<1x2xf32>
  %c = graph.matmul %x, %w : (tensor<4x1xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  %v = graph.constant dense<[[1.0], [4.0]]> : tensor<2x1xf32>
  %y = graph.matmul %c, %v : (tensor<4x2xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
  func.return %y, %c : tensor<4x1xf32>, tensor<4x2xf32>
}

// -----

/// Both layers have the same weights, or the bias is one for all channels.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %w = graph.constant dense<[{{\[}}64.0, 1.0], [1.0, 2.0]]>
func.func @main(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x1xf32>) {
  %w = graph.constant dense<[[64.0, 1.0], [1.0, 2.0]]> : tensor<2x2xf32>
  %c = graph.matmul %x, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %y = graph.matmul %c, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  // CHECK: graph.constant dense<[{{\[}}64.0, 1.0], [1.0, 5.0]]>
  %w2 = graph.constant dense<[[64.0, 1.0], [1.0, 5.0]]> : tensor<2x2xf32>
  %c2 = graph.matmul %x, %w2 : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %b = graph.constant dense<2.0> : tensor<1xf32>
  %a = graph.add %c2, %b : (tensor<4x2xf32>, tensor<1xf32>) -> tensor<4x2xf32>
  %v = graph.constant dense<[[1.0], [4.0]]> : tensor<2x1xf32>
  %z = graph.matmul %a, %v : (tensor<4x2xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
  func.return %y, %z : tensor<4x2xf32>, tensor<4x1xf32>
}
