// One rounding instead of two: x * y + z.

pattern.rule "add-of-multiply" rounding doc "x * y + z = ewise_fma(x, y, z)" :
  (%x * %y as %product) + %z => ewise_fma(%x, %y, %z)
  where same-block(%product, %root), absorbable(%product) remark "not fused: {name} has {users} users"
