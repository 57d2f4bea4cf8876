"""Times of a profile by what the kernels come from: nodes of a model, and the parts that their names make up."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.lineage import common_path
from ...lazy_dataclass import dataclass
from .calls import Call


@dataclass(frozen=True)
class NodeTime:
    """The time of the calls that compute the same nodes of a model, or lines of a program."""

    names: tuple[str, ...]
    """All that is computed by these calls: nodes that were fused into one kernel have one time."""
    kernels: tuple[str, ...]
    calls: int
    microseconds: float
    share: float
    """The part of the time of the whole run."""


@dataclass(frozen=True)
class ModuleTime:
    """The time of all calls in a part of a model, and in the parts of it."""

    path: tuple[str, ...]
    """The names of the parts from the outside in, empty for what is in no part or in several."""
    calls: int
    microseconds: float
    share: float


def by_node(calls: Sequence[Call], microseconds: float) -> tuple[NodeTime, ...]:
    """Returns the times by nodes, those that take longest first."""
    grouped: dict[tuple[str, ...], list[Call]] = {}
    for call in calls:
        grouped.setdefault((*call.nodes, *call.lines), []).append(call)
    found = [
        NodeTime(
            names,
            tuple(dict.fromkeys(call.kernel for call in own)),
            sum(call.calls for call in own),
            (took := sum(call.microseconds for call in own)),
            took / microseconds if microseconds > 0 else 0.0,
        )
        for names, own in grouped.items()
    ]
    return tuple(sorted(found, key=lambda each: (-each.microseconds, each.names)))


def by_module(calls: Sequence[Call], microseconds: float) -> tuple[ModuleTime, ...]:
    """
    Returns the times by part of the model: each part, then the parts of it, of which the longest is first.

    A call that computes nodes of several parts counts in the part that holds these. So the times of the outermost parts
    add up to those of all calls.
    """
    times: dict[tuple[str, ...], list[float]] = {}
    for call in calls:
        module = module_of(call)
        for depth in range(min(1, len(module)), len(module) + 1):
            sums = times.setdefault(module[:depth], [0, 0.0])
            sums[0] += call.calls
            sums[1] += call.microseconds
    order = sorted(times, key=lambda path: [(-times[path[: n + 1]][1], path[n]) for n in range(len(path))])
    # What is in no part comes last.
    order = [*(path for path in order if path), *(path for path in order if not path)]
    return tuple(
        ModuleTime(
            path, int(times[path][0]), times[path][1], times[path][1] / microseconds if microseconds > 0 else 0.0
        )
        for path in order
    )


def module_of(call: Call) -> tuple[str, ...]:
    """Returns the part of the model that holds all that a call computes."""
    paths = [tuple(part for part in name.split("/") if part) for name in call.nodes]
    return () if call.lines else common_path(path[:-1] for path in paths)


def node_rows(times: Sequence[NodeTime]) -> list[tuple[str, ...]]:
    """Returns the rows of a table by node. Further nodes of a call have rows of their own, without numbers."""
    rows: list[tuple[str, ...]] = [("node", "kernel", "calls", "µs", "share")]
    for each in times:
        first, *others = each.names or ("(unknown)",)
        kernels = each.kernels[0] if len(each.kernels) == 1 else f"{len(each.kernels)} kernels"
        rows.append((first, kernels, str(each.calls), f"{each.microseconds:.1f}", f"{each.share:.1%}"))
        rows += [(f"+ {name}", "", "", "", "") for name in others]
    return rows


def module_rows(times: Sequence[ModuleTime]) -> list[tuple[str, ...]]:
    """Returns the rows of a table by part of the model, indented as the parts are."""
    rows: list[tuple[str, ...]] = [("part of the model", "calls", "µs", "share")]
    for each in times:
        name = "  " * (len(each.path) - 1) + each.path[-1] if each.path else "(in no part, or in several)"
        rows.append((name, str(each.calls), f"{each.microseconds:.1f}", f"{each.share:.1%}"))
    return rows
