"""The pass `merge-regions`: ops of one target that may become one function."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, Operation

from ...core.messages.diagnostics import emit_remark
from ...core.passes.base import StepwellPass
from ...core.roles import REGION, TARGET
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import Purity
from .annotate_target import open_functions
from .block_order import is_ordered, producers_in
from .pattern_tables import text_attribute


@dataclass(frozen=True)
class MergeRegionsPass(StepwellPass):
    """
    Numbers the regions that neighbours of one target form. They are as large as possible without depending on
    themselves.

    Ops of one block that use each other's results are merged in program order, unless something outside lies between
    them. When two ops are joined both directly and through an op of another target, only one side can be in a region.
    Branches and loop bodies have regions of their own. Existing numbers are replaced. Remarks tell where regions could
    not be merged.

    Before:
        %0 = graph.abs %x {graph.target = "dsp"} : …
        %1 = graph.relu %0 {graph.target = "dsp"} : …
        %2 = graph.tanh %0 : …
        %3 = graph.add %1, %2 {graph.target = "dsp"} : …
    After:
        %0 = graph.abs %x {graph.target = "dsp", graph.region = 0 : i64} : …
        %1 = graph.relu %0 {graph.target = "dsp", graph.region = 0 : i64} : …
        %2 = graph.tanh %0 : …
        %3 = graph.add %1, %2 {graph.target = "dsp", graph.region = 1 : i64} : …
    """

    name = "merge-regions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        purity = Purity(op)
        for function in open_functions(op):
            for block in blocks_below(function):
                regions = _Regions(block, purity)
                for inner in block.ops:
                    regions.add(inner)
                if number := regions.number_ops():
                    self.count("regions", number)


def blocks_below(scope: Operation) -> Iterator[Block]:
    """Yields every block inside `scope`, outer ones first."""
    for op in scope.walk():
        for region in op.regions:
            yield from region.blocks


class _Regions:
    """
    The regions of one block. A node is a region of a target, or a single op of none.

    `above[node]` is the set of regions that a node depends on, closed under dependence, as bits of an integer. The bits
    of all numbers of merged regions stay set together.
    """

    def __init__(self, block: Block, purity: Purity):
        self._block = block
        self._purity = purity
        self._ordered: Operation | None = None
        """The last op that must stay before the next of its kind."""
        self._node: dict[Operation, int] = {}
        self._merged_into: list[int] = []
        self._targets: list[str | None] = []
        self._above: list[int] = []
        self._own: list[int] = []
        """Returns the bits of a region: its own, and those of regions merged into it, none for an op of no target."""
        self._bits = 0

    def add(self, op: Operation) -> None:
        """Puts the next op of the block into a region, with those it uses where they may be merged."""
        target = text_attribute(op, TARGET)
        before = producers_in(op, self._block)
        if target is None and is_ordered(op, self._purity):
            before += [] if self._ordered is None else [self._ordered]
            self._ordered = op
        used = list(dict.fromkeys(self._find(self._node[each]) for each in before))
        allowed: list[int] = []
        for node in used:
            if target is None or self._targets[node] != target:
                continue
            if any(self._above[other] & self._own[node] for other in used if other != node):
                emit_remark(op, f"not merged with a region of '{target}': it would depend on itself")
            else:
                allowed.append(node)
        home = self._merged(allowed) if allowed else self._new_node(target)
        self._node[op] = home
        gained = 0
        for other in used:
            if other not in allowed:
                gained |= self._above[other] | self._own[other]
        self._depend(home, gained)

    def _find(self, node: int) -> int:
        while self._merged_into[node] != node:
            self._merged_into[node] = self._merged_into[self._merged_into[node]]
            node = self._merged_into[node]
        return node

    def _new_node(self, target: str | None) -> int:
        number = len(self._targets)
        self._merged_into.append(number)
        self._targets.append(target)
        self._above.append(0)
        self._own.append(0 if target is None else 1 << self._bits)
        self._bits += target is not None
        return number

    def _merged(self, regions: list[int]) -> int:
        """Merges several regions, none of which depends on another. Regions that depended on one now depend on all."""
        first, *others = sorted(regions)
        for other in others:
            self._merged_into[other] = first
            self._targets[other] = None
            both = self._own[first] | self._own[other]
            above = self._above[first] | self._above[other]
            for node, known in enumerate(self._above):
                if known & both:
                    self._above[node] = known | both | above
            self._own[first], self._above[first] = both, above
        return first

    def _depend(self, node: int, on: int) -> None:
        """Makes a node, and all that depends on it, depend on more regions."""
        if on & ~self._above[node] == 0:
            return
        self._above[node] |= on
        own = self._own[node]
        if own and node + 1 < len(self._above):  # nothing depends on the newest node yet
            for other, known in enumerate(self._above):
                if known & own:
                    self._above[other] = known | on

    def number_ops(self) -> int:
        """Writes the numbers of the regions of targets, in order of their first ops. Returns how many there are."""
        numbers: dict[int, int] = {}
        for op, node in self._node.items():
            op.attributes.pop(REGION, None)
            root = self._find(node)
            if self._targets[root] is not None:
                op.attributes[REGION] = IntegerAttr(numbers.setdefault(root, len(numbers)), i64)
        return len(numbers)
