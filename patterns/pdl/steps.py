"""A `pdl.rewrite` as data: the sources of things, and the steps that make and replace them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...core.messages.diagnostics import OperationError
from ...lazy_dataclass import dataclass
from ..language.match import Match
from ..language.registry import BUILDERS, plain_parameters
from .conditions import argument, values_of


@dataclass(frozen=True)
class Known:
    """An attribute or a type that is written in the rule, or a tuple of types."""

    value: Attribute | tuple[Attribute, ...]

    def get(self, match: Match) -> Any:
        return self.value


@dataclass(frozen=True)
class Taken:
    """
    The thing that `key` is bound to, or the part of it that `take` names: a result, the results, the type, the types.
    """

    key: str
    take: str = "itself"
    place: int = 0

    def get(self, match: Match) -> Any:
        return argument(match.bound[self.key], self.take, self.place)


@dataclass(frozen=True)
class Joined:
    """The things of several sources in a row."""

    parts: tuple[Source, ...]

    def get(self, match: Match) -> Any:
        return tuple(thing for part in self.parts for thing in as_list(part.get(match)))


@dataclass(frozen=True)
class TypeOfReplaced:
    """The type of a result that is replaced, by its number among those of all roots."""

    place: int

    def get(self, match: Match) -> Any:
        return match.replaced[self.place].type


Source = Known | Taken | Joined | TypeOfReplaced


def as_list(thing: Any) -> Sequence[Any]:
    """Returns one or several things as a list, where an op stands for its results."""
    if isinstance(thing, tuple):
        return thing
    return values_of(thing) if isinstance(thing, Operation) else (thing,)


@dataclass(frozen=True)
class Make:
    """A new op. Its types are `types`, else those of the op bound to `like`, else inferred."""

    key: str
    name: str
    operands: tuple[Source, ...]
    attributes: tuple[tuple[str, Source], ...]
    types: tuple[Source, ...] | None
    like: str | None = None

    def run(self, match: Match) -> bool:
        operands = [value for source in self.operands for value in as_list(source.get(match))]
        attributes = {name: source.get(match) for name, source in self.attributes}
        types: list[Attribute] | None = None
        if self.types is not None:
            types = [type_ for source in self.types for type_ in as_list(source.get(match))]
        elif self.like is not None:
            types = [result.type for result in match.bound[self.like].results]
        try:
            match.bound[self.key] = match.create(self.name, operands, types, attributes)
        except VerifyException as error:
            message = f"rule '{match.rule.name}' makes an invalid '{self.name}': {error}"
            raise OperationError(match.root, message) from error
        return True


@dataclass(frozen=True)
class Call:
    """
    The values that a named builder makes. There are `count` of them or any number. With `as_op` it is the op that has
    them.
    """

    key: str
    builder: str
    arguments: tuple[Source, ...]
    parameters: tuple[tuple[str, Attribute], ...]
    count: int | None
    as_op: bool = False

    def run(self, match: Match) -> bool:
        given = [source.get(match) for source in self.arguments]
        function = BUILDERS[self.builder]
        made = function(match, *given, **plain_parameters(function, self.parameters))
        if made is None:
            return False
        values = tuple(made)
        if self.as_op:
            match.bound[self.key] = self._op_of(match, values)
            return True
        if self.count is not None and len(values) != self.count:
            message = (
                f"rule '{match.rule.name}' wants {self.count} values of '{self.builder}', which made {len(values)}"
            )
            raise OperationError(match.root, message)
        match.bound[self.key] = values
        return True

    def _op_of(self, match: Match, values: tuple[SSAValue, ...]) -> Operation:
        owner = values[0].owner if values else None
        if not isinstance(owner, Operation) or tuple(owner.results) != values:
            message = f"rule '{match.rule.name}' wants an op of '{self.builder}', which made no single op"
            raise OperationError(match.root, message)
        return owner


class Step(Protocol):
    """A step that makes something and binds it."""

    def run(self, match: Match) -> bool:
        """Returns false to decline the whole replacement."""
        ...


@dataclass(frozen=True)
class PdlRewrite:
    """
    The body of a `pdl.rewrite` as the callback of a rule. It makes the values that replace the root and the further
    roots.

    It declines where a matched value of another type would replace a result, since a rule never changes a type.
    """

    steps: tuple[Step, ...]
    values: Source

    def __call__(self, match: Match) -> tuple[SSAValue, ...] | None:
        if not all(step.run(match) for step in self.steps):
            return None
        values = tuple(as_list(self.values.get(match)))
        if len(values) != len(match.replaced):
            return values  # which the driver refuses
        new = set(match.new_ops)
        for value, result in zip(values, match.replaced, strict=True):
            if value is result or (value.type != result.type and value.owner not in new):
                return None
        return values


__all__ = [
    "Call",
    "Joined",
    "Known",
    "Make",
    "PdlRewrite",
    "Source",
    "Step",
    "Taken",
    "TypeOfReplaced",
    "as_list",
]
