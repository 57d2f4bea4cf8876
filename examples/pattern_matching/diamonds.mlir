// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/diamonds.mlir" rules="diamond"}' | filecheck %s --check-prefix=DIAMOND
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/diamonds.mlir" rules="elementwise-tail"}' | filecheck %s --check-prefix=TAIL

// Two ways from one convolution to a sum.
// DIAMOND-LABEL: func.func @two_ways(
// DIAMOND-NEXT: func.call @partitioned
// DIAMOND-NEXT: func.return
// TAIL-LABEL: func.func @two_ways(
// TAIL-NEXT: func.call @partitioned
// TAIL-NEXT: func.return
func.func @two_ways(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %conv = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  %left = graph.relu %conv : (tensor<1x4x6x6xf32>)
  %right = graph.leaky_relu %conv : (tensor<1x4x6x6xf32>)
  %sum = graph.add %left, %right : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>)
  func.return %sum : tensor<1x4x6x6xf32>
}

// Longer ways, over ops that no pattern names.
// DIAMOND-LABEL: func.func @long_ways(
// DIAMOND-NEXT: graph.conv2d
// TAIL-LABEL: func.func @long_ways(
// TAIL-NEXT: func.call @partitioned
// TAIL-NEXT: func.return
func.func @long_ways(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %conv = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  %a = graph.tanh %conv : (tensor<1x4x6x6xf32>)
  %b = graph.sigmoid %a : (tensor<1x4x6x6xf32>)
  %c = graph.multiply %b, %a : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>)
  %sum = graph.add %c, %conv : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>)
  func.return %sum : tensor<1x4x6x6xf32>
}

// Two convolutions of the same operands are two values.
// DIAMOND-LABEL: func.func @two_convolutions(
// DIAMOND-NEXT: graph.conv2d
// TAIL-LABEL: func.func @two_convolutions(
// TAIL-NEXT: graph.conv2d
func.func @two_convolutions(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %conv = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  %again = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  %left = graph.relu %conv : (tensor<1x4x6x6xf32>)
  %right = graph.leaky_relu %again : (tensor<1x4x6x6xf32>)
  %sum = graph.add %left, %right : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>)
  func.return %sum : tensor<1x4x6x6xf32>
}

// The maximum over a window is not elementwise.
// TAIL-LABEL: func.func @pool_on_the_way(
// TAIL-NEXT: graph.conv2d
func.func @pool_on_the_way(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %conv = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  %left = graph.max_pool2d %conv, pool_size = [3, 3], strides = [1, 1], padding = [1, 1, 1, 1] : (tensor<1x4x6x6xf32>)
  %sum = graph.add %left, %conv : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>)
  func.return %sum : tensor<1x4x6x6xf32>
}
