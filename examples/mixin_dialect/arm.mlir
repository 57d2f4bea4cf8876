func.func @main(%joints: tensor<6x4xf32>, %turn: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %p = quaternion.pack %joints : tensor<6x4xf32> -> tensor<6x!quaternion.quat>
  %q = quaternion.pack %turn : tensor<6x4xf32> -> tensor<6x!quaternion.quat>
  %turned = quaternion.times %p, %q : tensor<6x!quaternion.quat>
  %numbers = quaternion.unpack %turned : tensor<6x!quaternion.quat> -> tensor<6x4xf32>
  %arm = quaternion.chain %numbers : (tensor<6x4xf32>) -> tensor<6x4xf32>
  func.return %arm : tensor<6x4xf32>
}
