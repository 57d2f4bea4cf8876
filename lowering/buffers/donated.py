"""
Arguments that the caller of an entry gives away, and the results that take their places.

Before: `func.func @main(%x: tensor<4xf32> {stepwell.donated}) -> tensor<4xf32>`. After: `%x` and `%result0` may be one
buffer. Where they are two, the entry copies one to the other before all else, and looks at the result alone then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import DictionaryAttr, StringAttr, TensorType
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from ...core.messages.diagnostics import warn_about
from ...core.roles import DONATED, NAME


def donated_arguments(function: func.FuncOp) -> dict[SSAValue, int]:
    """Returns the tensors of known sizes that the caller of a function gives away, with their numbers."""
    return {
        argument: number
        for number, (argument, given) in enumerate(zip(function.body.block.args, _attributes(function), strict=False))
        if DONATED in given.data and isinstance(argument.type, TensorType) and argument.type.has_static_shape()
    }


def returned_by(block: Block) -> set[SSAValue]:
    """Returns the values that a function of one block returns."""
    return set() if block.last_op is None else set(block.last_op.operands)


def insert_copies(block: Block, pairs: list[tuple[SSAValue, SSAValue]]) -> None:
    """Makes a function begin with a copy of each input to its output, for where the two are not one buffer."""
    assert block.first_op is not None
    builder = Builder(InsertPoint.before(block.first_op))
    for given, output in pairs:
        first, second = (builder.insert(memref.ExtractAlignedPointerAsIndexOp.get(each)) for each in (given, output))
        apart = builder.insert(arith.CmpiOp(first, second, "ne"))
        copy = Region(Block([memref.CopyOp(given, output), scf.YieldOp()]))
        builder.insert(scf.IfOp(apart, [], copy))


def warn_of_unused(function: func.FuncOp, arguments: Sequence[SSAValue], used: Collection[SSAValue]) -> None:
    """Warns of each donated one of its arguments in whose place no result lies."""
    for number, (argument, given) in enumerate(zip(arguments, _attributes(function), strict=False)):
        if DONATED in given.data and argument not in used:
            name = given.data.get(NAME)
            shown = name.data if isinstance(name, StringAttr) else argument.name_hint or f"arg{number}"
            warn_about(function, f"argument '{shown}' is donated, but no result takes its place")


def _attributes(function: func.FuncOp) -> Sequence[DictionaryAttr]:
    return () if function.arg_attrs is None else function.arg_attrs.data
