"""The left side of an equation, written from the normal form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from .printing_loops import axis_text, element_text, is_element, loops_text, root_of_loops
from .printing_texts import (
    AND,
    NEGATED,
    OR,
    PRIMARY,
    STORE,
    SUFFIX,
    TESTS,
    NoEquation,
    application,
    attribute_text,
    heads,
    is_target,
    number_text,
    parameters_of,
    splat_text,
    string_of,
    wanted_texts,
)
from .replacements import SAME_OP as WITH_OPERANDS
from .rule import ROOT, SAME_OP


class MatchWriter:
    """Writes the left side of one equation, from the left to the right as it is read."""

    def __init__(self, rule: Operation):
        *self._match, self._end = rule.regions[0].block.ops
        self._decisions = [op for op in rule.regions[0].block.ops if op.name == "pattern.decide"]
        self._match = [op for op in self._match if op not in self._decisions]
        self._roots = self._end.operands[:1] if self._end.name == "pattern.replace" else self._end.operands
        if self._decisions:
            self._roots = root_of_loops(self._match)
        self._functions = _functions_of(self._match, self._end)
        self._uses = Counter[SSAValue]()
        for op in rule.walk():
            self._uses.update(op.operands)
        if self._decisions:
            self._uses.update(self._roots)  # Other rules name their roots where they end.
        for op in self._match:
            if op.name == "pattern.attribute":  # It is written inside its op.
                self._uses[op.operands[0]] -= 1
        self._forget_implied_uses()
        self._captures: dict[SSAValue, list[Operation]] = {}
        for op in self._match:
            if op.name == "pattern.attribute":
                self._captures.setdefault(op.operands[0], []).append(op)
        self._names: dict[SSAValue, str] = {}
        self._written: set[SSAValue] = set()
        others = [op.results[0] for op in self._match if op.results and op.results[0] not in self._roots]
        is_free = not any(value.name_hint == ROOT for value in others)
        if len(self._roots) == 1 and self._roots[0].name_hint in (None, ROOT) and is_free:
            self._names[self._roots[0]] = ROOT

    def _forget_implied_uses(self) -> None:
        """Leaves out the uses that a name after `for` says, as they need no other name."""
        for op in self._match:
            if op.name == "pattern.require" and self._is_implied(op):
                self._uses.subtract(op.operands)
        for op in self._end.walk():
            if op.name == "pattern.build" and self._is_function(op):
                self._uses[op.operands[0]] -= 1

    def _is_implied(self, op: Operation) -> bool:
        """Returns whether ops that are written with one name after `for` say this."""
        first, *others = op.operands
        function = self._functions.get(first)
        return (
            string_of(op.properties["target"]) == SAME_OP
            and function is not None
            and [self._functions.get(other) for other in others] == [function]
        )

    def _is_function(self, op: Operation) -> bool:
        """Returns whether a builder is written as a name after `for`, on other operands."""
        is_root = any(use.operation.name == "pattern.yield" for use in op.results[0].uses)
        return (
            is_target(op, WITH_OPERANDS[0 if is_root else 1])
            and op.operands[0] in self._functions
            and not parameters_of(op)
        )

    def _name(self, value: SSAValue) -> str:
        if value not in self._names:
            hint, number = value.name_hint or "v", 0
            name = hint if value.name_hint else "v0"
            while name in self._names.values():
                number += 1
                name = f"{hint}{number}"
            self._names[value] = name
        return f"%{self._names[value]}"

    def _pattern(self, value: SSAValue, rank: int, *, is_root: bool = False) -> str:
        """Returns the text of a pattern where what stands around it binds with `rank`."""
        op = value.owner
        assert isinstance(op, Operation)
        if value in self._written:
            return self._name(value)
        self._written.add(value)
        if op.name == "pattern.any":
            return "_" if value.name_hint is None and self._uses[value] == 1 else self._name(value)
        if op.name == "pattern.rest":
            each = f" each {self._pattern(op.operands[0], OR)}" if op.operands else ""
            return f"{self._name(value)}...{each}"
        if op.name in ("pattern.constant", "pattern.any_op"):
            word = op.name.removeprefix("pattern.")
            is_unnamed = (value.name_hint is None and self._uses[value] == 1) or self._names.get(value) == ROOT
            return word if is_unnamed else f"{word} {self._name(value)}"
        if op.name == "pattern.axis":
            is_unnamed = value.name_hint is None and self._uses[value] == 1 and "kind" in op.properties
            return axis_text(op, None if is_unnamed else self._name(value))
        text, own = self._form(op)
        needs_name = self._uses[value] > 1 and (not is_root or self._names.get(value) != ROOT)
        if needs_name:
            text = f"({text})" if own == STORE else text
            text, own = f"{text} as {self._name(value)}", SUFFIX
        return text if own >= rank or own == STORE else f"({text})"

    def _form(self, op: Operation) -> tuple[str, int]:
        """Returns the text of what an op of a match says, and how strongly it binds."""
        name = op.name.removeprefix("pattern.")
        match name:
            case "op":
                return self._element(op) if self._decisions and is_element(op) else self._call(op)
            case "block" | "nest" | "kernel":
                properties = [*wanted_texts(op), *self._captured(op)]
                return loops_text(op, lambda each: self._pattern(each, SUFFIX), properties), PRIMARY
            case "splat":
                return splat_text(number_text(op.properties["number"])), PRIMARY
            case "result":
                number = number_text(op.properties["index"]) if "index" in op.properties else "any"
                return f"{self._pattern(op.operands[0], PRIMARY)} #{number}", PRIMARY
            case "chain":
                return self._chain(op)
            case "or":
                return " or ".join(self._pattern(each, AND) for each in op.operands), OR
            case "and":
                return " and ".join(self._pattern(each, NEGATED) for each in op.operands), AND
            case "not":
                return f"not {self._pattern(op.operands[0], NEGATED)}", NEGATED
            case "literal":
                return f"literal {attribute_text(op.properties['value'])}", SUFFIX
            case "argument":
                found = [attribute_text(each) for each in op.properties.values()]
                return " ".join(["argument", *(text.removesuffix(" : i64") for text in found)]), SUFFIX
            case "assoc" | "together" | "dominates":
                return f"{op.name}({', '.join(self._pattern(each, SUFFIX) for each in op.operands)})", PRIMARY
            case _:
                return self._test(op, name)

    def _test(self, op: Operation, name: str) -> tuple[str, int]:
        if name not in TESTS and name != "holds":
            raise NoEquation
        subject = self._pattern(op.operands[0], SUFFIX)
        if name != "holds":
            return f"{subject} has {TESTS[name](op)}", SUFFIX
        others = [self._pattern(each, SUFFIX) for each in op.operands[1:]]
        inside = ", ".join([*others, *parameters_of(op)])
        return f"{subject} holds {string_of(op.properties['condition'])}{f'({inside})' if inside else ''}", SUFFIX

    def _chain(self, op: Operation) -> tuple[str, int]:
        """Returns a chain. One of ops that goes through their first operand has a short form."""
        step, link, start = op.operands
        made, least = step.owner, op.properties.get("least")
        assert isinstance(made, Operation)
        number = "1" if least is None else number_text(least)
        mark = {"0": "*", "1": "+"}.get(number, f"{{{number},}}")
        if not self._is_plain(made, step, link):
            text = self._pattern(step, SUFFIX)
            return f"({text} through {self._name(link)}){mark}({self._pattern(start, SUFFIX)})", PRIMARY
        head = heads(string_of(made.properties["target"]))
        self._written.update((step, link))
        parts = [self._pattern(each, SUFFIX) for each in (start, *made.operands[1:])]
        return f"{head}{mark}({', '.join([*parts, *self._properties(made)])})", PRIMARY

    def _element(self, op: Operation) -> tuple[str, int]:
        """Returns an element of a buffer that is read or written. A store has a name only in parentheses."""
        text = element_text(op, self._named_any, lambda each: self._pattern(each, SUFFIX))
        return text, PRIMARY if text.endswith("]") and " = " not in text else STORE

    def _named_any(self, value: SSAValue) -> str:
        self._written.add(value)
        return self._name(value)

    def _is_plain(self, made: Operation, step: SSAValue, link: SSAValue) -> bool:
        """Returns whether a step is an op whose first operand is the value before, and nothing else asks for either."""
        return (
            made.name == "pattern.op"
            and len(made.operands) > 0
            and made.operands[0] is link
            and self._uses[link] <= 2
            and self._uses[step] <= 1
            and "unordered" not in made.properties
        )

    def _properties(self, op: Operation) -> list[str]:
        """Returns the properties of an op of a match, with those that get a name."""
        return [*parameters_of(op), *self._captured(op)]

    def _captured(self, op: Operation) -> list[str]:
        """Returns the properties of an op of a match that get a name."""
        captured = [
            f"{string_of(each.properties['attribute_name'])} = {self._name(each.results[0])}"
            for each in self._captures.get(op.results[0], ())
        ]
        self._written.update(each.results[0] for each in self._captures.get(op.results[0], ()))
        return captured

    def _call(self, op: Operation) -> tuple[str, int]:
        named = self._properties(op)
        function = self._functions.get(op.results[0])
        target = f"%{function[0]}" if function else string_of(op.properties["target"])
        if "unordered" in op.properties:
            inside = [*(self._pattern(each, SUFFIX) for each in op.operands), *named]
            return f"unordered {heads(target)}({', '.join(inside)})", PRIMARY
        return application(target, op.operands, named, self._pattern)


def _functions_of(match: Sequence[Operation], end: Operation) -> dict[SSAValue, tuple[str, tuple[str, ...]]]:
    """Returns the name after `for`, and the ops that it stands for, by the patterns that are written with it."""
    again = [op.operands[0] for op in end.walk() if op.name == "pattern.build" and is_target(op, *WITH_OPERANDS)]
    same = [list(op.operands) for op in match if op.name == "pattern.require" and is_target(op, SAME_OP)]
    groups = [[value, *(other for pair in same if value in pair for other in pair)] for value in again] + same
    found: dict[SSAValue, tuple[str, tuple[str, ...]]] = {}
    for group in groups:
        owners = [value.owner for value in dict.fromkeys(group)]
        targets = {string_of(op.properties["target"]) for op in owners if op.name == "pattern.op"}  # pyright: ignore
        if len(targets) != 1 or "|" not in (target := targets.pop()) or any(each in found for each in group):
            continue
        name = "f" if not found else f"f{len({each[0] for each in found.values()})}"
        found.update(dict.fromkeys(group, (name, tuple(each.strip() for each in target.split("|")))))
    return found
