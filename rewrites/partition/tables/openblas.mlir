// The code generator `openblas` computes these by cblas_sgemm and cblas_dgemm: products of matrices of f32 or f64, with
// an addend or without. The left side may be a stack of matrices. Larger patterns come first.

pattern.rule "openblas.matmul_add" doc "openblas computes x @ w + b where b does not stretch the product" {
  %any_x = pattern.any
  %any_w = pattern.any
  %b = pattern.any
  %matrix = pattern.has_shape %any_x, [?, ?]
  %stack = pattern.has_shape %any_x, [?, ?, ?]
  %x = pattern.or %matrix, %stack
  %w = pattern.has_shape %any_w, [?, ?]
  %x32 = pattern.has_dtype %x, f32
  %product32 = pattern.op "graph.matmul"(%x32, %w)
  %f32 = pattern.has_dtype %product32, f32
  %x64 = pattern.has_dtype %x, f64
  %product64 = pattern.op "graph.matmul"(%x64, %w)
  %f64 = pattern.has_dtype %product64, f64
  %product = pattern.or %f32, %f64
  %root = pattern.op "graph.add"(%product, %b)
  pattern.require "single-use"(%product) remark "not 'openblas.matmul_add': {name} has {users} users"
  pattern.require "equal-types"(%product, %root)
  pattern.partition %root
}

pattern.rule "openblas.matmul" doc "openblas computes x @ w" {
  %any_x = pattern.any
  %any_w = pattern.any
  %matrix = pattern.has_shape %any_x, [?, ?]
  %stack = pattern.has_shape %any_x, [?, ?, ?]
  %x = pattern.or %matrix, %stack
  %w = pattern.has_shape %any_w, [?, ?]
  %x32 = pattern.has_dtype %x, f32
  %product32 = pattern.op "graph.matmul"(%x32, %w)
  %f32 = pattern.has_dtype %product32, f32
  %x64 = pattern.has_dtype %x, f64
  %product64 = pattern.op "graph.matmul"(%x64, %w)
  %f64 = pattern.has_dtype %product64, f64
  %root = pattern.or %f32, %f64
  pattern.partition %root
}
