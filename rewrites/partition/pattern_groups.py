"""The matches of a table of patterns in a function, and the choice among those that overlap."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from ...core.messages.diagnostics import emit_remark
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import is_constant_op
from ...patterns.language.match import Session
from ...patterns.matching.compiled_rule import CompiledRule
from ...patterns.matching.groups import Outside, covered_ops, input_values
from ...patterns.running.driver import (
    program_order,
    remark_text,  # pyright: ignore[reportPrivateUsage]
)
from .annotate_target import can_be_external
from .pattern_tables import PatternEntry, compiled_entries, why_refused


@dataclass(frozen=True, eq=False)
class Group:
    """A match that is to be a function: its ops, the root last, the constants that its pattern names, its inputs."""

    entry: PatternEntry
    ops: tuple[Operation, ...]
    constants: tuple[Operation, ...]
    inputs: tuple[SSAValue, ...]


class GroupFinder:
    """Finds the groups of one function. It changes nothing."""

    def __init__(self, function: func.FuncOp, session: Session):
        self._session = session
        self._roots = list(reversed(program_order(function)))
        self._group_of: dict[Operation, Group] = {}

    def find(self, entries: Sequence[PatternEntry], *, larger_wins: bool = True) -> list[Group]:
        """
        The groups, in program order of their roots. Patterns are tried in their order, roots from the last op upwards.

        What an earlier match has taken stays taken, unless `larger_wins` and the later match contains it all.
        """
        for entry, compiled in compiled_entries(entries):
            for root in self._roots:
                if root.results and (not compiled.names or root.name in compiled.names):
                    group = self._match(entry, compiled, root)
                    if group is not None:
                        self._take(group, larger_wins)
        found = {self._group_of[op]: None for op in reversed(self._roots) if op in self._group_of}
        position = {op: number for number, op in enumerate(reversed(self._roots))}
        return sorted(found, key=lambda group: position[group.ops[-1]])

    def _match(self, entry: PatternEntry, compiled: CompiledRule, root: Operation) -> Group | None:
        match = compiled.match(root, self._session)
        if not match.matched:
            for remark, about in match.remarks:
                emit_remark(root, remark_text(remark, about))
            return None
        covered = covered_ops(compiled.rule.lhs, match)
        ops = [op for op in covered if not is_constant_op(op)]
        if not ops or ops[-1] is not root:
            return None
        constants = tuple(op for op in covered if is_constant_op(op))
        inputs = tuple(input_values(compiled.rule.lhs, match, covered))
        reason = self._why_not(ops) or why_refused(entry, match, ops, inputs)
        if reason is not None:
            emit_remark(root, f"not '{entry.name}': {reason}")
            return None
        return Group(entry, tuple(ops), constants, inputs)

    def _why_not(self, ops: list[Operation]) -> str | None:
        root = ops[-1]
        for op in ops:
            if op.parent is not root.parent:
                return f"'{op.name}' is in another block"
            if not can_be_external(op, self._session):
                return f"'{op.name}' may fail or has an effect"
        outside = Outside(ops)
        escaping = outside.escape()
        if escaping is not None:
            return f"'{escaping.name}' is used outside the match"
        if outside.shared:
            return f"it would depend on itself: '{outside.shared[0].name}' is used outside on the way back into it"
        return None

    def _take(self, group: Group, larger_wins: bool) -> None:
        rivals = list(dict.fromkeys(self._group_of[op] for op in group.ops if op in self._group_of))
        inside = set(group.ops)
        for rival in rivals:
            if not larger_wins or not inside.issuperset(rival.ops) or len(inside) == len(rival.ops):
                if not set(rival.ops).issuperset(inside):
                    emit_remark(
                        group.ops[-1], f"not '{group.entry.name}': it shares an op with a match of '{rival.entry.name}'"
                    )
                return
        self._group_of |= dict.fromkeys(group.ops, group)
