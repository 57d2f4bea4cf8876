"""A rule written as two functions of plain ops: `@pattern` becomes `@replacement`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, ShapedType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from ...core.diagnostics import OperationError
from .constants import element_type, is_constant_op, splat_number
from .constraints import HasDtype, HasShape, Literal, Where
from .functions import symbol_name
from .patterns import NUMERICS, Any_, Bound, Create, Op, Pattern, Replacement, Result, Rule, Splat, all_below

ANY_TYPE = "pattern.any_type"
"""Attribute of `@pattern`: its types are only there to be written down."""

NUMERICS_ATTRIBUTE = "pattern.numerics"


def rules_of_functions(module: ModuleOp) -> list[tuple[Operation, Rule]]:
    """The rule of `@pattern` and `@replacement` in `module`, and those of named modules inside, with their places."""
    modules = [module, *(op for op in module.body.ops if isinstance(op, ModuleOp))]
    return [_rule_of(each, symbol_name(each) or "pattern") for each in modules if _functions(each)]


def _functions(module: ModuleOp) -> dict[str, func.FuncOp]:
    return {
        name: op
        for op in module.body.ops
        if isinstance(op, func.FuncOp) and (name := op.sym_name.data) in ("pattern", "replacement")
    }


def _rule_of(module: ModuleOp, name: str) -> tuple[Operation, Rule]:
    functions = _functions(module)
    for each, other in (("pattern", "replacement"), ("replacement", "pattern")):
        if each not in functions:
            raise OperationError(functions[other], f"there is '@{other}' but no function '@{each}'")
    pattern, replacement = functions["pattern"], functions["replacement"]
    if pattern.function_type != replacement.function_type:
        message = f"'@replacement' has type {replacement.function_type}, expected {pattern.function_type} as '@pattern'"
        raise OperationError(replacement, message)
    numerics = pattern.attributes.get(NUMERICS_ATTRIBUTE, StringAttr("exact"))
    if not isinstance(numerics, StringAttr) or numerics.data not in NUMERICS:
        message = f"{NUMERICS_ATTRIBUTE} is {numerics}, expected one of {', '.join(NUMERICS)}"
        raise OperationError(pattern, message)
    lhs, keys = _pattern_of(pattern)
    rhs = _replacement_of(replacement, keys)
    return pattern, Rule(name, lhs, rhs, numerics=numerics.data)  # pyright: ignore[reportArgumentType]


def _returned(function: func.FuncOp) -> Sequence[SSAValue]:
    block = function.body.first_block
    if block is None or block is not function.body.last_block:
        raise OperationError(function, "expected a function of one block")
    last = block.last_op
    assert isinstance(last, func.ReturnOp)
    return last.operands


def _pattern_of(function: func.FuncOp) -> tuple[Op, list[str]]:
    """What the body looks for, and the keys of the parameters."""
    returned = list(_returned(function))
    any_type = ANY_TYPE in function.attributes
    block = function.body.block
    keys = [f"{arg.name_hint or 'arg'}.{arg.index}" for arg in block.args]
    known: dict[SSAValue, Pattern] = {
        arg: Any_(key) if any_type else _typed(Any_(key), arg.type)
        for arg, key in zip(block.args, keys, strict=True)
    }
    made: dict[Operation, Op] = {}
    for op in block.ops:
        if isinstance(op, func.ReturnOp):
            break
        if op.regions:
            raise OperationError(op, "an op with regions cannot be in a pattern of plain ops")
        if is_constant_op(op):
            known[op.results[0]] = _constant(op, any_type)
            continue
        made[op] = Op((op.name,), tuple(known[value] for value in op.operands), _attributes(op))
        for result in op.results:
            known[result] = made[op] if len(op.results) == 1 else Result(made[op], result.index)
    root = returned[0].owner if returned else None
    if not isinstance(root, Operation) or root not in made or returned != list(root.results):
        raise OperationError(function, "'@pattern' must return all results of one op")
    reached = {id(each) for each in all_below(made[root])}
    for op, each in made.items():
        if id(each) not in reached:
            raise OperationError(op, "the result of '@pattern' does not depend on this op")
    for value, key in zip(block.args, keys, strict=True):
        if not any(getattr(each, "key", None) == key for each in all_below(made[root])):
            raise OperationError(
                function, f"the result of '@pattern' does not depend on %{value.name_hint or key}"
            )
    return made[root], keys


def _attributes(op: Operation) -> tuple[tuple[str, Any], ...]:
    """What is written at `op`, and that properties which are not have their default or are absent too."""
    given: dict[str, Any] = {**op.properties, **op.attributes}
    if isinstance(op, IRDLOperation):
        for name, definition in op.get_irdl_definition().properties.items():
            given.setdefault(name, definition.default_value)
    return tuple(given.items())


def _typed(pattern: Pattern, type_: Attribute) -> Pattern:
    """The element type and shape of a parameter; `?` is any size."""
    typed = Where(pattern, HasDtype(element_type(type_)))
    if not isinstance(type_, ShapedType):
        return typed
    sizes = tuple(None if size == DYNAMIC_INDEX else size for size in type_.get_shape())
    return Where(typed, HasShape(sizes))


def _constant(op: Operation, any_type: bool) -> Pattern:
    number = splat_number(op.results[0])
    if number is not None:
        splat = Splat(number)
        return splat if any_type else Where(splat, HasDtype(element_type(op.results[0].type)))
    return Literal(op.properties["value"])


def _replacement_of(function: func.FuncOp, keys: list[str]) -> tuple[Replacement, ...]:
    block = function.body.block
    returned = _returned(function)
    known: dict[SSAValue, Replacement] = {arg: Bound(key) for arg, key in zip(block.args, keys, strict=True)}
    for number, op in enumerate(block.ops):
        if isinstance(op, func.ReturnOp):
            break
        if not op.operands or op.regions or len(op.results) != 1:
            raise OperationError(op, "an op of '@replacement' has operands, no regions and one result")
        attributes = (*op.properties.items(), *op.attributes.items())
        operands = tuple(known[value] for value in op.operands)
        known[op.results[0]] = Create(op.name, operands, attributes, key=f"made.{number}")
    return tuple(known[value] for value in returned)


__all__ = ["ANY_TYPE", "rules_of_functions"]
