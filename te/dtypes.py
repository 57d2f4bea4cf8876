"""
The one table of element types, by the short names that MLIR prints: `f32`, `bf16`, `i1`, `i8`, `ui8`, `index` …

What is asked of a type elsewhere derives from its row: bytes, range, the type in which it is computed, its NumPy type.
`core/ir/element_types.py` relates the names to attributes of the IR.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from ..lazy_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class ElementType:
    """What is known of one element type."""

    name: str
    kind: Literal["float", "signed", "unsigned", "bool", "index"]
    bits: int
    """Bits of one value."""
    numpy: str
    """The name of its NumPy type, underscores left out. The package `ml_dtypes` defines those that NumPy lacks."""
    exponent_bits: int = 0
    mantissa_bits: int = 0
    """Stored bits of the significand of a float, without the implicit one."""
    has_infinity: bool = False
    compute: str = ""
    """The type in which arithmetic is done and sums are accumulated, where it is another one."""
    arithmetic: bool = True
    """True where functions are computed on the type. Other values are only stored, moved, compared and converted."""

    @property
    def storage_bytes(self) -> int:
        """Returns the bytes that one element takes in memory. A boolean or an integer of 4 bits takes a whole one."""
        return -(-self.bits // 8)

    @property
    def per_byte(self) -> int:
        """Returns the elements that share a byte in files: two of 4 bits, else one. A boolean takes a whole one."""
        return 8 // self.bits if 1 < self.bits < 8 else 1

    @property
    def storage(self) -> str:
        """Returns the name of the type that elements have in buffers, where integers have no sign and whole bytes."""
        return f"i{8 * self.storage_bytes}" if self.kind not in ("float", "index") else self.name

    @property
    def bias(self) -> int:
        """Returns what the exponent of a float is stored with in addition."""
        return 2 ** (self.exponent_bits - 1) - 1

    @property
    def overflow_bits(self) -> int:
        """Returns the bits of what a number beyond the greatest becomes: infinity, or NaN where there is none."""
        return (2**self.exponent_bits - self.has_infinity << self.mantissa_bits) - (not self.has_infinity)

    @property
    def greatest(self) -> float:
        """Returns the greatest finite value of a float type. Its bits come right before `overflow_bits`."""
        exponent, fraction = divmod(self.overflow_bits - 1, 2**self.mantissa_bits)
        return (1 + fraction / 2**self.mantissa_bits) * 2.0 ** (exponent - self.bias)


INTEGER_BITS: Final = (2, 4, 8, 16, 32, 64)

TABLE: Final = {
    row.name: row
    for row in (
        ElementType("f16", "float", 16, "float16", 5, 10, True, compute="f32"),
        ElementType("bf16", "float", 16, "bfloat16", 8, 7, True, compute="f32"),
        ElementType("f32", "float", 32, "float32", 8, 23, True),
        ElementType("f64", "float", 64, "float64", 11, 52, True),
        ElementType("f8E4M3FN", "float", 8, "float8e4m3fn", 4, 3, compute="f32", arithmetic=False),
        ElementType("f8E5M2", "float", 8, "float8e5m2", 5, 2, True, compute="f32", arithmetic=False),
        *(ElementType(f"i{bits}", "signed", bits, f"int{bits}", arithmetic=bits >= 8) for bits in INTEGER_BITS),
        *(ElementType(f"ui{bits}", "unsigned", bits, f"uint{bits}", arithmetic=bits >= 8) for bits in INTEGER_BITS),
        ElementType("i1", "bool", 1, "bool"),
        ElementType("index", "index", 64, "int64"),
    )
}
"""
Every element type by name. Source of the float formats: IEEE 754-2019, table 3.5; bf16 is the upper half of f32.

The floats of 8 bits: P. Micikevicius et al., FP8 formats for deep learning, arXiv:2209.05433, table 1. The only NaN of
E4M3FN is all ones but for the sign.
"""

FLOATS: Final = tuple(name for name, row in TABLE.items() if row.kind == "float")
SMALL_FLOATS: Final = tuple(name for name in FLOATS if TABLE[name].compute)
"""Floats that are computed in another type, and rounded to their own once."""
STORED_FLOATS: Final = tuple(name for name in FLOATS if not TABLE[name].arithmetic)
"""Floats that nothing is computed on. They are bytes to LLVM."""
STORED: Final = tuple(name for name, row in TABLE.items() if not row.arithmetic)
"""All types that nothing is computed on."""
SMALL_INTEGERS: Final = tuple(name for name, row in TABLE.items() if row.per_byte > 1)
"""
Integers of less than a byte. In memory each takes a whole one, whose upper bits do not count. In files they share them.
"""
SIGNED: Final = tuple(name for name, row in TABLE.items() if row.kind == "signed")
UNSIGNED: Final = tuple(name for name, row in TABLE.items() if row.kind == "unsigned")
INTEGERS: Final = SIGNED + UNSIGNED
NUMERIC: Final = FLOATS + INTEGERS
BYTES: Final = frozenset({"i8", "ui8"})
ALL: Final = NUMERIC + ("i1",)
"""The types that tensors may hold."""
EVERY: Final = ALL + ("index",)

LEAST_NORMAL: Final = {
    name: 2.0 ** (2 - 2 ** (TABLE[name].exponent_bits - 1)) for name in FLOATS if name not in SMALL_FLOATS
}
"""
The least normal number of the types that floats are computed in.

What is subnormal in f16 is normal in f32, which f16 is computed in.
"""

_OF_NUMPY: Final = {TABLE[name].numpy: name for name in ALL}


def is_float(dtype: str) -> bool:
    """Returns whether the values are floats."""
    return dtype in FLOATS


def is_small_float(dtype: str) -> bool:
    """Returns whether the values are floats that are computed in another type and then rounded once."""
    return dtype in SMALL_FLOATS


def is_unsigned(dtype: str) -> bool:
    """Returns whether the values are never negative. `i1` counts as unsigned."""
    return dtype in UNSIGNED or dtype == "i1"


def is_integer(dtype: str) -> bool:
    """Returns whether the values are integers with arithmetic, `index` included and `i1` not."""
    return dtype in INTEGERS or dtype == "index"


def is_small_integer(dtype: str) -> bool:
    """Returns whether the values are integers of less than a byte."""
    return dtype in SMALL_INTEGERS


def bit_width(dtype: str) -> int:
    """Returns the bits of one value. An `index` has 64."""
    if (reason := unknown_type(dtype)) is not None:
        raise ValueError(reason)
    return TABLE[dtype].bits


def unknown_type(dtype: str) -> str | None:
    """Returns the message about a name that is no element type, None for one that is."""
    return None if dtype in TABLE else f"unknown element type '{dtype}', expected one of {', '.join(EVERY)}"


def integer_range(dtype: str) -> tuple[int, int]:
    """Returns the smallest and largest value of an integer type."""
    bits = bit_width(dtype)
    if is_unsigned(dtype):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def holds_all(narrow: str, wide: str) -> bool:
    """Returns whether every value of `narrow` is a value of `wide` too."""
    if narrow == wide:
        return True
    source, target = TABLE[narrow], TABLE[wide]
    if is_float(narrow):
        return source.exponent_bits <= target.exponent_bits and source.mantissa_bits <= target.mantissa_bits
    if is_float(wide):
        # An i8 needs 7 bits: -128 is a power of two. The exponents of f16 reach 15, enough for 11 bits.
        return source.bits - (not is_unsigned(narrow)) <= target.mantissa_bits + 1
    (low, high), (least, most) = integer_range(narrow), integer_range(wide)
    return least <= low and high <= most


def accumulator(dtype: str) -> str:
    """Returns the type in which `dtype` is computed and accumulated: f32 for small floats, itself for all others."""
    return TABLE[dtype].compute or dtype


def is_mixed_product(one: str, other: str) -> bool:
    """Returns whether numbers of two types may be multiplied as they are: floats, or bytes with and without sign."""
    return one != other and ((is_float(one) and is_float(other)) or {one, other} == BYTES)


def product_type(one: str, other: str) -> str:
    """
    Returns the element type of products: that of both, for two floats f32, f64 if one of them is f64, and for bytes
    with and without sign i16, which holds both.
    """
    if one == other:
        return one
    if {one, other} == BYTES:
        return "i16"
    return "f64" if "f64" in (one, other) else "f32"


@cache
def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """Returns the NumPy type of an element type, `ml_dtypes.bfloat16` for bf16."""
    # This module is plain data that every start of a tool loads: NumPy comes with the first array.
    import ml_dtypes
    import numpy as np

    others = {name.replace("_", ""): name for name in ml_dtypes.__all__}
    name = TABLE[dtype].numpy
    return np.dtype(getattr(ml_dtypes, others[name]) if name in others else name)


def of_numpy(name: str) -> str | None:
    """Returns the element type that the NumPy type of this name holds, None where there is none."""
    return _OF_NUMPY.get(name.replace("_", ""))
