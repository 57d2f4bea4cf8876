// What is written on floats between dequantize and quantize becomes arithmetic on integers. The names say when a rule
// runs: first those that give weights their form, and of integers that come back, then those of signs, of products, and
// of scales.

// Weights that ops on floats dequantise.

pattern.rule "dequantised-by-scale" doc "f32(q) * s = dequantize(q, s, 0) for constant integers q and scales s, one for each index of an axis or each block, or one for all" :
  astype(%q) * %s => @dequantised-by-hand(%root, %q, %s)
  where byte-or-less(%q), at-most-float32(%root), prepared(%q), prepared(%s)

pattern.rule "dequantised-around-zeros" doc "(f32(q) - z) * s = dequantize(q, s, z) for constant integers q, scales s, and zero points z that are integers" :
  (astype(%q) - %z) * %s => @dequantised-around(%root, %q, %s, %z)
  where byte-or-less(%q), at-most-float32(%root), prepared(%q), prepared(%s)

pattern.rule "dequantised-by-one" doc "f32(q) = dequantize(q, 1, 0) for constant integers q that products read from the right" :
  astype(%q) => @dequantised-by-one(%root, %q)
  where byte-or-less(%q), at-most-float32(%root), prepared(%q), right-of-products(%root)

// Numbers of 16 bits become f32 where that leads to integers.

pattern.rule "widened-conversions" rounding doc "f32(dequantize(q, s, z)) = dequantize(q, f32(s), z) for scales of f16 or bf16, in which a product is rounded" :
  astype(dequantize(_, %s, _) as %real) => @dequantised-in-f32(%root, %real)
  where float32(%root), small-float(%s)

pattern.rule "widened-moves" doc "f(f16(dequantize(q))) = f16(dequantize(f(q))) where f moves elements of constant integers q" :
  [permute_dims, reshape, expand_dims, squeeze, strided_slice](astype(dequantize(%q, _, _) as %real) as %cast)
    => @moved-before-cast(%root, %cast, %real)
  where prepared(%q), small-float(%root), moves-scales(%root, %real)

pattern.rule "widened-products" rounding doc "x w = f16(f32(x) f32(w)) for dequantised w, as sums are formed in f32" :
  [matmul, conv2d](_, _) => @product-in-f32(%root) where small-float(%root), has-integer-form(%root)

// Integers that come back from floats as they were, though they may have been moved.

pattern.rule "returned-integers" doc "quantize(dequantize(q)) = q for one scale and zero point" :
  quantize(dequantize(%q, %s, %z), %t, %u) => %q
  where steps-come-back(%q, %s), equal-types(%q, %root), same-scale(%s, %t), same-scale(%z, %u)

pattern.rule "returned-moves" doc "quantize(f(dequantize(q))) = f(q) where f moves elements, for one scale and zero point"
  for %f in [permute_dims, reshape, expand_dims, squeeze, strided_slice, broadcast_to] :
  quantize(%f(dequantize(%q, %s, %z)), %t, %u) => %f(%q)
  where steps-come-back(%q, %s), same-scale(%s, %t), same-scale(%z, %u)

pattern.rule "returned-takes" doc "quantize(take(dequantize(q), i)) = take(q, i) for one scale and zero point"
  for %f in [take, take_along_axis, gather_nd] :
  quantize(%f(dequantize(%q, %s, %z), %indices), %t, %u) => %f(%q, %indices)
  where steps-come-back(%q, %s), same-scale(%s, %t), same-scale(%z, %u)

// Signs. Machines multiply bytes without a sign by bytes with one.

pattern.rule "signed-bytes" quantised doc "q with zero point z is q - 128 with zero point z - 128, where q comes to be a right operand" :
  dequantize(%q, _, _) => @bytes-of-other-signs(%root, %q)
  where unsigned-byte(%q), moved-from-quantize(%q), multiplied-from-right(%q)

pattern.rule "unsigned-bytes" quantised doc "q with zero point z is q + 128 with zero point z + 128, where q comes to be a left operand" :
  dequantize(%q, _, _) => @bytes-of-other-signs(%root, %q)
  where signed-byte(%q), moved-from-quantize(%q), multiplied-from-left(%q)

// Moves. What has no element of its own moves integers, which are a quarter of the size.

pattern.rule "integer-moves" doc "f(dequantize(q)) = dequantize(f(q)) where f moves elements" :
  [permute_dims, reshape, expand_dims, squeeze, strided_slice, broadcast_to](dequantize(%q, %s, %z) as %real)
    => @moved-integers(%root, %real)
  where narrow(%real), moves-scales(%root, %real) remark "kept on floats: the scales do not move along"

pattern.rule "integer-takes" doc "take(dequantize(q), i) = dequantize(take(q, i)) for one scale, or with the scales of the rows that are taken" :
  [take, take_along_axis, gather_nd](dequantize(%q, %s, %z) as %real, %indices) => @taken-integers(%root, %real)
  where takes-scales(%root, %real) remark "kept on floats: the scales do not move along"

pattern.rule "integer-pads" doc "pad(dequantize(q), 0) = dequantize(pad(q, z)) for a known zero point z" :
  pad(dequantize(%q, %s, %z) as %real) => @padded-integers(%root, %real)
  where narrow(%real), pads-with-zero(%root), one-scale(%s) remark "kept on floats: there is a scale per channel",
    positive-literal(%s), known-zero-point(%z)

pattern.rule "integer-joins" doc "concat(dequantize(q), …) = dequantize(concat(q, …)) for one scale and zero point" :
  concat(dequantize(_, %s, _) as %real, %others...) => @joined-integers(%root, %real)
  where narrow(%real), one-scale(%s), one-conversion(%root)

pattern.rule "integer-extrema" doc "max(dequantize(a), dequantize(b)) = dequantize(max(a, b)) for one positive scale and zero point" :
  [maximum, minimum](dequantize(%q, _, _) as %real, _) => @joined-integers(%root, %real)
  where plain-integers(%q), one-conversion(%root)

pattern.rule "integer-max-pool" doc "max_pool(dequantize(q)) = dequantize(max_pool(q)) for one positive scale" :
  max_pool2d(dequantize(%q, %s, %z) as %real) => @moved-integers(%root, %real)
  where plain-integers(%q), one-scale(%s) remark "kept on floats: there is a scale per channel", positive-literal(%s)

pattern.rule "integer-relu" quantised doc "quantize(relu(x), s, z) = quantize(x, s, z) where z is the least number, as it is cut off there" :
  quantize(relu(%x), %s, %z) => @with-operands(%root, %x, %s, %z)
  where positive-literal(%s), least-number(%z)

// Tables. A function of a byte has 256 values, whatever ops it is written with.

pattern.rule "integer-table" quantised doc "quantize(f(dequantize(q))) is looked up in the table of f for all bytes" :
  quantize([exp, exp2, expm1, log, log2, log1p, sqrt, rsqrt, sin, cos, tanh, erf, sigmoid, silu, gelu, negative, abs,
    relu, leaky_relu, clip](_) as %real, %t, _) => @byte-table(%root, %real)
  where single-use(%real), function-of-bytes(%real), one-scale(%t), prepared(%t)

pattern.rule "integer-table-of-two" quantised doc "quantize(f(a, b)) is looked up in a table where a and b follow from one tensor of bytes: x * sigmoid(x)" :
  quantize([multiply, divide, add, subtract, maximum, minimum, power](_, _) as %real, %t, _)
    => @byte-table(%root, %real)
  where single-use(%real), function-of-bytes(%real), one-scale(%t), prepared(%t)

// Products. The sums of integers are exact, so only the factor rounds, where every product and sum did.

pattern.rule "integer-conv2d" quantised doc "conv2d(dequantize(x), dequantize(w)) = f32(conv2d(x, w)) * scales - zero points * sums * scales"
  : conv2d(dequantize(%input, %input_scale, %input_zero_point) as %image,
    dequantize(%kernel, _, _) as %weights) => @integer-conv2d(%root, %image, %weights)
  where float32(%root), {byte-or-word(%input), byte-of-weights(%root, %kernel), one-scale(%input_scale),
    left-zero-point(%input, %input_zero_point), plain-in-groups(%root, %image, %weights),
    scales-of-outputs(%root, %weights), byte-kernel(%root), sums-fit(%root)} remark "kept on floats: {why}"

pattern.rule "integer-matmul" quantised doc "matmul(dequantize(x), dequantize(w)) = f32(matmul(x, w)) * scales - zero points * sums * scales"
  : matmul(dequantize(%left_operand, _, %left_zero_point) as %left_side,
    dequantize(%right_operand, _, _) as %right_side) => @integer-matmul(%root, %left_side, %right_side)
  where float32(%root), {byte-or-word(%left_operand), byte-of-weights(%root, %right_operand), sums-fit(%root),
    scales-of-rows(%root, %left_side), left-zero-point(%left_operand, %left_zero_point),
    scales-of-outputs(%root, %right_side)} remark "kept on floats: {why}"

pattern.rule "integer-groups" doc "conv2d(x, w) = i32(conv2d(f32(x), f32(w))) for bytes in groups of few channels, whose sums are numbers of f32"
  : conv2d(%x, %w) => @groups-on-floats(%root, %x, %w)
  where byte(%x), exact-on-floats(%root)

pattern.rule "integer-one-output" doc "conv2d(x, w) is the first output of a convolution by w and a filter of zeros, for bytes"
  : conv2d(%x, %w) => @first-of-two-outputs(%root, %x, %w) where byte(%x), byte(%w), one-output(%root)

// Weights alone. Sums are regrouped, and the scale is multiplied when a block is summed up.

pattern.rule "packed-matmul" rounding doc "matmul(x, dequantize(w)) reads constant integers w of up to 8 bits, with a scale for each column or block of one"
  : matmul(%x, dequantize(%w, %s, %z) as %kernel) => @packed-matmul(%root, %kernel)
  where at-most-float32(%root), byte-or-less(%w), prepared(%kernel) remark "kept on floats: the weights are not known at load",
    blocks-of-columns(%kernel) remark "kept on floats: the scales are not those of columns or of whole blocks of them"

pattern.rule "packed-product-in-f32" rounding doc "x w = f16(f32(x) w) for packed w, as sums are formed in f32 and kernels take rows of f32"
  : matmul_packed(%x, %w, %s, %z) => @packed-in-f32(%root, %x, %s) where small-float(%x)

// Scales. What constants and weights make is computed once, when weights are loaded. So the way from sums to bytes is a
// product, a sum and a rounding.

pattern.rule "requantised-sums" quantised doc "quantize(x * f, s, z) = requantize(x, f * (1 / s), z) for sums of integers x and constants f and s, one f for all or for each index of an axis"
  : quantize((astype(%x has dtype i32) * %f) as %real, constant %s, constant %z)
    => @requantised-sums(%root, %x, %f, %s)
  where single-user(%real), prepared(%f), not-one(%s), few-steps(%z)

pattern.rule "scaled-offset" quantised doc "quantize(x * f + b, s, z) = quantize(x * (f * (1 / s)) + (b * (1 / s) + z), 1, 0) for sums of integers x and constants f, b, s and z"
  : quantize((((astype(%x has dtype i32) as %sums) * %f as %real) + %b) as %total, constant %s, constant %z)
    => @offset-quantize(%root, %sums, %f, %b, %s, %z)
  where single-user(%real), single-user(%total), prepared(%f), prepared(%b), not-one(%s),
    few-steps(%z)

pattern.rule "scaled-by-reciprocal" quantised doc "quantize(x, s, z) = requantize(x, 1 / s, z) for constants s and z" :
  quantize(%x, constant %s, constant %z) => @requantised(%root, %x, %s)
  where not-one(%s), few-steps(%z)

pattern.rule "scaled-sums" quantised doc "(x * f + b) * r = x * (f * r) + b * r for constants f, b and r" :
  ((astype(%x has dtype i32) as %sums) * %f + %b as %real) * %r => %sums * (%f * %r) + %b * %r
  where float32(%root), prepared(%f), prepared(%b), prepared(%r), single-use(%real)

pattern.rule "scaled-products" quantised doc "(x * f) * r = x * (f * r) for constants f and r" :
  ((astype(%x has dtype i32) as %sums) * %f as %real) * %r => %sums * (%f * %r)
  where float32(%root), prepared(%f), prepared(%r), single-use(%real)
