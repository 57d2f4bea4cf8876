"""What rules call by name: the match object, conditions and builders, and their registries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from ...core.diagnostics import OperationError

if TYPE_CHECKING:
    from .functions import Purity
    from .patterns import Capture, Or, Pattern, Rule

IndexT = TypeVar("IndexT", bound="Index")


class Index:
    """A data structure behind a condition, told by the driver what happens to ops."""

    def __init__(self, session: Session):
        self.session = session

    def visited(self, op: Operation) -> None:
        """`op` has been looked at by all rules and stays as it is for now."""

    def inserted(self, op: Operation) -> None:
        """`op` is new in its block."""

    def forget(self, op: Operation) -> None:
        """`op` is about to change or to go away."""


@dataclass(eq=False)
class Session:
    """One run of rules over one op: its context and the indexes in use."""

    ctx: Context
    scope: Operation
    indexes: dict[type[Index], Index] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the running pass that conditions ask for."""
    revisit: list[Operation] = field(default_factory=list)
    """Ops that an index wants to be looked at again."""
    _op_types: dict[str, type[Operation] | None] = field(default_factory=dict)

    @cached_property
    def purity(self) -> Purity:
        """Which ops are pure, calls included."""
        from .functions import Purity

        return Purity(self.scope)

    def index(self, index_type: type[IndexT]) -> IndexT:
        """The index of this type, made on first use."""
        found = self.indexes.get(index_type)
        if found is None:
            found = self.indexes[index_type] = index_type(self)
        return found  # pyright: ignore[reportReturnType]

    def op_type(self, name: str) -> type[Operation] | None:
        """The class of the op called `name`; `None` when no loaded dialect has it."""
        if name not in self._op_types:
            self._op_types[name] = self.ctx.get_optional_op(name)
        return self._op_types[name]


@dataclass(eq=False)
class Match:
    """A match of `rule` at `root`. `bound` maps keys to values, ops, tuples of values (`Rest`) or attributes."""

    rule: Rule
    root: Operation
    bound: dict[str, Any]
    session: Session
    new_ops: list[Operation] = field(default_factory=list)
    """Ops made so far, not in any block yet, in the order in which they will be inserted before the root."""
    new_functions: list[Operation] = field(default_factory=list)
    """Module-level ops made so far; they go to the end of the module of the root."""
    remarks: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    """Remarks of conditions that did not hold, with what they were about."""
    matched: bool = False

    def __getitem__(self, pattern: Pattern) -> SSAValue:
        """The value that `pattern` stands for; of an op with several results the first."""
        return as_value(self._bound(pattern))

    def __contains__(self, pattern: Pattern) -> bool:
        """Whether `pattern` took part in the match; one in an alternative that did not match has not."""
        return _key(pattern) in self.bound

    @property
    def roots(self) -> list[Operation]:
        """The ops whose results are replaced: the root, and the further roots of the rule in their order."""
        return [self.root, *(self.ops(key) for key in self.rule.also)]

    @property
    def replaced(self) -> list[SSAValue]:
        """The results of all roots in order."""
        return [result for op in self.roots for result in op.results]

    def op(self, pattern: Pattern) -> Operation:
        """The op that `pattern` stands for, or that defines its value."""
        found = self._bound(pattern)
        op = found if isinstance(found, Operation) else found.owner
        if not isinstance(op, Operation):
            raise KeyError("the pattern stands for a block argument")
        return op

    def all(self, pattern: Pattern) -> tuple[SSAValue, ...]:
        """All values of a pattern inside a path, producers before users; of another pattern its own."""
        many = self.bound.get(f"{_key(pattern)}|all")
        found = many if many is not None else self._bound(pattern)
        return tuple(as_value(each) for each in found) if isinstance(found, tuple) else (as_value(found),)

    def arm(self, pattern: Or) -> int | None:
        """The number of the alternative that matched; `None` when the pattern took no part."""
        return self.bound.get(f"{_key(pattern)}|arm")

    def attribute(self, capture: Capture) -> Attribute:
        """The attribute that was captured."""
        return self.bound[capture.key]

    def _bound(self, pattern: Pattern) -> Any:
        key = _key(pattern)
        if key not in self.bound:
            raise KeyError("the pattern took no part in the match")
        return self.bound[key]

    def ops(self, key: str) -> Operation:
        """The op bound to `key`, or the op that defines the value bound to it."""
        found = self.bound[key]
        return found if isinstance(found, Operation) else found.owner

    def value(self, key: str) -> SSAValue:
        """The value bound to `key`; of an op its first result."""
        return as_value(self.bound[key])

    def create(
        self,
        name: str,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] | None = None,
        properties: Mapping[str, Attribute] | None = None,
    ) -> Operation:
        """Makes an op called `name`; result types that are not given are inferred."""
        op_type = self.session.op_type(name)
        if op_type is None:
            raise OperationError(self.root, f"rule '{self.rule.name}' makes the unknown op '{name}'")
        given = dict(properties or {})
        stored, attributes = _sorted_properties(op_type, given)
        op = op_type.create(
            operands=operands, result_types=result_types or (), properties=stored, attributes=attributes
        )
        if result_types is None:
            op.results = _inferred_results(op)
        return self.add(op)

    def add(self, op: Operation) -> Operation:
        """Adds a detached op to those inserted before the root, at the location of the root."""
        if isinstance(op.location, UnknownLoc):
            op.location = self.root.location
        self.new_ops.append(op)
        return op

    def discard(self) -> None:
        """Drops the ops made so far."""
        for op in reversed(self.new_ops):
            op.erase()
        self.new_ops.clear()
        for op in self.new_functions:
            op.erase()
        self.new_functions.clear()


def _sorted_properties(
    op_type: type[Operation], given: dict[str, Attribute]
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Properties (absent ones by their default) and discardable attributes of a new op."""
    if not issubclass(op_type, IRDLOperation):
        return {}, given
    definitions = op_type.get_irdl_definition().properties
    stored: dict[str, Attribute] = {}
    for name, definition in definitions.items():
        value = given.pop(name, definition.default_value)
        if value is not None:
            stored[name] = value
    return stored, given


def _inferred_results(op: Operation) -> Any:
    from xdsl.ir import OpResult
    from xdsl.ir.core import SSAValues

    from ...dialects.graph.base import infer_result_types

    return SSAValues(OpResult(type_, op, number) for number, type_ in enumerate(infer_result_types(op)))


def _key(pattern: Any) -> str:
    return pattern.key


def as_value(bound: Any) -> SSAValue:
    """A bound value, or the first result of a bound op."""
    return bound.results[0] if isinstance(bound, Operation) else bound


ConditionFunction = Callable[..., bool]
BuilderFunction = Callable[..., Sequence[SSAValue] | None]


Protects = Literal["value", "cost", "structure"]
"""What a condition is for: the value of the program, its cost (single use), or where its ops stand (same block)."""


@dataclass(frozen=True)
class Condition:
    """A predicate `function(match, *bound, **parameters)`; `candidates(match, *bound[1:])` finds a free first argument."""

    name: str
    function: ConditionFunction
    candidates: Callable[..., Iterable[Operation]] | None = None
    protects: Protects = "value"


@dataclass(frozen=True)
class Builder:
    """
    `function(match, *bound, **parameters)` makes ops by `match.create` and returns the values that replace the
    results of the root, or `None` when there is nothing to do after all.
    """

    name: str
    function: BuilderFunction


CONDITIONS: dict[str, Condition] = {}
BUILDERS: dict[str, Builder] = {}


def condition(
    name: str,
    candidates: Callable[..., Iterable[Operation]] | None = None,
    *,
    protects: Protects = "value",
) -> Callable[[ConditionFunction], ConditionFunction]:
    """Registers a condition under `name`; without one that does not protect the value, a rule is still right."""

    def register(function: ConditionFunction) -> ConditionFunction:
        CONDITIONS[name] = Condition(name, function, candidates, protects)
        return function

    return register


def builder(name: str) -> Callable[[BuilderFunction], BuilderFunction]:
    """Registers a builder under `name`."""

    def register(function: BuilderFunction) -> BuilderFunction:
        BUILDERS[name] = Builder(name, function)
        return function

    return register


# Names in rules


class RuleError(ValueError):
    """A rule that cannot be compiled: it names a condition, builder or key that does not exist."""


def unknown_name(kind: str, name: str, known: dict[str, Any]) -> str:
    from ...core.diagnostics import did_you_mean

    hint = did_you_mean(name, known)
    return f"unknown {kind} '{name}'" + (f", {hint}" if hint else f"; known: {', '.join(sorted(known))}")


def plain_parameters(parameters: Sequence[tuple[str, Attribute]]) -> dict[str, Attribute]:
    return {name.replace("-", "_"): value for name, value in parameters}


def check_arguments(
    kind: str, name: str, function: Callable[..., Any], number: int, parameters: dict[str, Attribute]
) -> None:
    """Raises `RuleError` when `function` cannot be called with a match, `number` bound things and the parameters."""
    try:
        signature(function).bind(None, *[None] * number, **parameters)
    except TypeError as error:
        raise RuleError(f"{kind} '{name}' cannot take {number} values and {sorted(parameters)}: {error}") from None
