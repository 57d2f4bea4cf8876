"""
Origins: all that an op was made from, as one location.

An op of a source has the location of its line or of its ONNX node. An op that stands for several has the fused location
of theirs, `fused<["rule"]>["a.mlir":1:2, "a.mlir":3:2]`, whose metadata names the rules that led to it. Fused locations
are flat, and name each origin once. See docs/decisions/047-fused-locations.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from ..attributes import unchecked
from .locations import source_point
from .points import SourcePoint

# pyright: reportPrivateUsage=false
# Each property of xDSL costs a call, and `inherit` looks at all ops several times.

LARGEST: Final = 64
"""The number of parts up to which a fused location is taken apart when it is fused again, so that chains stay cheap."""

_NO_RULES: Final = NoneAttr()


class Origin(NamedTuple):
    """
    What a location names: a place, and for a node of a model its name and the type of its operator.

    `name` and `operator` are empty for lines of text.
    """

    point: SourcePoint | None
    name: str = ""
    operator: str = ""

    def __str__(self) -> str:
        place = "an unknown place" if self.point is None else str(self.point)
        if not self.name:
            return place
        return f"node '{self.name}' ({self.operator}) at {place}" if self.operator else f"'{self.name}' at {place}"


def fuse(locations: Iterable[Attribute], rule: str | None = None) -> LocationAttr:
    """
    Returns the location of what was made from the ops at `locations`, by `rule` if one is given.

    Unknown locations are left out. One that is left alone is returned as it is, unless a rule must be noted.
    """
    parts: dict[int, Attribute] = {}
    rules: dict[str, None] = {}
    for location in locations:
        if isinstance(location, FusedLoc):
            rules.update(dict.fromkeys(_named_rules(location)))
            inner = _parts(location)
            if len(inner) <= LARGEST:
                parts.update((id(each), each) for each in inner)
                continue
        if not isinstance(location, UnknownLoc):
            parts[id(location)] = location
    if rule is not None:
        rules[rule] = None
    if not parts:
        return UNKNOWN_LOC
    if len(parts) == 1 and not rules:
        return next(iter(parts.values()))  # pyright: ignore[reportReturnType]
    return _fused(tuple(parts.values()), _rule_names(tuple(rules)) if rules else _NO_RULES)


def _fused(parts: tuple[Attribute, ...], rules: Attribute) -> FusedLoc:
    """Makes the attribute without its verifiers, which take 70 µs per part."""
    return unchecked(FusedLoc, locations=unchecked(ArrayAttr, data=parts), metadata=rules)


@lru_cache(maxsize=1024)
def _rule_names(names: tuple[str, ...]) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(name) for name in names])


def _parts(location: FusedLoc) -> tuple[Attribute, ...]:
    return location.locations.data if isinstance(location.locations, ArrayAttr) else ()


def _named_rules(location: FusedLoc) -> Iterator[str]:
    metadata = location.metadata
    if isinstance(metadata, ArrayAttr):
        yield from (each.data for each in metadata.data if isinstance(each, StringAttr))
    elif isinstance(metadata, StringAttr):
        yield metadata.data


def origins_of(location: Attribute) -> list[Origin]:
    """Returns what `location` names, each once, in the order in which it was fused. It is empty for an unknown one."""
    return list(dict.fromkeys(_origins(location)))


def _origins(location: Attribute) -> Iterator[Origin]:
    seen: set[int] = set()
    waiting = [location]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, FusedLoc):
            waiting.extend(reversed(_parts(each)))
        elif isinstance(each, CallSiteLoc):
            waiting.append(each.caller if isinstance(each.callee, UnknownLoc) else each.callee)
        elif isinstance(each, NameLoc):
            yield _named(each)
        elif isinstance(each, FileLineColLoc):
            yield Origin(source_point(each))


def _named(location: NameLoc) -> Origin:
    """Returns what a name stands for. A name inside a name is the type of the operator, as the importer writes it."""
    inner = location.location
    operator = inner.desc.data if isinstance(inner, NameLoc) else ""
    return Origin(source_point(location), location.desc.data, operator)


def first_origin(location: Attribute) -> Origin | None:
    """Returns the first thing with a place that `location` names, the one that messages point at."""
    return next((origin for origin in _origins(location) if origin.point is not None), None)


def node_of(op: Operation) -> str:
    """Returns `node '/layer/Gather' (Gather)`, the node of a model that `op` comes from first, empty for other ops."""
    enclosing: Operation | None = op
    while enclosing is not None and source_point(enclosing.location) is None:
        enclosing = enclosing.parent_op()
    first = None if enclosing is None else first_origin(enclosing.location)
    return f"node '{first.name}' ({first.operator})" if first is not None and first.operator else ""


def rules_of(location: Attribute) -> list[str]:
    """Returns the names of the rules and merges that a location has been through, in order."""
    found: dict[str, None] = {}
    seen: set[int] = set()
    waiting = [location]
    while waiting:
        each = waiting.pop()
        if isinstance(each, FusedLoc) and id(each) not in seen:
            seen.add(id(each))
            found.update(dict.fromkeys(_named_rules(each)))
            waiting.extend(reversed(_parts(each)))
    return list(found)


class Shared:
    """
    Ops that come to stand for more and more others. Their locations are fused at the end, so that a kernel of a hundred
    nodes costs as much as a hundred kernels of one.
    """

    def __init__(self) -> None:
        self._found: dict[Operation, list[Attribute]] = {}

    def add(self, op: Operation, location: Attribute) -> None:
        """Notes that `op` stands for what is at `location` too."""
        found = self._found.get(op)
        if found is None:
            self._found[op] = found = list[Attribute]((op.location,))
        if found[-1] is not location:
            found.append(location)

    def settle(self) -> None:
        """Gives all ops their fused locations. Ops that stand for the same share one attribute."""
        made: dict[tuple[int, ...], LocationAttr] = {}
        for op, found in self._found.items():
            key = tuple(map(id, found))
            if key not in made:
                made[key] = fuse(found)
            op.location = made[key]
        self._found.clear()


def inherit(scope: Operation) -> None:
    """
    Gives each op inside `scope` that has no location that of the nearest op around it.

    Passes that make many ops of a nest, which all stand for what the nest computes, call this at their end.
    """
    waiting = [scope]
    while waiting:
        outer = waiting.pop()
        for region in outer.regions:
            block = region._first_block
            while block is not None:
                op = block._first_op
                while op is not None:
                    if type(op.location) is UnknownLoc:
                        op.location = outer.location
                    if op.regions:
                        waiting.append(op)
                    op = op._next_op
                block = block._next_block


def unknown_ops(module: Operation) -> list[Operation]:
    """Returns the ops in `module` whose location names nothing."""
    return [op for op in module.walk() if not origins_of(op.location)]


__all__ = ["Origin", "Shared", "first_origin", "fuse", "inherit", "node_of", "origins_of", "rules_of", "unknown_ops"]
