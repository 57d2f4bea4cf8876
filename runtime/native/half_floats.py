"""
The LLVM text of `__extendhfsf2` and `__truncsfhf2`, which LLVM calls for f16 on x86-64 without F16C.

They are functions of compiler-rt, which no process of ours has, so they are compiled with the program. Both work on
bits and are exact. Widening scales by 2^112, the distance of the exponents' biases. Narrowing rounds once, to nearest
even. Below 2^-14 it does so by adding 0.5, whose last bit is that of the smallest f16.
"""

from __future__ import annotations

BRAIN_FLOATS = """
define weak_odr bfloat @__truncsfbf2(float %x) {
  %b = bitcast float %x to i32
  %high = lshr i32 %b, 16
  %odd = and i32 %high, 1
  %half = add i32 %odd, 32767
  %sum = add i32 %b, %half
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %high, 64
  %is_nan = fcmp uno float %x, %x
  %all = select i1 %is_nan, i32 %quiet, i32 %rounded
  %h = trunc i32 %all to i16
  %r = bitcast i16 %h to bfloat
  ret bfloat %r
}
"""
"""
The LLVM text of `__truncsfbf2`. LLVM calls it where it puts vectors of bf16 together on x86-64 without AVX512-BF16. It
rounds once, to nearest even, and keeps NaN.
"""

HALF_FLOATS = """
define weak_odr float @__extendhfsf2(half %x) {
  %h = bitcast half %x to i16
  %w = zext i16 %h to i32
  %s = and i32 %w, 32768
  %sign = shl i32 %s, 16
  %m = and i32 %w, 32767
  %up = shl i32 %m, 13
  %f = bitcast i32 %up to float
  %scaled = fmul float %f, 0x46F0000000000000
  %finite = bitcast float %scaled to i32
  %special = or i32 %up, 2139095040
  %is_special = icmp uge i32 %m, 31744
  %size = select i1 %is_special, i32 %special, i32 %finite
  %bits = or i32 %size, %sign
  %r = bitcast i32 %bits to float
  ret float %r
}

define weak_odr half @__truncsfhf2(float %x) {
  %b = bitcast float %x to i32
  %high = lshr i32 %b, 16
  %sign = and i32 %high, 32768
  %a = and i32 %b, 2147483647
  %f = bitcast i32 %a to float
  %shifted = fadd float %f, 5.0e-01
  %small_bits = bitcast float %shifted to i32
  %small = sub i32 %small_bits, 1056964608
  %last = lshr i32 %a, 13
  %odd = and i32 %last, 1
  %rebiased = sub i32 %a, 939520001
  %rounded = add i32 %rebiased, %odd
  %normal = lshr i32 %rounded, 13
  %is_small = icmp ult i32 %a, 947912704
  %finite = select i1 %is_small, i32 %small, i32 %normal
  %is_large = icmp uge i32 %a, 1199570944
  %number = select i1 %is_large, i32 31744, i32 %finite
  %payload = and i32 %last, 1023
  %nan = or i32 %payload, 32256
  %is_nan = icmp ugt i32 %a, 2139095040
  %size = select i1 %is_nan, i32 %nan, i32 %number
  %all = or i32 %size, %sign
  %h = trunc i32 %all to i16
  %r = bitcast i16 %h to half
  ret half %r
}
"""
