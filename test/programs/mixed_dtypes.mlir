// Every class of element types in one program: small floats, signed and unsigned integers, booleans, and casts between them.
func.func @main(%h: tensor<4x6xf16>, %b: tensor<4x6xbf16>, %q: tensor<4x6xi8>, %u: tensor<6xui8>, %n: tensor<4x6xi32>, %d: tensor<2x3xf64>) -> (tensor<4x6xf16>, tensor<4x6xbf16>, tensor<4x4xi32>, tensor<4x6xui8>, tensor<4x6xi1>, tensor<4x6xi32>, tensor<2x3xf64>, tensor<4x6xi8>, tensor<3x4xui64>, tensor<4xbf16>) {
  %h32 = graph.astype %h, dtype = f32 : (tensor<4x6xf16>) -> tensor<4x6xf32>
  %b32 = graph.astype %b, dtype = f32 : (tensor<4x6xbf16>) -> tensor<4x6xf32>
  %product = graph.multiply %h32, %b32 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %half = graph.astype %product, dtype = f16 : (tensor<4x6xf32>) -> tensor<4x6xf16>
  %act = graph.silu %half : (tensor<4x6xf16>) -> tensor<4x6xf16>
  %bsum = graph.add %b, %b : (tensor<4x6xbf16>, tensor<4x6xbf16>) -> tensor<4x6xbf16>
  %qt = graph.permute_dims %q : (tensor<4x6xi8>) -> tensor<6x4xi8>
  %wide = graph.matmul %q, %qt, out_dtype = i32 : (tensor<4x6xi8>, tensor<6x4xi8>) -> tensor<4x4xi32>
  %qu = graph.astype %q, dtype = ui8 : (tensor<4x6xi8>) -> tensor<4x6xui8>
  %usum = graph.add %qu, %u : (tensor<4x6xui8>, tensor<6xui8>) -> tensor<4x6xui8>
  %less = graph.less %qu, %u : (tensor<4x6xui8>, tensor<6xui8>) -> tensor<4x6xi1>
  %positive = graph.greater %b32, %h32 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %flags = graph.logical_xor %less, %positive : (tensor<4x6xi1>, tensor<4x6xi1>) -> tensor<4x6xi1>
  %saturated = graph.astype %product, dtype = i32 : (tensor<4x6xf32>) -> tensor<4x6xi32>
  %seven = graph.full 7 : tensor<i32>
  %mod = graph.mod %n, %seven : (tensor<4x6xi32>, tensor<i32>) -> tensor<4x6xi32>
  %chosen = graph.where %flags, %saturated, %mod : (tensor<4x6xi1>, tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
  %root = graph.sqrt %d : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %power = graph.power %root, %d : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %shift = graph.full 2 : tensor<i8>
  %shifted = graph.right_shift %q, %shift : (tensor<4x6xi8>, tensor<i8>) -> tensor<4x6xi8>
  %flat = graph.reshape %u, shape = [3, 2] : (tensor<6xui8>) -> tensor<3x2xui8>
  %long = graph.astype %flat, dtype = ui64 : (tensor<3x2xui8>) -> tensor<3x2xui64>
  %longer = graph.pad %long, pad_width = [0, 0, 1, 1], value = 9 : (tensor<3x2xui64>) -> tensor<3x4xui64>
  %bmean = graph.mean %b, axis = [1] : (tensor<4x6xbf16>) -> tensor<4xbf16>
  func.return %act, %bsum, %wide, %usum, %flags, %chosen, %power, %shifted, %longer, %bmean : tensor<4x6xf16>, tensor<4x6xbf16>, tensor<4x4xi32>, tensor<4x6xui8>, tensor<4x6xi1>, tensor<4x6xi32>, tensor<2x3xf64>, tensor<4x6xi8>, tensor<3x4xui64>, tensor<4xbf16>
}
