pattern.rule "add-of-product" rounding doc "x * y + z rounds once as ewise_fma(x, y, z)" :
  %x * %y + %z => ewise_fma(%x, %y, %z)
