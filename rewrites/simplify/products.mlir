// Convolutions and matrix products that take what stands before or after them.

pattern.rule "convolution-of-padded" rounding doc "a convolution pads with zeros itself" :
  conv2d(pad(%x) as %padded, %w) => @padded-convolution(%root, %padded)

pattern.rule "product-of-transposed" rounding doc "x^T y^T = (y x)^T" :
  matmul(permute_dims(%x) as %p, permute_dims(%y) as %q) => @transposed-product(%root, %y, %x)
  where transposes(%p), transposes(%q), single-use(%p), single-use(%q)

pattern.rule "transposed-product-left" rounding doc "(x^T y)^T = y^T x" :
  permute_dims(matmul(permute_dims(%x) as %p, %y) as %product) => @product-with-left-transposed(%product, %y, %x)
  where transposes(%root), transposes(%p), of-matrices(%product), single-use(%product), single-use(%p)

pattern.rule "transposed-product-right" rounding doc "(x y^T)^T = y x^T" :
  permute_dims(matmul(%x, permute_dims(%y) as %p) as %product) => @product-with-right-transposed(%product, %y, %x)
  where transposes(%root), transposes(%p), of-matrices(%product), single-use(%product), single-use(%p)

// A token that attends to the keys before it: a few rows of one operand, and those of the other one as they are in
// memory. To turn these takes longer than all products.

pattern.rule "few-rows-by-rows" rounding doc "x y^T = sum(x y) for a few rows x, where y is not known when programs are loaded"
  : matmul(%x, permute_dims(%y) as %p) => @sums-of-products(%root, %x, %y)
  where transposes(%p), single-use(%p), few-rows(%x, %y), not-prepared(%y)

// Weights of few bits. The product reads them as they are in memory, and makes f32 of them where it multiplies.

pattern.rule "product-of-narrow" doc "x f32(w) = x w, as products are formed in f32" :
  matmul(%x, astype(%w) as %f) => @with-other-operands(%root, %x, %w)
  where narrower(%w, %f), product-has-type(%root, %x, %w)

pattern.rule "product-of-moved-narrow" doc "x f32(w)^T = x w^T, as products are formed in f32" :
  matmul(%x, permute_dims(astype(%w) as %f) as %p) => @product-with-moved(%root, %x, %p, %w)
  where narrower(%w, %f), product-has-type(%root, %x, %w)
