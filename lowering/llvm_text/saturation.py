"""Floats as integers that saturate: the one op of `llvm_ext` that is several instructions of LLVM."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerType, VectorType, i1, i32
from xdsl.ir import Attribute

from ...dialects import llvm_ext
from ...dialects.llvm_ext.values import element_and_lanes
from .constants import constant_text, type_text
from .function import FunctionText

# pyright: reportPrivateUsage=false


class _Texts(NamedTuple):
    """Types and constants of a conversion."""

    source: str
    whole: str
    target: str
    mask: str
    low: str
    high: str
    zero: str


@cache
def _texts(source: Attribute, target: Attribute, is_unsigned: bool) -> _Texts:
    element, _ = element_and_lanes(target)
    assert isinstance(element, IntegerType)
    bits = element.width.data
    low, high = (0, 2**bits - 1) if is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    whole, mask = (_on_lanes(each, target) for each in (i32, i1))
    bounds = [_number(float(bound), source) for bound in (low, high)]
    zero = "zeroinitializer" if isinstance(target, VectorType) else "0"
    return _Texts(type_text(source), type_text(whole), type_text(target), type_text(mask), bounds[0], bounds[1], zero)


def _on_lanes(element: Attribute, shape_of: Attribute) -> Attribute:
    return VectorType(element, shape_of.get_shape()) if isinstance(shape_of, VectorType) else element


def _number(value: float, type_: Attribute) -> str:
    if isinstance(type_, VectorType):
        return constant_text(DenseIntOrFPElementsAttr.from_list(type_, [value]), type_)  # pyright: ignore
    return constant_text(FloatAttr(value, type_), type_)  # type: ignore[arg-type]


def saturate(text: FunctionText, op: llvm_ext.SaturateOp) -> None:
    """Writes each step for all arguments before the next step. A comparison with a bound moves a NaN to the lower."""
    is_unsigned = "is_unsigned" in op.properties
    args, results = op._operands, op.results
    t = _texts(args[0]._type, results[0]._type, is_unsigned)
    names = text.names
    pairs = [(names[id(value)], names[id(result)]) for value, result in zip(args, results, strict=True)]
    lines = text.lines
    lines += [f"  {r}.low = fcmp ogt {t.source} {x}, {t.low}" for x, r in pairs]
    lines += [f"  {r}.least = select {t.mask} {r}.low, {t.source} {x}, {t.source} {t.low}" for x, r in pairs]
    lines += [f"  {r}.high = fcmp olt {t.source} {r}.least, {t.high}" for _, r in pairs]
    lines += [f"  {r}.most = select {t.mask} {r}.high, {t.source} {r}.least, {t.source} {t.high}" for _, r in pairs]
    lines += [f"  {r}.whole = fptosi {t.source} {r}.most to {t.whole}" for _, r in pairs]
    if is_unsigned:
        lines += [f"  {r} = trunc {t.whole} {r}.whole to {t.target}" for _, r in pairs]
        return
    lines += [f"  {r}.part = trunc {t.whole} {r}.whole to {t.target}" for _, r in pairs]
    lines += [f"  {r}.nan = fcmp uno {t.source} {x}, {x}" for x, r in pairs]
    lines += [f"  {r} = select {t.mask} {r}.nan, {t.target} {t.zero}, {t.target} {r}.part" for _, r in pairs]


__all__ = ["saturate"]
