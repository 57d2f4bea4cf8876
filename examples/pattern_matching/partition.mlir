// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/device.mlir" function-name="device" attributes="target=device"}' | filecheck %s --check-prefix=DEVICE
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/vector_unit.mlir" function-name="unit" attributes="target=vector_unit"}' | filecheck %s --check-prefix=UNIT

// Two layers, one of them in another layout and with two images. What each machine takes is a table.

// DEVICE-LABEL: func.func @main(
// DEVICE-NEXT: %[[A:.*]] = func.call @device0(%x, %w, %b)
// DEVICE-NEXT: graph.conv2d %y, %w, data_layout = "NHWC"
// DEVICE-NEXT: graph.relu
// DEVICE-LABEL: func.func private @device0(
// DEVICE-SAME: attributes {composite = "one_layer", target = "device", graph.partitioned_from = "conv2d_bias_add_relu_"}

// UNIT-LABEL: func.func @main(
// UNIT-NEXT: %[[A:.*]] = graph.conv2d %x, %w
// UNIT-NEXT: func.call @unit0(%[[A]], %b)
// UNIT-NEXT: %[[B:.*]] = graph.conv2d %y, %w
// UNIT-NEXT: func.call @unit1(%[[B]])
// UNIT-LABEL: func.func private @unit0(
// UNIT-SAME: composite = "biased_activation"
// UNIT-LABEL: func.func private @unit1(
// UNIT-SAME: composite = "activation"
func.func @main(%x: tensor<1x3x8x8xf32>, %y: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x3xf32>, %b: tensor<3xf32>) -> (tensor<1x3x6x6xf32>, tensor<2x6x6x3xf32>) {
  %product = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<3x3x3x3xf32>)
  %biased = graph.bias_add %product, %b : (tensor<1x3x6x6xf32>, tensor<3xf32>)
  %first = graph.relu %biased : (tensor<1x3x6x6xf32>)
  %other = graph.conv2d %y, %w, data_layout = "NHWC" : (tensor<2x8x8x3xf32>, tensor<3x3x3x3xf32>)
  %second = graph.relu %other : (tensor<2x6x6x3xf32>)
  func.return %first, %second : tensor<1x3x6x6xf32>, tensor<2x6x6x3xf32>
}
