"""A rule written as two functions of plain ops: `@pattern` becomes `@replacement`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, ModuleOp, ShapedType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import IRDLOperation

from ...core.messages.articles import quoted
from ...core.messages.diagnostics import OperationError
from ...core.roles import ANY_DTYPE, ANY_SHAPE, ANY_TYPE, EFFECTS, PATTERN_ATTRIBUTES
from ..language.combinators import Together
from ..language.constants import element_type, is_constant_op, splat_number
from ..language.constraints import HasDtype, HasShape, HasType, Literal, Where
from ..language.functions import symbol_name
from ..language.patterns import Any_, Capture, Op, Pattern, Result, Splat, all_below
from ..language.rules import Require, Rule, numerics_of
from .attributes import named_attributes
from .replacement import calls_functions, replacement_of

WILDCARDS = (ANY_TYPE, ANY_DTYPE, ANY_SHAPE)

FUNCTIONS = ("pattern", "replacement")


def rules_of_functions(module: ModuleOp) -> list[tuple[Operation, Rule]]:
    """
    Returns the rule of `@pattern` and `@replacement` in `module`, and the rules of modules inside, each with its op.
    """
    modules = [module, *(op for op in module.body.ops if isinstance(op, ModuleOp))]
    return [_rule_of(each, symbol_name(each) or "pattern") for each in modules if _functions(each)]


def _functions(module: ModuleOp) -> dict[str, Operation]:
    return {
        name: op
        for op in module.body.ops
        if not isinstance(op, ModuleOp) and op.name != "pdl.pattern" and (name := symbol_name(op)) in FUNCTIONS
    }


def _rule_of(module: ModuleOp, name: str) -> tuple[Operation, Rule]:
    functions = _functions(module)
    for each, other in (FUNCTIONS, FUNCTIONS[::-1]):
        if each not in functions:
            raise OperationError(functions[other], f"there is '@{other}' but no function '@{each}'")
    pattern, replacement = (_checked(functions[each], each) for each in FUNCTIONS)
    if pattern.function_type != replacement.function_type:
        message = f"'@replacement' has type {replacement.function_type}, expected {pattern.function_type} as '@pattern'"
        raise OperationError(replacement, message)
    numerics = numerics_of(pattern) or "exact"
    reader = _PatternReader(pattern, exact_types=calls_functions(replacement))
    lhs = reader.read()
    rhs, callback = replacement_of(replacement, reader.keys, reader.captures, reader.order, reader.dtypes, module)
    computes = callback is not None or any(op.name != "func.return" for op in replacement.body.block.ops)
    when = reader.conditions() if computes else ()
    rule = Rule(
        name,
        lhs,
        rhs,
        when,
        numerics=numerics,
        callback=callback,
        also=reader.also,
        effects=EFFECTS in pattern.attributes,
    )  # pyright: ignore[reportArgumentType]
    return pattern, rule


def _checked(op: Operation, name: str) -> func.FuncOp:
    if not isinstance(op, func.FuncOp):
        raise OperationError(op, f"'@{name}' is {quoted(op.name)}, expected a 'func.func'")
    block = op.body.first_block
    if block is None or block is not op.body.last_block:
        raise OperationError(op, f"'@{name}': expected a function of one block")
    return op


class _PatternReader:
    """
    Reads `@pattern`.

    After `read`, `keys` are those of its parameters, and `captures` those of attributes by name. `order` holds a number
    for each result of the roots, namely its place among the values of `func.return`.
    """

    def __init__(self, function: func.FuncOp, *, exact_types: bool):
        self._function = function
        self._exact_types = exact_types
        block = function.body.block
        self.keys = [f"{arg.name_hint or 'arg'}.{arg.index}" for arg in block.args]
        self.captures: dict[str, Capture] = {}
        self.dtypes: dict[Attribute, str] = {}
        """Maps the element type that is written to the key of the first parameter that may have any element type."""
        self.order: list[int] = []
        self.also: tuple[str, ...] = ()
        self._roots_read: list[Operation] = []
        self._made: dict[Operation, Op] = {}
        self._known: dict[SSAValue, Pattern] = {}

    def read(self) -> Pattern:
        block = self._function.body.block
        for arg, key in zip(block.args, self.keys, strict=True):
            self._known[arg] = self._parameter(arg, key)
        for op in block.ops:
            if not isinstance(op, func.ReturnOp):
                self._read_op(op)
        last = block.last_op
        assert isinstance(last, func.ReturnOp)
        roots = self._roots(list(last.operands))
        below = {id(part) for op in roots for child in self._made[op].parts() for part in all_below(child)}
        tops = [op for op in roots if id(self._made[op]) not in below]
        self._check_reached(roots)
        ordered = [tops[0], *(op for op in roots if op is not tops[0])]
        returned = list(last.operands)
        self.order = [returned.index(result) for op in ordered for result in op.results]
        self.also = tuple(self._made[op].key for op in ordered[1:])
        self._roots_read = ordered
        first = self._made[tops[0]]
        return first if len(tops) == 1 else Together(tuple(self._made[op] for op in tops))

    def _read_op(self, op: Operation) -> None:
        if op.regions:
            raise OperationError(op, "an op with regions cannot be in a pattern of plain ops")
        if is_constant_op(op):
            any_dtype = any(name in self._function.attributes for name in (ANY_TYPE, ANY_DTYPE))
            self._known[op.results[0]] = _constant(op, any_dtype)
            return
        key = f"{op.results[0].name_hint or ''}.op{len(self._made)}" if op.results else f".op{len(self._made)}"
        operands = tuple(self._known[value] for value in op.operands)
        made = self._made[op] = Op((op.name,), operands, self._attributes(op), key)
        for result in op.results:
            self._known[result] = made if len(op.results) == 1 else Result(made, result.index)

    def _roots(self, returned: list[SSAValue]) -> list[Operation]:
        """Returns the ops whose results are returned, in order. Raises unless each result is returned once."""
        roots = dict.fromkeys(value.op for value in returned if isinstance(value, OpResult))
        results = [result for op in roots for result in op.results if op in self._made]
        if not roots or len(results) != len(returned) or set(results) != set(returned):
            message = "'@pattern' must return all results of one op, or of each of several, each once"
            raise OperationError(self._function, message)
        return list(roots)

    def _check_reached(self, roots: Sequence[Operation]) -> None:
        reached = {id(part) for op in roots for part in all_below(self._made[op])}
        for op, each in self._made.items():
            if id(each) not in reached:
                raise OperationError(op, "the result of '@pattern' does not depend on this op")
        keys = {part.key for op in roots for part in all_below(self._made[op])}
        for value, key in zip(self._function.body.block.args, self.keys, strict=True):
            if key not in keys:
                message = f"the result of '@pattern' does not depend on %{value.name_hint or key}"
                raise OperationError(self._function, message)

    def conditions(self) -> tuple[Require, ...]:
        """
        Returns the conditions that keep ops from being computed twice and from moving over an effect or into a branch.
        """
        roots = [self._made[op].key for op in self._roots_read]
        inner = [pattern.key for op, pattern in self._made.items() if op not in self._roots_read]
        everything = (*roots, *inner)
        remark = "not replaced: {name} is used outside of the pattern"
        found = [Require("only-used-by", (key, *everything), remark=remark) for key in inner]
        if len(everything) > 1:
            found.append(Require("no-effect-between", everything, remark="not replaced: an effect stands in between"))
        return tuple(found)

    def _parameter(self, arg: SSAValue, key: str) -> Pattern:
        wild = _wildcards(self._function, arg.index)  # pyright: ignore
        if wild & {ANY_TYPE, ANY_DTYPE}:
            self.dtypes.setdefault(element_type(arg.type), key)
        if ANY_TYPE in wild or {ANY_DTYPE, ANY_SHAPE} <= wild:
            return Any_(key)
        if self._exact_types and not wild:
            return Where(Any_(key), HasType(arg.type))
        return _typed(Any_(key), arg.type, dtype=ANY_DTYPE not in wild, shape=ANY_SHAPE not in wild)

    def _attributes(self, op: Operation) -> tuple[tuple[str, Any], ...]:
        """Returns the attributes written at `op`. Other properties have their default or are absent too."""
        given: dict[str, Any] = {**op.properties, **op.attributes}
        if isinstance(op, IRDLOperation):
            for name, definition in op.get_irdl_definition().properties.items():
                given.setdefault(name, definition.default_value)
        for name, called in named_attributes(op).items():
            if called not in self.captures:
                self.captures[called] = Capture(f"{called}.attribute")
            given[name] = self.captures[called]
        given.pop(PATTERN_ATTRIBUTES, None)
        return tuple(given.items())


def _wildcards(function: func.FuncOp, index: int) -> set[str]:
    """Returns the wildcards of a parameter, both its own and those of the function."""
    attributes = function.arg_attrs
    own = attributes.data[index].data if isinstance(attributes, ArrayAttr) else {}
    for name in own:
        if name.startswith("pattern.") and name not in WILDCARDS:
            message = f"parameter {index} has the attribute {name}, expected one of {', '.join(WILDCARDS)}"
            raise OperationError(function, message)
    return {name for name in WILDCARDS if name in own or name in function.attributes}


def _typed(pattern: Pattern, type_: Attribute, *, dtype: bool = True, shape: bool = True) -> Pattern:
    """Returns `pattern` with the element type and shape of a parameter, where `?` is any size."""
    if dtype:
        pattern = Where(pattern, HasDtype(element_type(type_)))
    if not shape or not isinstance(type_, ShapedType):
        return pattern
    sizes = tuple(None if size == DYNAMIC_INDEX else size for size in type_.get_shape())
    return Where(pattern, HasShape(sizes))


def _constant(op: Operation, any_dtype: bool) -> Pattern:
    number = splat_number(op.results[0])
    if number is not None:
        splat = Splat(number)
        return splat if any_dtype else Where(splat, HasDtype(element_type(op.results[0].type)))
    return Literal(op.properties["value"])


__all__ = ["ANY_DTYPE", "ANY_SHAPE", "ANY_TYPE", "rules_of_functions"]
