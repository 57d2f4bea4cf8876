// The code generator `openblas` computes these by cblas_sgemm and cblas_dgemm: products of matrices of f32 or f64, with
// an addend or without. The left side may be a stack of matrices. Larger patterns come first.

pattern.rule "openblas.matmul_add" doc "openblas computes x @ w + b where b does not stretch the product" :
  ((matmul((%any has shape [?, ?]) or (%any has shape [?, ?, ?]) as %x has dtype f32, _ has shape [?, ?] as %w has dtype f32)
    has dtype f32) or (matmul(%x has dtype f64, %w has dtype f64) has dtype f64) as %product) + %b => partition
  where single-use(%product) remark "not 'openblas.matmul_add': {name} has {users} users", equal-types(%product, %root)

pattern.rule "openblas.matmul" doc "openblas computes x @ w" :
  (matmul((%any has shape [?, ?]) or (%any has shape [?, ?, ?]) as %x has dtype f32, _ has shape [?, ?] as %w has dtype f32)
    has dtype f32) or (matmul(%x has dtype f64, %w has dtype f64) has dtype f64) => partition
