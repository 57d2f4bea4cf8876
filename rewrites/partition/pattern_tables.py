"""
Registers what external code generators support: predicates per target and op, and pattern tables.

```python
@supported("graph.add", "graph.relu", target="dsp")
def small(op: Operation) -> bool | str:
    return len(op.results[0].type.get_shape()) < 4 or "has more than three dimensions"
```

A pattern table is a list of named patterns in order of priority: the file `tables/<name>.mlir`, any other file of
rules, a list registered in Python, or the extension kind `pattern-table` of a package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ...core.codegens import note_registration
from ...core.messages.diagnostics import did_you_mean
from ...core.plugins import registry
from ...core.roles import COMPOSITE
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import is_constant_op
from ...patterns.language.match import Match, Session
from ...patterns.language.rules import Rule
from ...patterns.language.shown import in_full
from ...patterns.matching.compiled_rule import CompiledRule, compile_rule
from ...patterns.matching.groups import covered_ops
from ...patterns.text.loading import rules_of_file, rules_of_text

DEFAULT = "default"
"""The target that takes every op, which is Stepwell itself. Its ops have no attribute."""

TARGET_EXTENSION, TABLE_EXTENSION = "external-target", "pattern-table"

_PACKAGE = __name__.rpartition(".")[0]

Support = Callable[[Operation], bool | str]
"""The answer to the question whether a target computes an op. A text is the reason why not."""

_PREDICATES: dict[str, dict[str, Support]] = {}
_TABLES: dict[str, tuple[PatternEntry, ...]] = {}


@dataclass(frozen=True)
class PatternContext:
    """
    The object that a check of a pattern gets: the match, its ops (producers first), the values that they take from
    outside, and the ops that use its results. `context[pattern]` is the value that a part of the pattern stands for.
    """

    match: Match
    ops: tuple[Operation, ...]
    inputs: tuple[SSAValue, ...]
    users: tuple[Operation, ...]

    def __repr__(self) -> str:
        return f"<stepwell.PatternContext of {self.match!r}, {len(self.ops)} ops>"

    def __getitem__(self, pattern: object) -> SSAValue:
        return self.match[pattern]  # pyright: ignore[reportArgumentType]


PatternCheck = Callable[[PatternContext], bool | str]


@dataclass(frozen=True)
class PatternEntry:
    """A pattern of a table, as a rule without a replacement. `check` returns `True`, `False` or the reason why not."""

    rule: Rule
    check: PatternCheck | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The name of the pattern."""
        return self.rule.name


def supported(*names: str, target: str) -> Callable[[Support], Support]:
    """Registers a predicate for ops, or composite functions, of these names. The last one for a name counts."""

    def register(predicate: Support) -> Support:
        for name in names:
            _PREDICATES.setdefault(target, {})[name] = predicate
            note_registration(f"target {target} {name}", predicate)
        return predicate

    return register


def register_pattern_table(name: str, entries: Iterable[PatternEntry | Rule]) -> None:
    """Makes a table known by its name in this process. It replaces a registered one of that name."""
    _TABLES[name] = _entries(name, entries)
    parts = [part for entry in _TABLES[name] for part in (entry.check, entry.rule.callback)]
    note_registration(f"table {name} {[in_full(entry.rule) for entry in _TABLES[name]]}", *parts)


def _entries(name: str, entries: Iterable[PatternEntry | Rule]) -> tuple[PatternEntry, ...]:
    found = tuple(each if isinstance(each, PatternEntry) else PatternEntry(each) for each in entries)
    seen: set[str] = set()
    for entry in found:
        if entry.name in seen:
            raise PassFailedException(f"pattern table '{name}' has two patterns called '{entry.name}'")
        if entry.rule.also:
            raise PassFailedException(
                f"pattern '{entry.name}' of table '{name}' has several roots, expected one; use partition-pattern"
            )
        seen.add(entry.name)
    return found


def pattern_table(name: str, ctx: Context) -> tuple[PatternEntry, ...]:
    """
    The patterns of a table: registered, shipped, of a package, or of the file `name`.

    Raises `PassFailedException` naming the tables there are, `StepwellError` for a file that is not valid.
    """
    if name in _TABLES:
        return _TABLES[name]
    if name in shipped_tables():
        return _shipped(name)
    loaders = registry().extensions_of(TABLE_EXTENSION)
    if name in loaders:
        return _entries(name, loaders[name]())
    if name.endswith(".mlir") or "/" in name or Path(name).is_file():
        return _entries(name, rules_of_file(name, ctx))
    known = table_names()
    hint = did_you_mean(name, known)
    raise PassFailedException(
        f"there is no pattern table '{name}'{'' if hint is None else ', ' + hint}; there is {', '.join(known)}"
    )


def table_names() -> list[str]:
    """Returns the names of all tables but files."""
    return sorted({*_TABLES, *shipped_tables(), *registry().extensions_of(TABLE_EXTENSION)})


@lru_cache(maxsize=1)
def shipped_tables() -> tuple[str, ...]:
    """Returns the names of the tables that Stepwell ships."""
    folder = files(_PACKAGE).joinpath("tables")
    names = (each.name for each in folder.iterdir())
    return tuple(sorted(name.removesuffix(".mlir") for name in names if name.endswith(".mlir")))


@lru_cache(maxsize=32)
def _shipped(name: str) -> tuple[PatternEntry, ...]:
    text = files(_PACKAGE).joinpath("tables", f"{name}.mlir").read_text(encoding="utf-8")
    return _entries(name, rules_of_text(text, f"{name}.mlir"))


def compiled_entries(entries: Sequence[PatternEntry]) -> list[tuple[PatternEntry, CompiledRule]]:
    """Returns the patterns, ready to match. What a rule of the table would make is left out."""
    return [(entry, compile_rule(replace(entry.rule, rhs=()))) for entry in entries]


class CodeGenerator:
    """A code generator as `annotate-target` asks it: Python predicates by name, else the table of its name."""

    def __init__(self, name: str, ctx: Context, session: Session):
        self.name = name
        self._predicates = dict(_PREDICATES.get(name, {}))
        loaders = registry().extensions_of(TARGET_EXTENSION)
        if name in loaders:
            self._predicates = {**loaders[name](), **self._predicates}
        known = sorted({*_PREDICATES, *loaders, *table_names()})
        if not self._predicates and name not in known:
            hint = did_you_mean(name, known)
            raise PassFailedException(
                f"annotate-target: there is no target '{name}'{'' if hint is None else ', ' + hint};"
                f" there is {', '.join([*known, DEFAULT])}"
            )
        entries = pattern_table(name, ctx) if name in table_names() else ()
        self._compiled = compiled_entries(entries)
        self._names = {entry.name for entry in entries}
        self._session = session

    def supports(self, op: Operation, composite: str | None) -> bool | str:
        """Returns whether the target computes `op`. A call of a composite function goes by the name of that."""
        name = op.name if composite is None else composite
        if name in self._predicates:
            return self._predicates[name](op)
        if composite is not None:
            return composite in self._names
        return any(self._matches_alone(entry, compiled, op) for entry, compiled in self._compiled)

    def _matches_alone(self, entry: PatternEntry, compiled: CompiledRule, op: Operation) -> bool:
        if compiled.names and op.name not in compiled.names:
            return False
        match = compiled.match(op, self._session)
        if not match.matched:
            return False
        ops = [each for each in covered_ops(compiled.rule.lhs, match) if not is_constant_op(each)]
        return ops == [op] and _accepts(entry, match, [op])

    def attribute(self) -> StringAttr:
        return StringAttr(self.name)


def _accepts(entry: PatternEntry, match: Match, ops: Sequence[Operation]) -> bool:
    return why_refused(entry, match, ops, ()) is None


def why_refused(entry: PatternEntry, match: Match, ops: Sequence[Operation], inputs: Sequence[SSAValue]) -> str | None:
    """Returns the reason of the check of `entry`, or `None` when it takes the match."""
    if entry.check is None:
        return None
    users = dict.fromkeys(use.operation for result in match.root.results for use in result.uses)
    verdict = entry.check(PatternContext(match, tuple(ops), tuple(inputs), tuple(users)))
    if isinstance(verdict, str):
        return verdict
    return None if verdict else f"the check of '{entry.name}' refuses it"


def composite_name(op: Operation, functions: dict[str, func.FuncOp]) -> str | None:
    """Returns the name of the pattern whose function `op` calls, or `None` when it calls none."""
    if not isinstance(op, func.CallOp) or (callee := functions.get(op.callee.string_value())) is None:
        return None
    name = callee.attributes.get(COMPOSITE)
    return name.data if isinstance(name, StringAttr) else None


def text_attribute(op: Operation, name: str) -> str | None:
    """Returns the text of a discardable attribute."""
    found: Attribute | None = op.attributes.get(name)
    return found.data if isinstance(found, StringAttr) else None
