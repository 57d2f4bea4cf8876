"""The match that conditions and builders are given: what it has bound, and the ops that it makes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation, VerificationContext
from xdsl.utils.exceptions import VerifyException

from ...core.ir.appending import new_op
from ...core.ir.replacing import replace_all_uses
from ...core.ir.walk import op_and_inside
from ...core.messages.diagnostics import OperationError
from ...dialects.graph.base import TensorOp, infer_result_types
from ...lazy_dataclass import dataclass
from .functions import NameSupply, Purity
from .patterns import Capture, Or, Pattern, picks_result
from .rules import Rule

# pyright: reportPrivateUsage=false
# Each property of xDSL costs a call, and all users of a value are wanted for each rewrite.

IndexT = TypeVar("IndexT", bound="Index")


class Made(NamedTuple):
    """What like ops have in common. It keeps alive what the key knows by identity."""

    result_types: Sequence[Attribute]
    properties: Mapping[str, Attribute]
    held: tuple[Attribute, ...]


class Index:
    """A data structure behind a condition. The driver tells it what happens to ops."""

    def __init__(self, session: Session):
        self.session = session

    def visited(self, op: Operation) -> None:
        """Takes note that all rules have been tried at `op` and it stays as it is for now."""

    def inserted(self, op: Operation) -> None:
        """Takes note that `op` is new in its block."""

    def forget(self, op: Operation) -> None:
        """Takes note that `op` is about to change or to go away."""

    def linked(self, op: Operation) -> None:
        """Takes note that `op` has operands that it did not have before."""

    def unlinked(self, op: Operation) -> None:
        """Takes note that `op`, which is still in its block, is about to lose its operands."""


@dataclass(eq=False)
class Session:
    """One run of rules over one op: its context and the indexes in use."""

    ctx: Context
    scope: Operation
    indexes: dict[type[Index], Index] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the running pass that conditions ask for."""
    revisit: list[Operation] = field(default_factory=list)
    """Ops that an index wants the driver to visit again."""
    gave_up: set[str] = field(default_factory=set)
    """The names of the rules that took too many steps somewhere."""
    made: dict[Hashable, Made] = field(default_factory=dict)
    """What the ops made so far have in common with like ones, by what their result types depend on."""
    _op_types: dict[str, type[Operation] | None] = field(default_factory=dict)

    @cached_property
    def purity(self) -> Purity:
        """Returns the purity of ops, calls included, as far as it is known."""
        return Purity(self.scope)

    def index(self, index_type: type[IndexT]) -> IndexT:
        """Returns the index of this type. It is made on first use."""
        found = self.indexes.get(index_type)
        if found is None:
            found = self.indexes[index_type] = index_type(self)
        return found  # pyright: ignore[reportReturnType]

    def inserted(self, op: Operation) -> None:
        """Tells the indexes that `op` is new in its block."""
        for index in self.indexes.values():
            index.inserted(op)
            for inner in op_and_inside(op):
                index.linked(inner)

    def unlinked(self, op: Operation) -> None:
        """Tells the indexes that `op`, which is still in its block, is about to lose its operands."""
        for index in self.indexes.values():
            index.unlinked(op)

    def replace_uses(self, replaced: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
        """Lets the users of `replaced` use `values`, and tells the indexes."""
        users = users_of(replaced)
        for user in users:
            self.unlinked(user)
        for result, value in zip(replaced, values, strict=True):
            replace_all_uses(result, value)
        for index in self.indexes.values():
            for user in users:
                index.linked(user)

    def op_type(self, name: str) -> type[Operation] | None:
        """Returns the class of the op called `name`, or `None` when no loaded dialect has it."""
        if name not in self._op_types:
            self._op_types[name] = self.ctx.get_optional_op(name)
        return self._op_types[name]


class Names(Index):
    """The name supply of the module that rules run over."""

    def __init__(self, session: Session):
        super().__init__(session)
        module = session.scope
        assert isinstance(module, ModuleOp)
        self.supply = NameSupply(module)


@dataclass(eq=False)
class Match:
    """A match of `rule` at `root`. `bound` maps keys to values, ops, tuples of values (`Rest`) or attributes."""

    rule: Rule
    root: Operation
    bound: dict[str, Any]
    session: Session
    new_ops: list[Operation] = field(default_factory=list)
    """
    The ops made so far. They are in no block yet, and in the order in which they will be inserted before the root.
    """
    new_functions: list[Operation] = field(default_factory=list)
    """The module-level ops made so far, which go to the end of the module of the root."""
    remarks: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    """The remarks of conditions that did not hold, with the things that they are about."""
    matched: bool = False
    steps: int = 0
    """The choices among orders of operands and alternatives that were made so far."""
    tried: dict[tuple[int, SSAValue], dict[str, Any] | None] = field(default_factory=dict)
    """What a closed part of the pattern binds at a value, `None` where it does not match."""
    after: tuple[Any, Any] | None = None
    """What comes after the parts that are being matched and are compiled once for all their places: a linked stack."""
    blamed: set[int] = field(default_factory=set)
    """The roots, by number, that the last failure depends on beside the names that the rest of the rule looks at."""
    left: dict[tuple[Any, ...], list[Operation]] = field(default_factory=dict)
    """The ops that are worth a try as a further root, by its number and by what the rest of the rule looks at."""

    def __repr__(self) -> str:
        return f"<stepwell.Match of rule {self.rule.name} at {self.root.name}>"

    def __getitem__(self, pattern: Pattern) -> SSAValue:
        """Returns the value that `pattern` stands for. Of an op that has several results it is the first."""
        return as_value(self._bound(pattern))

    def __contains__(self, pattern: Pattern) -> bool:
        """
        Returns whether `pattern` took part in the match. A pattern in an alternative that did not match took no part.
        """
        return pattern.key in self.bound

    @property
    def roots(self) -> list[Operation]:
        """The ops whose results are replaced: the root, and the further roots of the rule in their order."""
        return [self.root, *(self.ops(key) for key in self.rule.also)]

    @property
    def replaced(self) -> list[SSAValue]:
        """The results of all roots in order. Where a root is one result of an op, it is that one."""
        rule = self.rule
        if not rule.picks_results:
            return [result for op in self.roots for result in op.results]
        roots = zip(rule.root_patterns, self.roots, strict=True)
        return [each for root, op in roots for each in ([self.bound[root.key]] if picks_result(root) else op.results)]

    def op(self, pattern: Pattern) -> Operation:
        """Returns the op that `pattern` stands for, or that defines its value."""
        found = self._bound(pattern)
        op = found if isinstance(found, Operation) else found.owner
        if not isinstance(op, Operation):
            raise KeyError("the pattern stands for a block argument")
        return op

    def all(self, pattern: Pattern) -> tuple[SSAValue, ...]:
        """Returns all values of a pattern inside a path, producers before users, or the value of another pattern."""
        many = self.bound.get(f"{pattern.key}|all")
        found = many if many is not None else self._bound(pattern)
        return tuple(as_value(each) for each in found) if isinstance(found, tuple) else (as_value(found),)

    def arm(self, pattern: Or) -> int | None:
        """Returns the number of the alternative that matched, or `None` when the pattern took no part."""
        return self.bound.get(f"{pattern.key}|arm")

    def attribute(self, capture: Capture) -> Attribute:
        """Returns the attribute that was captured."""
        return self.bound[capture.key]

    def _bound(self, pattern: Pattern) -> Any:
        key = pattern.key
        if key not in self.bound:
            raise KeyError("the pattern took no part in the match")
        return self.bound[key]

    def shown_bindings(self) -> dict[str, str]:
        """Returns the values, ops and attributes that the rule has bound, as text, by the names of its text."""
        found: dict[str, str] = {}
        for key, thing in self.bound.items():
            name, _, number = key.partition(".")
            if name.isidentifier() and (not number or number.isdigit()) and not isinstance(thing, Match):
                found[f"%{name}"] = _shown(thing)
        return found

    def ops(self, key: str) -> Operation:
        """Returns the op bound to `key`, or the op that defines the value bound to it."""
        found = self.bound[key]
        return found if isinstance(found, Operation) else found.owner

    def value(self, key: str) -> SSAValue:
        """Returns the value bound to `key`. Of an op it is the first result."""
        return as_value(self.bound[key])

    def create(
        self,
        name: str,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] | None = None,
        properties: Mapping[str, Attribute] | None = None,
    ) -> Operation:
        """Makes an op called `name`. Result types that are not given are inferred."""
        op_type = self.session.op_type(name)
        if op_type is None:
            raise OperationError(self.root, f"rule '{self.rule.name}' makes the unknown op '{name}'")
        key, held = None, ()
        if result_types is None and issubclass(op_type, TensorOp):
            held = (*[operand.type for operand in operands], *(properties.values() if properties else ()))
            key = (op_type, len(operands), *map(id, held), *(properties or ()))
            if (made := self.session.made.get(key)) is not None:
                return self.add(new_op(op_type, operands, made.result_types, made.properties))
        stored, attributes = _sorted_properties(op_type, dict(properties or {}))
        op = op_type.create(
            operands=operands, result_types=result_types or (), properties=stored, attributes=attributes
        )
        if result_types is None:
            try:
                op.results = _inferred_results(op)
            except (VerifyException, ValueError) as error:
                message = f"rule '{self.rule.name}' makes an invalid '{name}': {error}"
                op.erase()
                raise OperationError(self.root, message) from error
        if key is not None and not attributes:
            self.session.made[key] = Made([result.type for result in op.results], stored, held)
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
    """Returns the properties and the discardable attributes of a new op. Absent properties have their default."""
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
    return SSAValues(OpResult(type_, op, number) for number, type_ in enumerate(_inferred_types(op)))


def _inferred_types(op: Operation) -> Sequence[Attribute]:
    """Returns the result types of an op by the types of its operands, as the class of the op relates them."""
    if isinstance(op, TensorOp):
        return infer_result_types(op)
    assert isinstance(op, IRDLOperation)
    definition, context = op.get_irdl_definition(), VerificationContext()
    for (_, operand), value in zip(definition.operands, op.operands, strict=True):
        operand.constr.verify((value.type,), context)
    return [type_ for _, result in definition.results for type_ in result.constr.infer(context, length=1)]


def _shown(thing: Any) -> str:
    if isinstance(thing, tuple):
        return ", ".join(map(_shown, thing))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(thing, Operation):
        return str(thing).split("\n", 1)[0].strip()
    if isinstance(thing, SSAValue):
        name = f"%{thing.name_hint or '?'} : {thing.type}"
        return f"{name}, a result of {thing.owner.name}" if isinstance(thing, OpResult) else name
    return str(thing)


def users_of(values: Iterable[SSAValue]) -> list[Operation]:
    """Returns the ops that use any of `values`, each once, in order of use."""
    found: dict[int, Operation] = {}
    for value in values:
        use = value.first_use
        while use is not None:
            found[id(use._operation)] = use._operation
            use = use._next_use
    return list(found.values())


def as_value(bound: Any) -> SSAValue:
    """Returns a bound value, or the first result of a bound op."""
    return bound.results[0] if isinstance(bound, Operation) else bound
