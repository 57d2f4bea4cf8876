"""The history of a program: what each pass applied, and which ops stood for which ops of the source after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Final

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...analysis.lineage import Lineage, Lineages
from ...core.ir.walk import walk
from ...core.messages.origins import Origin
from ...core.passes.applications import FUNCTION
from ...core.passes.instrument import Instrument
from ...lazy_dataclass import dataclass

MAY_CHANGE: Final = "loops"
"""The kind of application that lets a pass change a function. What it did shows in the ops only."""

Form = Mapping[str, Counter[str]]
"""The ops that stand for something, by function: how many there are of each name."""

_Counts = Counter[tuple[str, str, int]]
"""The number of ops by function, name, and `id` of their location."""


@dataclass(frozen=True)
class Applied:
    """Something that a pass applied: a rule, a merge, a decision, a lowering. `lineage` is that of its op."""

    kind: str
    name: str
    lineage: Lineage

    def __str__(self) -> str:
        return f"{self.kind} '{self.name}'"


@dataclass(frozen=True)
class Step:
    """What a pass made of some ops of the source: what it applied to them, and the ops that stand for them after it."""

    pass_: str
    applied: tuple[Applied, ...]
    form: Form


@dataclass
class History(Instrument):
    """
    Notes what each pass of a run does. `applied` watches `core.passes.applications.counting`, which goes on around it.

    Passes that a pass runs inside itself count as that pass.
    """

    lineages: Lineages = field(default_factory=Lineages)
    source: dict[Origin, list[str]] = field(default_factory=dict)
    """The names of the ops at each place of the source, before any pass."""
    _rows: list[tuple[str, tuple[Applied, ...], _Counts]] = field(default_factory=list)
    _found: list[Applied] = field(default_factory=list)
    _locations: dict[int, Lineage] = field(default_factory=dict)
    _depth: int = 0

    def applied(self, kind: str, name: str, op: Operation) -> None:
        """Notes an application, but for what a pass does to a whole function: its name says no more than the pass's."""
        if kind == FUNCTION:
            return
        self._found.append(Applied(kind, name, self.lineages.of(op)))

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        self._depth += 1
        if self._depth == 1:
            for origin, ops in self.lineages.by_origin(module).items():
                self.source[origin] = [op.name for op in ops]
            self._note("", module)

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        if self._depth == 1:
            self._note(str(pass_), module)

    def finish(self) -> None:
        self._depth = max(0, self._depth - 1)

    def _note(self, pass_: str, module: ModuleOp) -> None:
        counts: _Counts = Counter()
        for top in module.body.block.ops:
            function = symbol_of(top)
            for op in walk(top):
                lineage = self.lineages.of(op)
                self._locations[id(op.location)] = lineage
                counts[function, op.name, id(op.location)] += 1
        self._rows.append((pass_, tuple(self._found), counts))
        self._found.clear()

    def steps(self, origins: Collection[Origin]) -> list[Step]:
        """
        Returns what became of the ops of the source at `origins`, the source itself first.

        Passes that neither applied anything to them nor changed the kinds of the ops that stand for them are left out.
        """
        wanted = {key for key, lineage in self._locations.items() if lineage.meets(origins)}
        found: list[Step] = []
        rules: set[str] = set()
        for pass_, applied, counts in self._rows:
            form = _form(counts, wanted)
            own = tuple(each for each in applied if each.lineage.meets(origins) and each.kind != MAY_CHANGE)
            possible = None if not found else {each.name for each in applied} - {each.name for each in own} - rules
            own += self._noted(counts, wanted, possible)
            rules.update(each.name for each in own)
            if not found or own or kinds(form) != kinds(found[-1].form):
                found.append(Step(pass_, own, form))
        return found

    def _noted(self, counts: _Counts, wanted: Collection[int], possible: set[str] | None) -> tuple[Applied, ...]:
        """
        Returns the rules that began at another op, which they merged with one of these, so that the locations name
        them. They are among `possible`, those of the pass. In the source all rules are possible.
        """
        found: dict[str, Applied] = {}
        for location in {location for _, _, location in counts} & set(wanted):
            lineage = self._locations[location]
            rules = lineage.rules if possible is None else possible.intersection(lineage.rules)
            found.update((rule, Applied("rule", rule, lineage)) for rule in rules)
        return tuple(found[rule] for rule in sorted(found))


def _form(counts: _Counts, locations: Collection[int]) -> Form:
    found: dict[str, Counter[str]] = {}
    for (function, name, location), count in counts.items():
        if location in locations:
            found.setdefault(function, Counter())[name] += count
    for ops in found.values():
        for name in [name for name in ops if name.endswith(".func")]:
            if len(ops) > 1:  # Of a function, what is in it tells more.
                del ops[name]
    return found


FEW: Final = 4
"""The most kinds of ops that are told by name. Of more, their dialects are."""


def kinds(form: Form) -> dict[str, tuple[str, ...]]:
    """Returns what a form tells of each function: the names of a few ops, or the dialects of many."""
    found: dict[str, tuple[str, ...]] = {}
    for function, ops in form.items():
        names = tuple(ops)
        if len(names) > FEW:
            names = tuple(dict.fromkeys(name.partition(".")[0] for name in names))
        found[function] = tuple(sorted(names))
    return found


def symbol_of(op: Operation) -> str:
    """Returns the name of an op at the top of a module, empty for one without."""
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else ""
