// One rounding instead of two: x * y + z. Small floats are added unrounded at O2 and O3 anyway (`expand-math`).

pattern.rule "add-of-multiply" rounding doc "x * y + z = ewise_fma(x, y, z)" :
  (%x * %y as %product) + %z => ewise_fma(%x, %y, %z)
  where own-arithmetic(%root), same-block(%product, %root), absorbable(%product) remark "not fused: {name} has {users} users"
