"""Reads tests of values, and patterns of larger things, from the pattern dialect."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation

from ...dialects.pattern import combinators, loops, structures
from ...dialects.pattern import constraints as dialect
from ..language.chains import Chain
from ..language.combinators import Expression, Together, associative
from ..language.constraints import (
    And,
    Argument,
    HasAttr,
    HasDtype,
    HasKind,
    HasShape,
    HasType,
    Holds,
    Literal,
    Not,
    Test,
    Where,
)
from ..language.loops import Axis, Loops
from ..language.patterns import Any_, Capture, Pattern
from ..language.registry import RuleError
from ..language.structures import Call, Dominates, Function, If


def pattern_of(op: Operation, key: str, operands: tuple[Pattern, ...]) -> Pattern | None:
    """
    Returns the pattern that an op stands for, given the patterns of its operands. It is `None` for an op that is no
    pattern.
    """
    test = _test_of(op, tuple(other.key for other in operands[1:]))
    if test is not None:
        return Where(operands[0], test, key)
    match op:
        case dialect.AndOp():
            return And(operands, key)
        case dialect.NotOp():
            return Not(operands[0], key)
        case dialect.ArgumentOp():
            name = None if op.argument_name is None else op.argument_name.data
            return Argument(None if op.index is None else op.index.value.data, name, key)
        case dialect.LiteralOp():
            return Literal(op.value, key)
        case _:
            return _structure_of(op, key, operands)


def _test_of(op: Operation, others: tuple[str, ...]) -> Test | None:
    match op:
        case dialect.HasDtypeOp():
            return HasDtype(op.dtype)
        case dialect.HasTypeOp():
            return HasType(op.type)
        case dialect.HasShapeOp():
            sizes = op.sizes.get_values()
            return HasShape(tuple(None if size == DYNAMIC_INDEX else size for size in sizes))
        case dialect.HasAttrOp():
            return HasAttr(tuple(op.wanted.data.items()))
        case dialect.HasKindOp():
            return HasKind(tuple(kind.strip() for kind in op.kinds.data.split("|")))
        case dialect.HoldsOp():
            parameters = {} if op.parameters is None else op.parameters.data
            return Holds(op.condition.data, tuple(parameters.items()), others)
        case _:
            return None


def _structure_of(op: Operation, key: str, operands: tuple[Pattern, ...]) -> Pattern | None:
    match op:
        case structures.DominatesOp():
            parent, child, path = operands
            return Dominates(parent, path, child, key)
        case structures.ChainOp():
            step, link, start = operands
            if not isinstance(link, Any_):
                raise RuleError("what follows 'through' must be a 'pattern.any'")
            return Chain(step, link, start, 1 if op.least is None else op.least.value.data, key)
        case structures.FunctionOp():
            parameters, body = operands[: len(op.parameters)], operands[len(op.parameters) :]
            wanted = () if op.wanted is None else tuple(op.wanted.data.items())
            return Function(None if op.any_parameters is not None else parameters, body, wanted, key)
        case structures.CallOp():
            return _call(op, key, operands)
        case structures.IfOp():
            condition, then, otherwise = (
                operands[0],
                operands[1 : 1 + len(op.then)],
                operands[1 + len(op.then) :],
            )
            if len(then) == 1:
                return If(condition, then[0], otherwise[0], key)
            return If(condition, then, otherwise, key)
        case loops.AxisOp():
            extent = None if op.extent is None else op.extent.value.data
            return Axis(None if op.kind is None else op.kind.data, extent, key)
        case combinators.AssocOp():
            return associative(operands[0], key)
        case combinators.TogetherOp():
            return Together(operands, key)
        case combinators.ExpressionOp():
            last = op.body.block.last_op
            assert isinstance(last, combinators.ReturnsOp)
            return Expression(last.value, tuple(zip(op.body.block.args, operands, strict=True)), key)
        case _:
            return None


def loops_of(
    op: loops.LoopsOp, key: str, operands: tuple[Pattern, ...], captures: tuple[tuple[str, Capture], ...]
) -> Loops:
    """Returns the pattern of a block, of loops or of a loop function. Raises `RuleError` where there is none."""
    kind = op.name.removeprefix("pattern.")
    wanted = () if op.wanted is None else tuple(op.wanted.data.items())
    count = len(op.arguments)
    arguments, inside = operands[:count], operands[count:]
    return Loops(kind, arguments, inside, (*wanted, *captures), key, op.unordered is not None)  # pyright: ignore


def _call(op: structures.CallOp, key: str, operands: tuple[Pattern, ...]) -> Call:
    callee: str | Function | None = None if op.callee is None else op.callee.data
    if op.function is not None:
        function, *rest = operands
        if not isinstance(function, Function):
            raise RuleError("what follows 'to' must be a 'pattern.function'")
        callee, operands = function, tuple(rest)
    return Call(callee, None if op.any_operands is not None else operands, key)
