// A matrix product and the addition of its bias are one group.

pattern.rule "add-of-matmul" doc "x @ w + b becomes one fused function" :
  (matmul(%x, %w) as %product) + %b => @outline-primitive(%product, %root, name = "fused_matmul_add")
  where same-block(%product, %root), equal-types(%product, %root),
    single-use(%product) remark "not fused: {name} has {users} users"
