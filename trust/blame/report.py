"""What `--blame` and `--became` print: what a part was made from, by which rules, and what it is now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from xdsl.dialects.builtin import ModuleOp

from ...core.ir.walk import walk
from ...core.messages.diagnostics import shorten
from ...core.messages.origins import Origin
from ...core.messages.points import SourcePoint
from ...runtime.native.emit_assembly import shown_places
from ...runtime.native.listing import instructions_by_place
from .history import FEW, Applied, Form, History, Step, kinds, symbol_of
from .naming import Named

MOST_ORIGINS: Final = 6
MOST_STEPS: Final = 12
MOST_FUNCTIONS: Final = 3
WIDTH: Final = 120
ARROW: Final = " → "


def blame(history: History, named: Named) -> str:
    """Returns from what `named`, a part of the finished program, was made."""
    return "\n".join(_lines(history, named, "made from"))


def became(history: History, module: ModuleOp, named: Named, listing: str = "") -> str:
    """Returns what became of `named`, a part of the source. `listing` is the assembly, where that is asked for."""
    origins = named.lineage.origins
    code = _code(listing, origins, shown_places(module)) if listing else []
    return "\n".join([*_lines(history, named, "source"), *_now(history, module, origins), *code])


def _lines(history: History, named: Named, title: str) -> list[str]:
    origins = named.lineage.origins
    return [named.title, title, *_origins(history, origins), *_steps(history, origins)]


def _clipped(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def _origins(history: History, origins: Sequence[Origin]) -> list[str]:
    """Returns the lines about the ops of the source, each with its place."""
    shown = [(str(origin), ", ".join(_times(Counter(history.source[origin])))) for origin in origins[:MOST_ORIGINS]]
    width = max((len(place) for place, _ in shown), default=0)
    lines = [_clipped(f"  {place:{width}}  {names}".rstrip()) for place, names in shown]
    if len(origins) > MOST_ORIGINS:
        lines.append(f"  … and {len(origins) - MOST_ORIGINS} more ops of the source")
    return lines


def _times(counts: Counter[str]) -> list[str]:
    return [name if count == 1 else f"{count} {name}" for name, count in counts.items()]


def _steps(history: History, origins: Sequence[Origin]) -> list[str]:
    """Returns the lines about passes. Of many, those in the middle are left out."""
    steps = history.steps(origins)
    width = max(len(_pass(step)) for step in steps)
    lines: list[str] = []
    before: Form = {}
    for step in steps:
        text = _step(step, before, WIDTH - width - 4)
        lines.append(_clipped(f"  {_pass(step):{width}}  {text}".rstrip()))
        before = step.form
    if len(lines) > MOST_STEPS:
        left = len(lines) - MOST_STEPS + 1
        lines = [*lines[: MOST_STEPS // 2], f"  … {left} more passes", *lines[-(MOST_STEPS - MOST_STEPS // 2 - 1) :]]
    return ["by", *lines]


def _pass(step: Step) -> str:
    return step.pass_.partition("{")[0] or "(source)"


def _step(step: Step, before: Form, room: int) -> str:
    parts: list[str] = []
    if step.applied:
        parts.append(", ".join(_applied(step.applied)))
        room -= len(parts[0]) + len(ARROW)
    known, new = kinds(before), kinds(step.form)
    changed = {name: ops for name, ops in step.form.items() if known.get(name) != new[name]}
    if changed or not step.form:
        parts.append(_form(changed, room))
    elif gone := [f"@{name}" for name in known if name not in new]:
        parts.append(f"nothing in {', '.join(gone[:MOST_FUNCTIONS])} any more")
    return ARROW.join(parts)


def _applied(applied: Sequence[Applied]) -> list[str]:
    counts = Counter(map(str, applied))
    shown = [name if count == 1 else f"{name} ({count}x)" for name, count in counts.most_common(MOST_FUNCTIONS)]
    rest = len(counts) - len(shown)
    return [*shown, f"{rest} others"] if rest else shown


def _form(form: Form, room: int) -> str:
    """Returns the ops of a form in at most `room` characters, the functions with most ops first."""
    if not form:
        return "nothing"
    functions = sorted(form.items(), key=lambda item: -item[1].total())
    texts = [f"{_ops(ops)} in @{name}" if name else _ops(ops) for name, ops in functions]
    shown = min(len(texts), MOST_FUNCTIONS)
    while shown > 1 and len(_listed(texts, shown)) > room:
        shown -= 1
    return _listed(texts, shown)


def _listed(texts: Sequence[str], shown: int) -> str:
    """Returns the first `shown` of `texts`, and how many more functions there are."""
    rest = len(texts) - shown
    more = [f"{rest} more function{'s' if rest > 1 else ''}"] if rest else []
    return "; ".join([*texts[:shown], *more])


def _ops(ops: Counter[str]) -> str:
    if len(ops) <= FEW:
        return ", ".join(_times(ops))
    dialects = sorted({name.partition(".")[0] for name in ops})
    return f"{ops.total()} ops of {', '.join(dialects)}"


def _now(history: History, module: ModuleOp, origins: Sequence[Origin]) -> list[str]:
    """Returns the lines about the functions of the finished program that have ops made from these."""
    rows: list[tuple[str, str]] = []
    for top in module.body.block.ops:
        ops = [op for op in walk(top) if op is not top]
        own = [op for op in ops if history.lineages.of(op).meets(origins)]
        if own:
            others = [each for each in history.lineages.of(top).origins if each not in origins]
            shared = f", with {_some(others)}" if others else ""
            rows.append((f"@{symbol_of(top)}", f"{len(own)} of {len(ops)} ops{shared}"))
    rows.sort(key=lambda row: -int(row[1].partition(" ")[0]))
    width = max((len(name) for name, _ in rows), default=0)
    lines = [_clipped(f"  {name:{width}}  {text}") for name, text in rows[:MOST_ORIGINS]]
    if len(rows) > MOST_ORIGINS:
        lines.append(f"  … and {len(rows) - MOST_ORIGINS} more functions")
    return ["now", *(lines or ["  nothing: it was folded, merged into others or not used"])]


def _code(listing: str, origins: Sequence[Origin], shown: Callable[[SourcePoint], str]) -> list[str]:
    """Returns the lines about the instructions that come from these ops first, by function of the assembly."""
    points = {origin.point for origin in origins if origin.point is not None}
    places = {shown(each) for point in points for each in (point, point._replace(column=0))}
    rows: list[tuple[int, str, int]] = []
    for function, counts in instructions_by_place(listing).items():
        if own := sum(count for place, count in counts.items() if place in places):
            rows.append((own, function, sum(counts.values())))
    rows.sort(reverse=True)
    width = max((len(function) for _, function, _ in rows), default=0)
    lines = [f"  {function:{width}}  {own} of {total} instructions" for own, function, total in rows[:MOST_ORIGINS]]
    return ["machine code", *(lines or ["  no instruction comes from it first"])]


def _some(origins: Sequence[Origin]) -> str:
    shown = ", ".join(_short(each) for each in origins[:MOST_FUNCTIONS])
    rest = len(origins) - MOST_FUNCTIONS
    return f"{shown} and {rest} more" if rest > 0 else shown


def _short(origin: Origin) -> str:
    return shorten(origin.name or str(origin), 60, 1)
