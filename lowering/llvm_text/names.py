"""Names in LLVM text: their spelling, and those that the functions of a program must not have."""

from __future__ import annotations

import re

_PLAIN_NAME = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*\Z")
_ESCAPED = [chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in range(256)]

_LIBM = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh"),
    *("erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmaximum"),
    *("fmin", "fminimum", "fmod", "frexp", "hypot", "ldexp", "lgamma", "log", "log10", "log1p", "log2"),
    *("lrint", "lround", "llrint", "llround", "modf", "nearbyint", "pow", "remainder", "rint", "round"),
    *("roundeven", "scalbn", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc"),
)

RESERVED = frozenset(
    [
        *(name + suffix for name in _LIBM for suffix in ("", "f", "l")),
        *("aligned_alloc", "calloc", "free", "malloc", "posix_memalign", "realloc"),
        *("abort", "abs", "bcmp", "exit", "ffs", "labs", "llabs", "main", "memchr", "memcmp", "memcpy"),
        *("memmove", "memset", "printf", "puts", "strlen"),
    ]
)
"""
Names of the C library that LLVM calls on its own or takes for functions it knows.

Kernels are named after their op, so `@exp` or `@round` is common. An internal function of that name would be called
instead of libm.
"""


def text_name(symbol: str, linkage: str, taken: set[str]) -> str:
    """Returns the name in LLVM text: `symbol`, or `symbol.impl` and so on for an internal one that is reserved."""
    if linkage not in ("internal", "private") or symbol not in RESERVED:
        return symbol
    candidate, count = f"{symbol}.impl", 0
    while candidate in taken:
        count += 1
        candidate = f"{symbol}.impl_{count}"
    return candidate


def byte_string(data: bytes) -> str:
    """Returns `data` between the quotes of `c"..."`."""
    return "".join(map(_ESCAPED.__getitem__, data))


def symbol_text(name: str) -> str:
    """Returns a global name with its `@`, quoted when it must be."""
    return f"@{name}" if _PLAIN_NAME.match(name) else f'@"{byte_string(name.encode())}"'
