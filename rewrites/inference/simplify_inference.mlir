// Normalisations become arithmetic that later passes fold and fuse. Each right side computes the same real function. It
// has as many ops as the formula has, and none of them is a normalisation.

pattern.rule "batch-norm-to-arithmetic" rounding doc "batch_norm(x) = x * scale + shift, where scale and shift are vectors"
  : batch_norm(%x, %gamma, %beta, %mean, %var) => @batch-norm-arithmetic(%root)
  where first-result-only(%root) remark "kept: another result of batch_norm is used"

pattern.rule "layer-norm-to-arithmetic" rounding doc "layer_norm(x) = (x - mean) / sqrt(var + epsilon) * gamma + beta" :
  layer_norm(%x, %gamma, %beta) => @layer-norm-arithmetic(%root)

pattern.rule "instance-norm-to-arithmetic" rounding doc "instance_norm is layer_norm over the spatial axes" :
  instance_norm(%x, %gamma, %beta) => @instance-norm-arithmetic(%root)

pattern.rule "group-norm-to-arithmetic" rounding doc "group_norm is instance_norm of channels reshaped into groups" :
  group_norm(%x, %gamma, %beta) => @group-norm-arithmetic(%root) where splits-into-groups(%root)
    remark "kept: a reshape into groups needs known channels, no size 0, and one size ? at most"

pattern.rule "l2-normalize-to-arithmetic" rounding doc "l2_normalize(x) = x / sqrt(max(sum of x * x, epsilon))" :
  l2_normalize(%x) => @l2-normalize-arithmetic(%root)

pattern.rule "rms-norm-to-arithmetic" rounding doc "rms_norm(x) = x / sqrt(mean of x * x + epsilon) * gamma" :
  rms_norm(%x, %gamma) => @rms-norm-arithmetic(%root)

pattern.rule "dropout-to-operand" doc "dropout drops nothing in inference" : dropout(%x) => @dropout-identity(%root)
  where first-result-only(%root) remark "kept: the mask of dropout is used"

// Quantised tensors. The arithmetic is that of the op, rounding by rounding.

pattern.rule "quantize-to-arithmetic" doc "quantize(x) = astype(round(x / scale) + zero_point)" :
  quantize(%x, %scale, %zero) => @quantize-arithmetic(%root) where spreads-scales(%root)
    remark "kept: blocks of a scale need known extents"

pattern.rule "dequantize-to-arithmetic" doc "dequantize(q) = (q - zero_point) * scale" :
  dequantize(%q, %scale, %zero) => @dequantize-arithmetic(%root) where spreads-scales(%root)
    remark "kept: blocks of a scale need known extents"
