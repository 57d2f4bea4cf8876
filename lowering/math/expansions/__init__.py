"""
Expansions of math functions to straight-line `arith`, one file per family.

`EXPANSIONS[op type](ops, *operands)` makes one.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import llvm, math
from xdsl.ir import Operation

from . import doubles
from .error_function import erf
from .exponential import exp, exp2, exp2_in_wide_registers, exp_in_wide_registers, expm1
from .hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
from .inverse_trigonometric import acos, asin, atan, atan2
from .logarithm import log, log1p, log2, log10
from .math_ops import MathOps as MathOps
from .math_ops import Value as Value
from .piecewise import erf_in_wide_registers, tanh_in_wide_registers
from .power import cbrt, fpowi, powf, rsqrt
from .relaxed import relaxed_exp, relaxed_exp_in_wide_registers
from .remainder import fmod
from .rounding import round_half_away
from .trigonometric import cos, sin, tan

EXPANSIONS: dict[type[Operation], Callable[..., Value]] = {
    llvm.FRemOp: fmod,
    math.AcosOp: acos,
    math.AcoshOp: acosh,
    math.AsinOp: asin,
    math.AsinhOp: asinh,
    math.AtanOp: atan,
    math.Atan2Op: atan2,
    math.AtanhOp: atanh,
    math.CbrtOp: cbrt,
    math.CosOp: cos,
    math.CoshOp: cosh,
    math.ErfOp: erf,
    math.ExpOp: exp,
    math.Exp2Op: exp2,
    math.ExpM1Op: expm1,
    math.FPowIOp: fpowi,
    math.LogOp: log,
    math.Log10Op: log10,
    math.Log1pOp: log1p,
    math.Log2Op: log2,
    math.PowFOp: powf,
    math.RoundOp: round_half_away,
    math.RsqrtOp: rsqrt,
    math.SinOp: sin,
    math.SinhOp: sinh,
    math.TanOp: tan,
    math.TanhOp: tanh,
}
"""The expansion of each op on f32."""

OF_F64: dict[type[Operation], Callable[..., Value]] = {
    math.ExpOp: doubles.exp,
    math.Exp2Op: doubles.exp2,
    math.ExpM1Op: doubles.expm1,
    math.LogOp: doubles.log,
    math.Log10Op: doubles.log10,
    math.Log2Op: doubles.log2,
    math.TanhOp: doubles.tanh,
}
"""The expansion of each op on f64, on machines with FMA. An op that is not here stays for the C library."""

IN_WIDE_REGISTERS: dict[type[Operation], Callable[..., Value]] = {
    math.ErfOp: erf_in_wide_registers,
    math.ExpOp: exp_in_wide_registers,
    math.Exp2Op: exp2_in_wide_registers,
    math.TanhOp: tanh_in_wide_registers,
}
"""The expansions that take their place in the body of a `tile.map` on a machine with the instructions of AVX-512."""

RELAXED, RELAXED_IN_WIDE_REGISTERS = relaxed_exp, relaxed_exp_in_wide_registers
"""The expansions of `math.exp` with `afn`, which may take a factor of its operand as well."""
