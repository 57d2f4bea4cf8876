"""The pass `plan-fusion`, whose rules are in `fusion.mlir`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import PassFailedException

from ...core.messages.articles import with_article
from ...core.messages.diagnostics import emit_remark, remarks_wanted
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass, count
from ...dialects.traits import LoopSemantics, LoopTemplate
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import is_constant_op
from ...patterns.matching.tracing import value_name
from ...patterns.running.selection import check_known
from .groups import Group, Groups
from .plan import blocks_of, has_plan, planned_functions, read_plan, why_opaque, write_group
from .rules import Candidate, GroupRule, group_rules_of_file, shipped_group_rules
from .siblings import pairs

SHIPPED_FILE = "fusion.mlir"


@dataclass(frozen=True)
class PlanFusionPass(StepwellPass):
    """
    Marks which ops are to be one function: `graph.group` is the number of the group, `graph.group_reason` the rule.

    The rules are those of `file`, or the shipped ones without it. `rules` picks some by name. Every op that computes a
    tensor starts as its own group. A rule merges a producer, the groups between, and a consumer. A group has at most
    `max-ops` ops. Calls and other ops of unknown meaning are in no group, and constants stay outside. A function that
    has a valid plan already keeps it. Fused and partitioned functions are left alone. Remarks tell why neighbours stay
    apart.

    Before:
        %0 = graph.add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
        %1 = graph.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    After:
        %0 = graph.add %x, %b {graph.group = 0 : i64, graph.group_reason = "fuse-elementwise-into-elementwise"}
            : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
        %1 = graph.relu %0 {graph.group = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>

    Raises `StepwellError` for a file that cannot be read or has a rule that is not valid, and at an op where a plan
    that is there is not valid.
    """

    name = "plan-fusion"

    file: str = ""
    rules: tuple[str, ...] = ()
    max_ops: int = 256

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.max_ops < 1:
            raise PassFailedException(f"{self.name}: max-ops is {self.max_ops}, expected at least 1")
        functions = list(planned_functions(op))
        plain = not self.file and not self.rules
        # The rules need not even be read where no block has two ops before its last one.
        rules = [] if plain and not any(map(_has_neighbours, functions)) else self._selected(self._all_rules(ctx))
        for function in functions:
            if has_plan(function):
                read_plan(function)
                continue
            plan_function(function, rules, self.max_ops)

    def _all_rules(self, ctx: Context) -> tuple[GroupRule, ...]:
        if not self.file or (self.file == SHIPPED_FILE and not Path(self.file).exists()):
            return shipped_group_rules()
        return group_rules_of_file(self.file, ctx)

    def _selected(self, rules: Sequence[GroupRule]) -> list[GroupRule]:
        check_known(self.rules, [rule.name for rule in rules], self.name)
        return [rule for rule in rules if not self.rules or rule.name in self.rules]


def _has_neighbours(function: func.FuncOp) -> bool:
    """Returns whether a block of `function` has two ops that might be one group. The last op of a block is in none."""
    return any(
        block.first_op is not last and last.prev_op is not block.first_op
        for block in blocks_of(function)
        if (last := block.last_op) is not None
    )


def plan_function(function: func.FuncOp, rules: Sequence[GroupRule], max_ops: int) -> None:
    """Writes a plan for every block of `function`. The numbers of groups go on from block to block."""
    number = 0
    for block in blocks_of(function):
        planner = _Planner(block, rules, max_ops)
        planner.run()
        if remarks_wanted():
            planner.explain()
        for ops in planner.groups.members().values():
            write_group(ops, number, planner.reasons)
            number += 1


class _Planner:
    """Merges the groups of one block until no rule applies."""

    def __init__(self, block: Block, rules: Sequence[GroupRule], max_ops: int):
        self.groups = Groups(block)
        self.reasons: dict[Operation, str] = {}
        """The rule that made each former root of a group part of another group."""
        self._rules, self._max_ops = rules, max_ops

    def run(self) -> None:
        """
        Applies every rule to all groups, in the order of the rules, again while something changes.

        It goes from the first producers to the last, then back. A rule that lets one merge follow from another takes
        few rounds then, in whichever direction they follow. Rules that leave several results come last, because no
        other rule merges such a group again.
        """
        changed, forward = True, True
        first = [rule for rule in self._rules if not rule.several]
        while changed:
            changed = False
            for rule in first:
                found = list(self.groups)
                for group in found if forward else reversed(found):
                    if group.kind in rule.producer and self.groups.of(group.root) is group:
                        changed = self._apply(rule, group) or changed
            forward = not forward
        last = [rule for rule in self._rules if rule.several]
        changed = bool(last)
        while changed:
            changed = False
            for rule in last:
                changed = self._join(rule) or changed

    def _join(self, rule: GroupRule) -> bool:
        """Applies a rule that leaves several results, and returns whether it merged anything."""
        changed = False
        candidates = pairs(self.groups) if rule.is_of_siblings else self._neighbours()
        for producer, consumer in list(candidates):
            gone = self.groups.of(producer.root) is not producer or self.groups.of(consumer.root) is not consumer
            if gone or not rule.applies_to(producer.kind, consumer.kind):
                continue
            candidate = Candidate(self.groups, rule, producer, consumer.root, consumer, [])
            fits = candidate.failing() is None and self._size(candidate) <= self._max_ops
            if fits and allowed("fusion", rule.name, producer.root):
                changed = True
                self.reasons[producer.root] = rule.name
                self.groups.join(producer, consumer) if rule.is_of_siblings else self.groups.merge([producer], consumer)
                count(rule.name)
        return changed

    def _neighbours(self) -> Iterator[tuple[Group, Group]]:
        """Yields the groups before those with several results, each with one that uses it, the last ones first."""
        for producer in reversed(list(self.groups)):
            for user in self.groups.post_dominators.users(producer.root)[:1]:
                consumer = self.groups.of(user)
                if consumer is not None and len(consumer.results) > 1:
                    yield producer, consumer

    def _apply(self, rule: GroupRule, producer: Group) -> bool:
        """
        Merges `producer`, of a kind that the rule is for, into the group where all ways from it meet, if the rule
        allows it.
        """
        user = self.groups.post_dominators.of(producer.root)
        consumer = None if user is None else self.groups.of(user)
        if user is None or consumer is None or not rule.applies_to(producer.kind, consumer.kind):
            return False
        candidate = self._candidate(rule, producer, user, consumer)
        if candidate.failing() is not None or self._size(candidate) > self._max_ops:
            return False
        if not allowed("fusion", rule.name, producer.root):
            return False
        parts = [producer, *(candidate.between or [])]
        for part in parts:
            self.reasons[part.root] = rule.name
        self.groups.merge(parts, consumer)
        count(rule.name)
        return True

    def _candidate(self, rule: GroupRule, producer: Group, user: Operation, consumer: Group) -> Candidate:
        """
        Returns the candidate for a merge. `between` is found only where all ways from the producer meet in the
        consumer.
        """
        meeting = self.groups.post_dominators.of(producer.root)
        meets = meeting is not None and self.groups.of(meeting) is consumer
        between = self.groups.between(producer, consumer) if meets else None
        return Candidate(self.groups, rule, producer, user, consumer, between)

    def _size(self, candidate: Candidate) -> int:
        return sum(group.size for group in (candidate.producer, candidate.consumer, *(candidate.between or [])))

    # Remarks

    def explain(self) -> None:
        """Reports for each op why it is not in one group with an op whose result it takes."""
        for op in self.groups.block.ops:
            producers = dict.fromkeys(
                operand.owner
                for operand in op.operands
                if isinstance(operand.owner, Operation) and operand.owner.parent is self.groups.block
            )
            seen: set[Group] = set()
            for producer in producers:
                group, consumer = self.groups.of(producer), self.groups.of(op)
                if group is None or consumer is None:
                    self._explain_opaque(producer, op, group, consumer)
                elif group is not consumer and group not in seen:
                    seen.add(group)
                    emit_remark(op, f"not fused: {self._why_apart(group, op, consumer)}")

    def _explain_opaque(
        self, producer: Operation, user: Operation, group: Group | None, consumer: Group | None
    ) -> None:
        """Reports neighbours one of which can be in no group. Neighbours that are no computations need no reason."""
        opaque = user if consumer is None else producer
        if (group is None and consumer is None) or is_constant_op(opaque):
            return
        computes = isinstance(opaque, LoopSemantics | LoopTemplate | func.CallOp)
        if computes and (reason := why_opaque(opaque)) is not None:
            emit_remark(user, f"not fused: '{opaque.name}' is in no group: {reason}")

    def _why_apart(self, producer: Group, user: Operation, consumer: Group) -> str:
        one = [rule for rule in self._rules if not rule.several]
        fitting = [rule for rule in one if rule.applies_to(producer.kind, consumer.kind)]
        for rule in fitting:
            candidate = self._candidate(rule, producer, user, consumer)
            failing = candidate.failing()
            if failing is None:
                return f"the group would have {self._size(candidate)} ops, max-ops is {self._max_ops}"
            if failing.remark is not None:
                users = self.groups.post_dominators.users(producer.root)
                outside = [each for each in users if self.groups.of(each) is not producer]
                return (
                    failing.remark.replace("{name}", _name(producer.root))
                    .replace("{users}", str(len(outside)))
                    .replace("{why}", f"{failing.name} does not hold")
                    .replace("{consumer}", f"'{user.name}'")
                )
        if fitting:
            return f"no condition of rule '{fitting[0].name}' says why"
        return f"no rule merges {_kind(producer)} group into {_kind(consumer)} group"


def _name(op: Operation) -> str:
    """Returns how a remark calls what an op computes: its result, or the op itself where there are several."""
    return value_name(op.results[0]) if len(op.results) == 1 else f"'{op.name}'"


def _kind(group: Group) -> str:
    return with_article(group.kind.name.lower().replace("_", "-"))


__all__: Iterable[str] = ["PlanFusionPass", "plan_function"]
