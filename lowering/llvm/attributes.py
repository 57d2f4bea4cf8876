"""Attributes of llvm ops that many ops share: making one takes as long as making an op."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, UnitAttr, i32, i64
from xdsl.ir import Attribute

Properties = Mapping[str, Attribute]

NO_FASTMATH = llvm.FastMathAttr(None)
NO_PROPERTIES: Properties = {}
UNIT = UnitAttr()
DYNAMIC_INDEX = DenseArrayBase.from_list(i32, [llvm.GEP_USE_SSA_VAL])
NO_WRAP = IntegerAttr(0, 32)
NO_BUNDLES = DenseArrayBase.from_list(i32, ())
ORDERING: Properties = {"ordering": IntegerAttr(0, i64)}
OVERFLOW: tuple[Properties, ...] = tuple({"overflowFlags": IntegerAttr(flags, 32)} for flags in range(4))
NSW, NUW = 1, 2
ICMP = {flag.value: {"predicate": IntegerAttr(flag.to_int(), i64)} for flag in llvm.ICmpPredicateFlag}
CCC = llvm.CallingConventionAttr("ccc")
NO_TAIL = llvm.TailCallKindAttr(llvm.TailCallKind.NONE)

INTERNAL = llvm.LinkageAttr("internal")
IN_MAIN_MEMORY = IntegerAttr(0, 32)
"""The address space of globals."""

_numbers32: dict[tuple[int, ...], DenseArrayBase] = {}
_fastmath: dict[frozenset[Any], llvm.FastMathAttr] = {frozenset(): NO_FASTMATH}
_numbers: dict[int, IntegerAttr] = {}


@lru_cache(maxsize=4096)
def array_type(count: int, element_type: Attribute) -> llvm.LLVMArrayType:
    """Returns `!llvm.array<count x element_type>`, shared."""
    return llvm.LLVMArrayType(count, element_type)


def numbers32(values: tuple[int, ...]) -> DenseArrayBase:
    """Returns `array<i32: values>`, shared."""
    if (found := _numbers32.get(values)) is None:
        found = _numbers32[values] = DenseArrayBase.from_list(i32, values)
    return found


def segments(*counts: int) -> DenseArrayBase:
    """Returns the `operandSegmentSizes` of an op with operand groups of these sizes."""
    return numbers32(counts)


def fastmath(flags: Attribute | None) -> llvm.FastMathAttr:
    """Returns the llvm attribute with the same flags as an `arith.fastmath` one (`None` = no flags)."""
    if flags is None:
        return NO_FASTMATH
    data: frozenset[Any] = flags.data  # type: ignore[attr-defined]
    if (found := _fastmath.get(data)) is None:
        found = _fastmath[data] = llvm.FastMathAttr(tuple(data))
    return found


def number(value: int) -> IntegerAttr:
    """Returns `value : i64`, shared."""
    if (found := _numbers.get(value)) is None:
        found = _numbers[value] = IntegerAttr(value, i64)
    return found
