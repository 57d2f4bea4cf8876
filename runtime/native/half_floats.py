"""
f16 on x86-64 without F16C: LLVM calls `__extendhfsf2` and `__truncsfhf2` of compiler-rt, which no process of ours has.

These are their definitions, as LLVM text to be compiled with the program. Both work on bits and are exact: widening scales by 2^112, the
distance of the exponents' biases; narrowing rounds once, to nearest even, below 2^-14 by adding 0.5, whose last bit is that of the
smallest f16.
"""

from __future__ import annotations

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


def lacks_half_floats(triple: str, cpu: str, features: str) -> bool:
    """Whether the machine is an x86-64 without instructions that convert f16."""
    return triple.startswith("x86_64") and (cpu == "x86-64" or "-f16c" in features.split(","))
