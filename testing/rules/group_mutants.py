"""Small faults put into rules of groups: another set of kinds, a condition less, groups mixed up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ...analysis.kinds import OpKind
from ...dialects.pattern.groups import GROUP_KINDS
from ...lazy_dataclass import dataclass
from ...rewrites.fusion.rules import KINDS, LEADS, GroupCondition, GroupRule

OTHER_LEAD: Final = {
    "post-dominated": ("single-use", ("producer",)),
    "single-use": ("post-dominated", ("producer", "consumer")),
    "siblings": ("users-inside", ("producer", "consumer")),
    "users-inside": ("siblings", ("producer", "consumer")),
}
"""What a condition about users is mistaken for. Without any, a rule is refused."""


@dataclass(frozen=True)
class GroupMutant:
    """A rule of groups with a fault, and what the fault is."""

    rule: GroupRule
    what: str


def group_mutants_of(rule: GroupRule) -> list[GroupMutant]:
    """Returns all mutants of `rule`, in a fixed order."""
    return [*_kinds(rule), *_conditions(rule)]


def _kinds(rule: GroupRule) -> Iterator[GroupMutant]:
    """A role without each of its kinds, or with the kind that comes after them."""
    for role in ("producer", "consumer", "between"):
        kinds: frozenset[OpKind] = getattr(rule, role)
        if not kinds:
            continue
        for name in GROUP_KINDS:
            kind = KINDS[name]
            if kind in kinds and (len(kinds) > 1 or role == "between"):
                yield GroupMutant(replace(rule, **{role: kinds - {kind}}), f"the {role} may not be {name}")
            elif kind == max(kinds) + 1:
                yield GroupMutant(replace(rule, **{role: kinds | {kind}}), f"the {role} may be {name}")


def _conditions(rule: GroupRule) -> Iterator[GroupMutant]:
    for place, condition in enumerate(rule.conditions):
        about = f"'{condition.name}'({', '.join(condition.groups)})"
        before, after = rule.conditions[:place], rule.conditions[place + 1 :]

        def with_condition(
            *other: GroupCondition,
            before: tuple[GroupCondition, ...] = before,
            after: tuple[GroupCondition, ...] = after,
        ) -> GroupRule:
            return replace(rule, conditions=(*before, *other, *after))

        if condition.name in LEADS:
            name, groups = OTHER_LEAD[condition.name]
            other = replace(condition, name=name, groups=groups)
            yield GroupMutant(with_condition(other), f"condition {about} becomes '{name}'")
            continue
        yield GroupMutant(with_condition(), f"drop condition {about}")
        for number, group in enumerate(condition.groups):
            if len(condition.groups) > 1:
                fewer = (*condition.groups[:number], *condition.groups[number + 1 :])
                other = replace(condition, groups=fewer)
                if condition.name in SETS:
                    yield GroupMutant(with_condition(other), f"condition {about} is not about the {group}")


SETS: Final = frozenset({"has-rows", "same-rows"})
"""The conditions about any number of groups."""

__all__ = ["GroupMutant", "group_mutants_of"]
