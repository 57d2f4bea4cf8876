"""Symbols: which names a lowered module must not use for its own functions and globals."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from .convert_math import LIBM
from .state import ModuleState

_LIBM_OF_INTRINSICS = (
    *("ceil", "copysign", "fabs", "floor", "fma", "fmax", "fmin", "fmod", "ldexp", "lrint", "nearbyint"),
    *("remainder", "rint", "round", "roundeven", "sincos", "sqrt", "trunc", "fmaximum", "fminimum", "exp10"),
)

RESERVED = frozenset(
    [
        *(name + suffix for name in (*LIBM.values(), *_LIBM_OF_INTRINSICS) for suffix in ("", "f", "l")),
        *("aligned_alloc", "calloc", "free", "malloc", "realloc"),
        *("abort", "bcmp", "exit", "memchr", "memcmp", "memcpy", "memmove", "memset", "printf", "strlen"),
    ]
)
"""
Names of the C library that LLVM may call on its own or takes for a known function. A kernel is named after
its op, so `@exp` or `@round` is common; an internal function of that name would be called instead of libm.
"""


def free_symbol(state: ModuleState, name: str) -> str:
    """`name`, or `name.impl`, `name.impl_1`, ... when that is a name of the C library."""
    if name not in RESERVED:
        return name
    candidate, count = f"{name}.impl", 0
    while candidate in state.symbols:
        count += 1
        candidate = f"{name}.impl_{count}"
    state.symbols.add(candidate)
    return candidate


def symbol_of_function(state: ModuleState, function: FuncOp) -> str:
    """The symbol of the `llvm.func`: a declaration keeps its name, for it means the C function."""
    name = function.sym_name.data
    return name if function.is_declaration else free_symbol(state, name)
