// The code generator `openblas` computes these by cblas_sgemm and cblas_dgemm: products of matrices of f32 or f64, with
// an addend or without. The left side may be a stack of matrices. Larger patterns come first.

pattern.define "matrices"(%x) : (%x has shape [?, ?]) or (%x has shape [?, ?, ?])

pattern.define "product"(%x, %w) :
  (matmul(%x has dtype f32, %w) has dtype f32) or (matmul(%x has dtype f64, %w) has dtype f64)

pattern.rule "openblas.matmul_add" doc "openblas computes x @ w + b where b does not stretch the product" :
  (@product(@matrices(%x), %w has shape [?, ?]) as %product) + %b => partition
  where single-use(%product) remark "not 'openblas.matmul_add': {name} has {users} users", equal-types(%product, %root)

pattern.rule "openblas.matmul" doc "openblas computes x @ w" :
  @product(@matrices(%x), %w has shape [?, ?]) => partition
