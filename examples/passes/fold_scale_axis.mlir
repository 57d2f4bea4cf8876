// RUN: stepwell-opt %s -p 'fold-scale-axis{direction=fwd}' | filecheck %s --check-prefix=FORWARD
// RUN: stepwell-opt %s -p 'fold-scale-axis{direction=bwd}' | filecheck %s --check-prefix=BACKWARD

// A factor per channel before a convolution, and one after another.

// FORWARD-LABEL: func.func @before(
// FORWARD: graph.relu %x
// FORWARD: graph.multiply %w
// FORWARD: graph.conv2d
// FORWARD-NEXT: func.return
func.func @before(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %s = graph.full 2.0 : tensor<3x1x1xf32>
  %scaled = graph.multiply %x, %s : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>)
  %active = graph.relu %scaled : (tensor<1x3x4x4xf32>)
  %y = graph.conv2d %active, %w : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>)
  func.return %y : tensor<1x2x4x4xf32>
}

// BACKWARD-LABEL: func.func @after(
// BACKWARD: graph.multiply %w
// BACKWARD: graph.conv2d
// BACKWARD: graph.add
// BACKWARD-NEXT: graph.relu
// BACKWARD-NEXT: func.return
func.func @after(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x1x1xf32>, %b: tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %s = graph.full 2.0 : tensor<2x1x1xf32>
  %y = graph.conv2d %x, %w : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>)
  %biased = graph.add %y, %b : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>)
  %active = graph.relu %biased : (tensor<1x2x4x4xf32>)
  %scaled = graph.multiply %active, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>)
  func.return %scaled : tensor<1x2x4x4xf32>
}
