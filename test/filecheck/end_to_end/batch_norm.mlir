// A convolution, a batch norm and a relu are one kernel from level 2 on. Strict numerics keep the norm (AUDIT E1).
// RUN: stepwell-opt %s -p graph-optimize | filecheck %s
// RUN: stepwell-opt %s -p graph-optimize-strict | filecheck %s --check-prefix STRICT

// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    %0, %1 = func.call @prepare_0()
// CHECK-NEXT:    %y = func.call @fused_conv2d_add_relu0(%x, %1, %0)
// CHECK-NEXT:    func.return %y
// CHECK-LABEL: func.func private @prepare_0()
// CHECK-LABEL: func.func private @fused_conv2d_add_relu0(
// STRICT: graph.batch_norm
func.func @main(%x: tensor<1x28x28x16xf32>) -> tensor<1x28x28x32xf32> {
  %w = graph.weight "w" : tensor<3x3x16x32xf32>
  %gamma = graph.weight "gamma" : tensor<32xf32>
  %beta = graph.weight "beta" : tensor<32xf32>
  %mean = graph.weight "mean" : tensor<32xf32>
  %var = graph.weight "var" : tensor<32xf32>
  %c = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"
    : (tensor<1x28x28x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x28x28x32xf32>
  %n, %m, %v = graph.batch_norm %c, %gamma, %beta, %mean, %var, axis = 3
    : (tensor<1x28x28x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
    -> (tensor<1x28x28x32xf32>, tensor<32xf32>, tensor<32xf32>)
  %y = graph.relu %n : (tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
  func.return %y : tensor<1x28x28x32xf32>
}
