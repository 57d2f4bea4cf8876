"""
Reads the function `@replacement` as the right side of a rule. It becomes a template where that is possible, else steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...core.messages.diagnostics import OperationError
from ...core.roles import PATTERN_ATTRIBUTES
from ...dialects.graph.base import GraphOp
from ..language.constants import element_type, is_constant_op, splat_number
from ..language.functions import symbol_name
from ..language.patterns import Capture
from ..language.rules import Bound, Create, Replacement
from ..pdl.steps import Joined, Known, Make, PdlRewrite, Source, Step, Taken, TypeOfReplaced
from .attributes import named_attributes
from .steps import CallFunction, Fill


def calls_functions(function: func.FuncOp) -> bool:
    """Returns whether a function of the rule is called, whose types are fixed."""
    return any(isinstance(op, func.CallOp) for op in function.body.block.ops)


def replacement_of(
    function: func.FuncOp,
    keys: Sequence[str],
    captures: Mapping[str, Capture],
    order: Sequence[int],
    dtypes: Mapping[Attribute, str],
    module: ModuleOp,
) -> tuple[tuple[Replacement, ...], PdlRewrite | None]:
    """
    Returns what the body computes from the parameters: the values that replace the results of the roots.

    For each of those, `order` holds its number among the values of `func.return`. `dtypes` maps a written element type
    to the key of the parameter that may have any element type.
    """
    for op in function.body.block.ops:
        if op.regions:
            raise OperationError(op, "an op of '@replacement' has no regions")
    if all(_is_simple(op) for op in function.body.block.ops):
        return _template(function, keys, captures, order), None
    return (), _StepReader(function, keys, captures, dtypes, module).read(order)


def _is_simple(op: Operation) -> bool:
    if isinstance(op, func.ReturnOp):
        return True
    return bool(op.operands) and len(op.results) == 1 and isinstance(op, GraphOp)


def _attributes(op: Operation, captures: Mapping[str, Capture]) -> dict[str, Any]:
    """Returns the attributes written at an op of `@replacement`, with those that `@pattern` captures."""
    given: dict[str, Any] = {**op.properties, **op.attributes}
    given.pop(PATTERN_ATTRIBUTES, None)
    for name, called in named_attributes(op).items():
        if called not in captures:
            raise OperationError(op, f"no attribute of '@pattern' is called '{called}'")
        given[name] = captures[called]
    return given


def _returned(function: func.FuncOp) -> Sequence[SSAValue]:
    last = function.body.block.last_op
    assert isinstance(last, func.ReturnOp)
    return last.operands


def _template(
    function: func.FuncOp, keys: Sequence[str], captures: Mapping[str, Capture], order: Sequence[int]
) -> tuple[Replacement, ...]:
    block = function.body.block
    known: dict[SSAValue, Replacement] = {arg: Bound(key) for arg, key in zip(block.args, keys, strict=True)}
    for number, op in enumerate(block.ops):
        if not isinstance(op, func.ReturnOp):
            operands = tuple(known[value] for value in op.operands)
            attributes = tuple(_attributes(op, captures).items())
            known[op.results[0]] = Create(op.name, operands, attributes, key=f"made.{number}")
    returned = _returned(function)
    return tuple(known[returned[place]] for place in order)


class _StepReader:
    def __init__(
        self,
        function: func.FuncOp,
        keys: Sequence[str],
        captures: Mapping[str, Capture],
        dtypes: Mapping[Attribute, str],
        module: ModuleOp,
    ):
        self._function = function
        self._captures = captures
        self._dtypes = dtypes
        self._functions = {
            name: op for op in module.body.ops if isinstance(op, func.FuncOp) and (name := symbol_name(op)) is not None
        }
        self._known: dict[SSAValue, Source] = {
            arg: Taken(key) for arg, key in zip(function.body.block.args, keys, strict=True)
        }

    def read(self, order: Sequence[int]) -> PdlRewrite:
        returned = [_returned(self._function)[place] for place in order]
        steps: list[Step] = []
        for number, op in enumerate(self._function.body.block.ops):
            if isinstance(op, func.ReturnOp):
                break
            key = f".made{number}"
            steps.append(self._step(op, key, returned))
            for result in op.results:
                self._known[result] = Taken(key, "result", result.index)
        return PdlRewrite(tuple(steps), Joined(tuple(self._known[value] for value in returned)))

    def _step(self, op: Operation, key: str, returned: Sequence[SSAValue]) -> Step:
        operands = tuple(self._known[value] for value in op.operands)
        if isinstance(op, func.CallOp):
            return self._call(op, key, operands)
        if op.name == "graph.full" and element_type(op.results[0].type) in self._dtypes:
            return self._fill(op, key)
        attributes = tuple(
            (name, Taken(wanted.key) if isinstance(wanted, Capture) else Known(wanted))
            for name, wanted in _attributes(op, self._captures).items()
        )
        return Make(key, op.name, operands, attributes, self._types(op, returned))

    def _types(self, op: Operation, returned: Sequence[SSAValue]) -> tuple[Source, ...] | None:
        """Returns the types of the results that are replaced, else inferred types, else the written ones."""
        if is_constant_op(op):
            return (Known(op.results[0].type),)
        places = [
            next((place for place, value in enumerate(returned) if value is result), None) for result in op.results
        ]
        if op.results and all(place is not None for place in places):
            return tuple(TypeOfReplaced(place) for place in places if place is not None)
        if isinstance(op, GraphOp) and op.operands:
            return None
        return tuple(Known(result.type) for result in op.results)

    def _call(self, op: func.CallOp, key: str, operands: tuple[Source, ...]) -> CallFunction:
        name = op.callee.string_value()
        function = self._functions.get(name)
        if function is None:
            raise OperationError(op, f"there is no function '@{name}' next to '@replacement'")
        if function.sym_visibility is None or function.sym_visibility.data != "private":
            raise OperationError(function, f"'@{name}' is called by '@replacement' and must be private")
        for each in function.walk():
            if isinstance(each, func.CallOp):
                raise OperationError(each, f"'@{name}', which '@replacement' calls, must not call others")
        return CallFunction(key, name, str(function), operands, tuple(result.type for result in op.results))

    def _fill(self, op: Operation, key: str) -> Fill:
        """Returns a constant whose element type is that of a parameter of any element type."""
        type_ = op.results[0].type
        number = splat_number(op.results[0])
        assert number is not None
        return Fill(key, number, type_, self._dtypes[element_type(type_)])


__all__ = ["calls_functions", "replacement_of"]
