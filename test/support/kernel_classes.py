"""Small programs, one per class of kernel, whose machine code and results are tested on every target."""

from __future__ import annotations

KERNELS: dict[str, str] = {
    "gemm": """
func.func @main(%x: tensor<96x64xf32>, %w: tensor<64x128xf32>) -> tensor<96x128xf32> {
  %y = graph.matmul %x, %w : (tensor<96x64xf32>, tensor<64x128xf32>) -> tensor<96x128xf32>
  func.return %y : tensor<96x128xf32>
}""",
    "gemm_odd": """
func.func @main(%x: tensor<101x67xf32>, %w: tensor<67x101xf32>) -> tensor<101x101xf32> {
  %y = graph.matmul %x, %w : (tensor<101x67xf32>, tensor<67x101xf32>) -> tensor<101x101xf32>
  func.return %y : tensor<101x101xf32>
}""",
    "skinny": """
func.func @main(%x: tensor<4x256xf32>) -> tensor<4x768xf32> {
  %w = graph.weight "w" : tensor<256x768xf32>
  %y = graph.matmul %x, %w : (tensor<4x256xf32>, tensor<256x768xf32>) -> tensor<4x768xf32>
  func.return %y : tensor<4x768xf32>
}""",
    "packed": """
func.func @main(%x: tensor<3x100xf32>) -> tensor<3x70xf32> {
  %w = graph.weight "w" : tensor<70x64xui8>
  %s = graph.weight "s" : tensor<70x4xf32>
  %z = graph.full 8 : tensor<ui8>
  %y = graph.matmul_packed %x, %w, %s, %z
      : (tensor<3x100xf32>, tensor<70x64xui8>, tensor<70x4xf32>, tensor<ui8>) -> tensor<3x70xf32>
  func.return %y : tensor<3x70xf32>
}""",
    "conv1x1": """
func.func @main(%x: tensor<1x14x14x64xf32>) -> tensor<1x14x14x96xf32> {
  %w = graph.weight "w" : tensor<1x1x64x96xf32>
  %y = graph.conv2d %x, %w, data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x14x14x64xf32>, tensor<1x1x64x96xf32>) -> tensor<1x14x14x96xf32>
  func.return %y : tensor<1x14x14x96xf32>
}""",
    "conv3x3_strided": """
func.func @main(%x: tensor<1x14x14x32xf32>) -> tensor<1x7x7x64xf32> {
  %w = graph.weight "w" : tensor<3x3x32x64xf32>
  %y = graph.conv2d %x, %w, strides = [2, 2], padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x14x14x32xf32>, tensor<3x3x32x64xf32>) -> tensor<1x7x7x64xf32>
  func.return %y : tensor<1x7x7x64xf32>
}""",
    "conv3x3": """
func.func @main(%x: tensor<1x15x13x48xf32>) -> tensor<1x15x13x72xf32> {
  %w = graph.weight "w" : tensor<3x3x48x72xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x15x13x48xf32>, tensor<3x3x48x72xf32>) -> tensor<1x15x13x72xf32>
  func.return %y : tensor<1x15x13x72xf32>
}""",
    "depthwise": """
func.func @main(%x: tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32> {
  %w = graph.weight "w" : tensor<3x3x1x64xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 64, data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x28x28x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x28x28x64xf32>
  func.return %y : tensor<1x28x28x64xf32>
}""",
    "grouped": """
func.func @main(%x: tensor<1x14x14x96xf32>) -> tensor<1x14x14x96xf32> {
  %w = graph.weight "w" : tensor<3x3x32x96xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 3, data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x14x14x96xf32>, tensor<3x3x32x96xf32>) -> tensor<1x14x14x96xf32>
  func.return %y : tensor<1x14x14x96xf32>
}""",
    "grouped_small": """
func.func @main(%x: tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32> {
  %w = graph.weight "w" : tensor<3x3x4x64xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 16, data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x14x14x64xf32>, tensor<3x3x4x64xf32>) -> tensor<1x14x14x64xf32>
  func.return %y : tensor<1x14x14x64xf32>
}""",
    "int8": """
func.func @main(%x: tensor<64x128xi8>) -> tensor<64x128xi32> {
  %w = graph.weight "w" : tensor<128x128xi8>
  %y = graph.matmul %x, %w, out_dtype = i32 : (tensor<64x128xi8>, tensor<128x128xi8>) -> tensor<64x128xi32>
  func.return %y : tensor<64x128xi32>
}""",
    "softmax": """
func.func @main(%x: tensor<32x200xf32>) -> tensor<32x200xf32> {
  %y = graph.softmax %x, axis = -1 : (tensor<32x200xf32>) -> tensor<32x200xf32>
  func.return %y : tensor<32x200xf32>
}""",
    "layer_norm": """
func.func @main(%x: tensor<32x200xf32>, %g: tensor<200xf32>, %b: tensor<200xf32>) -> tensor<32x200xf32> {
  %y = graph.layer_norm %x, %g, %b, axes = [-1] : (tensor<32x200xf32>, tensor<200xf32>, tensor<200xf32>)
      -> tensor<32x200xf32>
  func.return %y : tensor<32x200xf32>
}""",
    "gelu": """
func.func @main(%x: tensor<10000xf32>) -> tensor<10000xf32> {
  %y = graph.gelu %x : (tensor<10000xf32>) -> tensor<10000xf32>
  func.return %y : tensor<10000xf32>
}""",
    "transpose": """
func.func @main(%x: tensor<200x136xf32>) -> tensor<136x200xf32> {
  %y = graph.permute_dims %x, axes = [1, 0] : (tensor<200x136xf32>) -> tensor<136x200xf32>
  func.return %y : tensor<136x200xf32>
}""",
}
"""By name: a program with weights `w` where it has any."""
