"""Group rules from text, and the named conditions that they use."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from math import prod
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...analysis.kinds import OpKind
from ...analysis.op_kind import facts_of_op
from ...core.ir.verification import verify_module
from ...core.messages.diagnostics import Diagnostic, OperationError, StepwellError, did_you_mean
from ...core.text.parsing import make_context, parse_text, read_source
from ...dialects.graph.base import plain_properties
from ...dialects.graph.contraction import MatmulOp
from ...dialects.graph.movement import BroadcastToOp, PermuteDimsOp
from ...dialects.graph.quantisation import DequantizeOp
from ...dialects.pattern.groups import GROUP_KINDS, GroupOp, GroupRuleOp, MergeGroupsOp, RequireGroupsOp
from ...dialects.traits import LoopSemantics
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import element_type
from ...patterns.language.signatures import RuleError, check_taken, plain_parameters
from .groups import Group, Groups, shape_of_value, sizes_of, without_ones
from .siblings import are_siblings, uses_only_inside

KINDS = {name: OpKind[name.upper().replace("-", "_")] for name in GROUP_KINDS}
LEADS = frozenset({"post-dominated", "single-use", "siblings", "users-inside"})
"""The conditions about who uses the producer. A rule needs one of them."""
SEVERAL = frozenset({"siblings", "users-inside"})
"""The leads that allow several results. Rules with one of these are tried after all others."""


@dataclass(frozen=True)
class GroupCondition:
    """One condition of a rule: its name, the groups that it is about by their names in the rule, and its parameters."""

    name: str
    groups: tuple[str, ...]
    parameters: tuple[tuple[str, Attribute], ...] = ()
    remark: str | None = None


@dataclass(frozen=True)
class GroupRule:
    """A legal merge: the kinds of a producer, of the groups between, of a consumer, and further conditions."""

    name: str
    producer: frozenset[OpKind]
    consumer: frozenset[OpKind]
    between: frozenset[OpKind]
    """The kinds of groups between the two. It is empty when nothing may be between."""
    conditions: tuple[GroupCondition, ...]
    doc: str = ""

    @property
    def several(self) -> bool:
        """Returns whether the merged group may have several results."""
        return any(each.name in SEVERAL for each in self.conditions)

    @property
    def is_of_siblings(self) -> bool:
        """Returns whether it merges groups that use one tensor, not one that uses the other."""
        return any(each.name == "siblings" for each in self.conditions)

    def applies_to(self, producer: OpKind, consumer: OpKind) -> bool:
        return producer in self.producer and consumer in self.consumer


@dataclass(frozen=True)
class Candidate:
    """
    A producer and a consumer that a rule looks at.

    `user` is the op of the consumer where all ways from the producer meet.
    """

    groups: Groups
    rule: GroupRule
    producer: Group
    user: Operation
    consumer: Group
    between: list[Group] | None
    """The groups between the two. It is `None` when the ways from the producer do not meet in the consumer."""

    def failing(self) -> GroupCondition | None:
        """Returns the first condition that does not hold, or `None` when all do."""
        return next((each for each in self.rule.conditions if not self._holds(each)), None)

    def _holds(self, condition: GroupCondition) -> bool:
        bound = {"producer": [self.producer], "between": self.between or [], "consumer": [self.consumer]}
        groups = [bound[name] for name in condition.groups]
        function = CONDITIONS[condition.name]
        return function(self, *groups, **plain_parameters(function, condition.parameters))


GroupTest = Callable[..., bool]
SHORT, FEW = 16, 4
"""Elements of a row that is not worth a copy of its own, and times that a tensor is repeated at least to be kept."""

CONDITIONS: dict[str, GroupTest] = {}
"""The conditions of `pattern.require_groups`. Each takes the candidate, then a list of groups per argument."""


def group_condition(name: str) -> Callable[[GroupTest], GroupTest]:
    """Registers a condition of group rules: `def test(candidate, *groups: list[Group], **parameters) -> bool`."""

    def register(test: GroupTest) -> GroupTest:
        if name in CONDITIONS:
            raise ValueError(f"there are two group conditions called '{name}'")
        CONDITIONS[name] = test
        return test

    return register


@group_condition("post-dominated")
def post_dominated(candidate: Candidate, producer: list[Group], consumer: list[Group], *between: list[Group]) -> bool:
    """Every way from the producer ends in the consumer, through groups of the kinds of the third argument only."""
    found = candidate.between
    return found is not None and all(group.kind in candidate.rule.between for group in found)


@group_condition("single-use")
def single_use(candidate: Candidate, producer: list[Group]) -> bool:
    """One op uses the result of the producer, and it is in the consumer."""
    users = candidate.groups.post_dominators.users(producer[0].root)
    return candidate.between is not None and len(users) == 1


@group_condition("siblings")
def siblings(candidate: Candidate, producer: list[Group], consumer: list[Group]) -> bool:
    """Both reduce one tensor, no reduction needs a result of the other group, and nothing needs both to stand apart."""
    return are_siblings(candidate.groups, producer[0], consumer[0])


@group_condition("users-inside")
def users_inside(candidate: Candidate, producer: list[Group], consumer: list[Group]) -> bool:
    """All users of the result of the producer are in the consumer, which has several results."""
    return len(consumer[0].results) > 1 and uses_only_inside(candidate.groups, producer[0], consumer[0])


@group_condition("in-place")
def in_place(candidate: Candidate, producer: list[Group], consumer: list[Group]) -> bool:
    """The op of the consumer that takes the result reads each element at the place where it computes one."""
    facts = candidate.groups.facts[candidate.user]
    same = without_ones(producer[0].shape) == without_ones(sizes_of(candidate.user))
    return facts.kind is OpKind.ELEMENTWISE and same


@group_condition("no-floats-for-later")
def no_floats_for_later(candidate: Candidate, producer: list[Group], consumer: list[Group]) -> bool:
    """
    The op of the consumer that takes the result is no `graph.dequantize` that only a map of it and of another one
    reads, whose integers are computed later.

    The map is then computed with the other one, and the conversion joins them. So integers are stored instead of
    floats.
    """
    found, users = candidate.groups.post_dominators, candidate.groups.post_dominators.users(candidate.user)
    if not isinstance(candidate.user, DequantizeOp) or len(users) != 1 or found.is_used_elsewhere(candidate.user):
        return True
    facts = candidate.groups.facts.get(users[0])
    if facts is None or facts.kind is not OpKind.ELEMENTWISE or sizes_of(users[0]) != sizes_of(candidate.user):
        return True
    others = [_owner(value) for value in users[0].operands]
    later = [_owner(op.operands[0]) for op in others if isinstance(op, DequantizeOp) and op is not candidate.user]
    own = found.place(producer[0].root)
    return not any(op is not None and op.parent is candidate.groups.block and found.place(op) > own for op in later)


@group_condition("no-transpose-of-rows")
def no_transpose_of_rows(candidate: Candidate, producer: list[Group], consumer: list[Group]) -> bool:
    """
    The op of the consumer that takes the result is no transpose, nor a map before one, or the producer has not moved
    whole rows. A map to integers counts for nothing: there is more to compute than to move.
    """
    if all(_keeps_rows(op) for op in _moved_next(candidate, consumer[0])):
        return True
    moves = [op for op in candidate.groups.ops_of(producer[0]) if isinstance(op, PermuteDimsOp)]
    return not moves or not all(_keeps_rows(op) for op in moves)


def _moved_next(candidate: Candidate, consumer: Group) -> list[PermuteDimsOp]:
    """Returns the permutation that takes the result of the producer, or those behind maps that keep its type."""
    user, groups = candidate.user, candidate.groups
    if isinstance(user, PermuteDimsOp):
        return [user]
    ops = list(groups.ops_of(consumer))
    types = {element_type(op.results[0].type) for op in (candidate.producer.root, *ops)}
    if groups.facts[user].kind is not OpKind.ELEMENTWISE or len(types) > 1:
        return []
    return [op for op in ops if isinstance(op, PermuteDimsOp)]


def _keeps_rows(op: PermuteDimsOp) -> bool:
    """Returns whether the innermost axis stays in its place."""
    axes, rank = plain_properties(op)["axes"], len(sizes_of(op))
    return rank < 2 if axes is None else axes[-1:] in ((rank - 1,), (-1,))


@group_condition("no-repeat-of-short-rows")
def no_repeat_of_short_rows(candidate: Candidate, producer: list[Group], consumer: list[Group]) -> bool:
    """
    The op of the consumer that takes the result does not repeat it four times or more, or the producer has not repeated
    rows of fewer than 16 elements.
    """
    user = candidate.user
    if not isinstance(user, BroadcastToOp) or not _repeats(user):
        return True
    made = [op for op in candidate.groups.ops_of(producer[0]) if isinstance(op, BroadcastToOp)]
    return not any(_repeats(op) and 1 < sizes_of(op)[-1] < SHORT for op in made)


def _repeats(op: BroadcastToOp) -> bool:
    """Returns whether each element of what is broadcast is at four places of the result or more."""
    given, made = shape_of_value(op.operands[0]), sizes_of(op)
    return DYNAMIC_INDEX not in (*given, *made) and prod(given) * FEW <= prod(made)


@group_condition("has-rows")
def has_rows(candidate: Candidate, *groups: list[Group]) -> bool:
    """The groups reduce whole rows of a tensor, each element of which is read once: no contraction, no window."""
    return all(group.rows is not None for each in groups for group in each)


@group_condition("same-rows")
def same_rows(candidate: Candidate, *groups: list[Group]) -> bool:
    """All reductions in the groups go over the same rows, and every group has an element per element or per row."""
    parts = [group for each in groups for group in each]
    found = {group.rows for group in parts if group.reduces}
    if len(found) != 1:
        return False
    (rows,) = found
    return rows is not None and all(rows.fits(group.shape) for group in parts)


@group_condition("rows-between-products")
def rows_between_products(
    candidate: Candidate, producer: list[Group], between: list[Group], consumer: list[Group]
) -> bool:
    """
    The producer reduces rows of a product that it alone uses, and its result is the left operand of a product of the
    consumer. What is between reduces the same rows.
    """
    root, rows, groups = producer[0].root, producer[0].rows, candidate.groups
    users = [user for user in groups.post_dominators.users(root) if groups.of(user) is consumer[0]]
    if len(users) != 1 or not isinstance(user := users[0], MatmulOp):
        return False
    if user.operands[0] is not root.results[0] or user.operands[1] is root.results[0]:
        return False
    if rows is None or DYNAMIC_INDEX in rows.space or rows.reduced != (len(rows.space) - 1,):
        return False
    if any(group.rows != rows for group in between):
        return False
    first = _product_of_rows(groups, producer[0])
    return first is not None and without_ones(sizes_of(root)) == rows.space and len(rows.space) > 1


@group_condition("product-of-rows")
def product_of_rows(candidate: Candidate, producer: list[Group], consumer: list[Group]) -> bool:
    """The producer is a product, and the consumer another one of its rows, which it reduces first."""
    groups = candidate.groups
    products = [op for op in groups.ops_of(consumer[0]) if isinstance(op, MatmulOp)]
    inside = [op for op in products if groups.of(_owner(op.operands[0])) is consumer[0]]
    return len(inside) == 1 and len(_products(groups, producer[0])) == 1


@group_condition("around-rows-of-products")
def around_rows_of_products(candidate: Candidate, producer: list[Group], consumer: list[Group]) -> bool:
    """One group is two products with a softmax between them, and the other one only moves an operand or the result."""
    groups = candidate.groups
    before, after = producer[0], consumer[0]
    if before.kind is OpKind.INJECTIVE:
        return isinstance(candidate.user, MatmulOp) and _has_rows_between(groups, after)
    return after.kind is OpKind.INJECTIVE and isinstance(before.root, MatmulOp) and _has_rows_between(groups, before)


def _has_rows_between(groups: Groups, group: Group) -> bool:
    """Returns whether a group is two products, one of which takes what has been made of the other in the group."""
    products = _products(groups, group)
    made = [op for op in products if groups.of(_owner(op.operands[0])) is group and not _moves(_owner(op.operands[0]))]
    return len(products) == 2 and len(made) == 1


def _moves(op: Operation | None) -> bool:
    return isinstance(op, LoopSemantics) and facts_of_op(op).kind is OpKind.INJECTIVE


def _product_of_rows(groups: Groups, group: Group) -> Group | None:
    """Returns the group of the product that `group` takes its rows from, `None` where others use its result too."""
    assert group.rows is not None
    found: dict[Group, None] = {}
    for op in groups.ops_of(group):
        for operand in op.operands:
            other = groups.of(_owner(operand))
            if other is None or other is group or without_ones(other.shape) != group.rows.space:
                continue
            if _products(groups, other):
                found[other] = None
    if len(found) != 1:
        return None
    (product,) = found
    apart = any(groups.of(user) is not group for user in groups.post_dominators.users(product.root))
    return None if apart or len(_products(groups, product)) != 1 or product.shape[-2] == 1 else product


def _products(groups: Groups, group: Group) -> list[Operation]:
    return [op for op in groups.ops_of(group) if isinstance(op, MatmulOp)]


def _owner(value: SSAValue) -> Operation | None:
    return value.owner if isinstance(value.owner, Operation) else None


# Loading


@lru_cache(maxsize=8)
def shipped_group_rules(name: str = "fusion") -> tuple[GroupRule, ...]:
    """Returns the rules of a shipped file."""
    text = files(__package__ or "").joinpath(f"{name}.mlir").read_text(encoding="utf-8")
    return group_rules_of_text(text, f"{name}.mlir")


def group_rules_of_file(path: str | Path, ctx: Context | None = None) -> tuple[GroupRule, ...]:
    """Returns the rules of a file. Raises `StepwellError` when it cannot be read or has a rule that is not valid."""
    return group_rules_of_text(read_source(path), str(path), ctx)


def group_rules_of_text(text: str, name: str = "<rules>", ctx: Context | None = None) -> tuple[GroupRule, ...]:
    """Returns the group rules of a text. Raises `StepwellError` when one is not valid or there is none."""
    module = parse_text(make_context() if ctx is None else ctx, text, name)
    verify_module(module, sources={name: text})
    try:
        rules = group_rules_of_module(module)
    except OperationError as error:
        raise StepwellError(error.diagnostic, {name: text}) from error
    if not rules and any(True for _ in module.body.ops):
        message = f"'{name}' holds no 'pattern.group_rule'"
        hint = "rules of ops are run by apply-patterns; docs/fusion.md shows rules of groups"
        raise StepwellError(Diagnostic(message, hint=hint))
    return rules


def group_rules_of_module(module: ModuleOp) -> tuple[GroupRule, ...]:
    """Returns the group rules of a module. Raises `OperationError` at an op that is not valid."""
    found: dict[str, GroupRule] = {}
    for op in module.body.ops:
        if isinstance(op, GroupRuleOp):
            rule = _rule_of(op)
            if rule.name in found:
                raise OperationError(op, f"there are two group rules called '{rule.name}'")
            found[rule.name] = rule
    return tuple(found.values())


def _rule_of(op: GroupRuleOp) -> GroupRule:
    last = op.body.block.last_op
    assert isinstance(last, MergeGroupsOp)
    names: dict[SSAValue, str] = {last.producer: "producer", last.consumer: "consumer"}
    kinds: dict[str, frozenset[OpKind]] = {"between": frozenset()}
    for part in op.body.block.ops:
        if isinstance(part, GroupOp):
            name = names.setdefault(part.result, "between")
            if kinds.get(name):
                raise OperationError(part, "expected one group besides the producer and the consumer")
            kinds[name] = frozenset(KINDS[each] for each in part.kind_names)
    conditions = [_condition_of(part, names) for part in op.body.block.ops if isinstance(part, RequireGroupsOp)]
    leads = [each for each in conditions if each.name in LEADS]
    if not leads:
        raise OperationError(
            op,
            f"group rule '{op.rule_name.data}' does not say that all users of the producer are in the merged group",
            hint='require "single-use"(%producer) or "post-dominated"(%producer, %consumer)',
        )
    for each in leads:
        expected = ("producer",) if each.name == "single-use" else ("producer", "consumer", "between")
        if each.groups not in (expected, expected[:2]):
            raise OperationError(op, f"'{each.name}' is about {', '.join(each.groups)}, expected {', '.join(expected)}")
    if kinds["between"] and not any("between" in each.groups for each in leads):
        raise OperationError(op, "no 'post-dominated' takes the group that is between")
    # Conditions about users come first. The others presume that the ways from the producer meet.
    ordered = (*leads, *(each for each in conditions if each.name not in LEADS))
    doc = "" if op.doc is None else op.doc.data
    return GroupRule(op.rule_name.data, kinds["producer"], kinds["consumer"], kinds["between"], ordered, doc)


def _condition_of(op: RequireGroupsOp, names: dict[SSAValue, str]) -> GroupCondition:
    name = op.target.data
    if name not in CONDITIONS:
        hint = did_you_mean(name, CONDITIONS) or f"known: {', '.join(sorted(CONDITIONS))}"
        raise OperationError(op, f"unknown group condition '{name}'", hint=hint)
    parameters = () if op.parameters is None else tuple(op.parameters.data.items())
    try:
        check_taken(f"group condition '{name}'", CONDITIONS[name], len(op.arguments), parameters)
    except RuleError as error:
        raise OperationError(op, error.message, hint=error.hint) from error
    remark = None if op.remark is None else op.remark.data
    groups = tuple(names[value] for value in op.arguments)
    return GroupCondition(name, groups, parameters, remark)
