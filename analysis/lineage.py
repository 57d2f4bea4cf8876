"""
Lineage: from which ops of the source an op was made and by which rules, and what became of an op of the source.

All of it stands in the locations of ops (`core/messages/origins.py`), so it is asked of any program on any level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import Attribute, Operation

from ..core.ir.walk import walk
from ..core.messages.origins import Origin, origins_of, rules_of
from ..lazy_dataclass import dataclass


@dataclass(frozen=True)
class Lineage:
    """The chain of origins of an op: the ops of the source that it was made from, and the rules that led to it."""

    origins: tuple[Origin, ...]
    rules: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Lineage of {len(self.origins)} origins and {len(self.rules)} rules>"

    def meets(self, origins: Iterable[Origin]) -> bool:
        """Returns whether it has one of `origins`."""
        return not set(self.origins).isdisjoint(origins)


class Lineages:
    """
    The chains of origins of the ops of a program: `of(op)`, each in the order in which it was fused.

    Ops share locations, so each location is read once. One object serves several programs that stand for the same
    source, such as a program before and after a pass.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Attribute, Lineage]] = {}
        """By the `id` of a location. The location is kept, so no other one gets its `id`."""

    def __repr__(self) -> str:
        return f"<Lineages of {len(self._known)} locations>"

    def of(self, op: Operation) -> Lineage:
        """Returns the chain of origins of one op, the ops inside it not counted."""
        return self.at(op.location)

    def at(self, location: Attribute) -> Lineage:
        """Returns the chain of origins that a location names."""
        known = self._known.get(id(location))
        if known is None:
            lineage = Lineage(tuple(origins_of(location)), tuple(rules_of(location)))
            self._known[id(location)] = known = (location, lineage)
        return known[1]

    def of_all(self, ops: Iterable[Operation]) -> Lineage:
        """Returns the origins and rules of several ops, each once. Ops inside of them count where they are given."""
        origins: dict[Origin, None] = {}
        rules: dict[str, None] = {}
        for lineage in map(self.of, ops):
            origins.update(dict.fromkeys(lineage.origins))
            rules.update(dict.fromkeys(lineage.rules))
        return Lineage(tuple(origins), tuple(rules))

    def by_origin(
        self, program: Operation, wanted: Callable[[Operation], bool] = lambda op: True
    ) -> dict[Origin, list[Operation]]:
        """
        Returns the ops in `program` that were made from each op of the source, in the order of the program.

        An op that stands for several is in the list of each. With this, programs that come from one source are
        aligned: what is at the same origin in both belongs together.
        """
        found: dict[Origin, list[Operation]] = {}
        for op in walk(program):
            if op is not program and wanted(op):
                for origin in self.of(op).origins:
                    found.setdefault(origin, []).append(op)
        return found


def path_of(origin: Origin) -> tuple[str, ...]:
    """
    Returns where an origin stands in the hierarchy of a model, its own name last: `/encoder/layer.0/MatMul` is
    `("encoder", "layer.0", "MatMul")`.

    A line of text is in no hierarchy. Its place is its only name.
    """
    parts = tuple(part for part in origin.name.split("/") if part)
    return parts or (str(origin.point or origin),)


def common_path(paths: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Returns the part of the hierarchy that holds all `paths`, empty where only the whole program does."""
    found: tuple[str, ...] | None = None
    for path in paths:
        if found is None:
            found = path
            continue
        same = 0
        while same < min(len(found), len(path)) and found[same] == path[same]:
            same += 1
        found = found[:same]
    return found or ()


__all__ = ["Lineage", "Lineages", "common_path", "path_of"]
