"""The equation of a rule that is in normal form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from .numbers import written_formula
from .printing_matches import MatchWriter
from .printing_texts import (
    NAME,
    PRIMARY,
    SUFFIX,
    SUM,
    NoEquation,
    application,
    attribute_text,
    conditions_text,
    parameters_of,
    short_name,
    string_of,
)
from .replacements import ALONE, INSIDE


def equation_of(rule: Operation) -> str | None:
    """
    Returns the equation of a `pattern.rule`, from `for` or the left side to the conditions.

    The text behind the name of a rule and a colon is read into the same rule. Returns `None` for a rule that has
    functions, calls, branches or expressions, which have no equation.
    """
    try:
        return _EquationWriter(rule).text()
    except NoEquation:
        return None


class _EquationWriter(MatchWriter):
    """Writes an equation: the left side, conditions that find ops, the right side, and the other conditions."""

    def text(self) -> str:
        roots = ", ".join(self._pattern(root, SUFFIX, is_root=True) for root in self._roots)
        required = [op for op in self._match if op.name == "pattern.require" and not self._is_implied(op)]
        free = [op for op in required if any(value not in self._written for value in op.operands)]
        before = self._conditions(free)
        made = self._replacement()
        after = self._conditions([op for op in required if op not in free])
        functions = dict(self._functions.values())
        head = ", ".join(f"%{name} in [{', '.join(map(short_name, ops))}]" for name, ops in functions.items())
        return f"{f'for {head} ' if head else ''}: {roots}{before} => {made}{after}"

    def _conditions(self, required: Sequence[Operation]) -> str:
        return conditions_text(required, lambda value: self._pattern(value, SUFFIX))

    def _replacement(self) -> str:
        if self._decisions:
            return ", ".join(map(self._decision, self._decisions))
        if self._end.name == "pattern.partition":
            wanted = self._end.properties.get("wanted")
            return "partition" if wanted is None else f"partition {attribute_text(wanted)}"
        if self._end.name == "pattern.replace":
            return self._name(self._end.operands[1])
        last = self._end.regions[0].block.last_op
        assert last is not None
        return ", ".join(self._made(value, SUM, top=True) for value in last.operands)

    def _decision(self, op: Operation) -> str:
        names: Any = op.properties.get("captured_names")
        computed = [
            f"{string_of(name)} = {self._attribute_of_match(value)}"
            for name, value in zip(() if names is None else names.data, op.operands[1:], strict=True)
        ]
        inside = ", ".join([self._name(op.operands[0]), *parameters_of(op), *computed])
        return f"decide({inside}) because {attribute_text(op.properties['because'])}"

    def _made(self, value: SSAValue, rank: int, *, top: bool = False) -> str:
        op = value.owner
        if not isinstance(op, Operation) or op.parent is self._end.parent or value in self._written:
            return self._name(value)
        self._written.add(value)
        text, own = self._built(op, top) if op.name == "pattern.build" else self._created(op)
        if self._uses[value] > 1:
            return f"({text} as {self._name(value)})"
        return text if own >= rank else f"({text})"

    def _created(self, op: Operation) -> tuple[str, int]:
        names = op.properties.get("captured_names")
        count = 0 if names is None else len(names.data)  # pyright: ignore
        operands = op.operands[: len(op.operands) - count]
        captured = [
            f"{string_of(name)} = {self._attribute_of_match(value)}"
            for name, value in zip(() if names is None else names.data, op.operands[len(operands) :], strict=True)  # pyright: ignore
        ]
        return application(string_of(op.properties["target"]), operands, [*parameters_of(op), *captured], self._made)

    def _attribute_of_match(self, value: SSAValue) -> str:
        """Returns the name of an attribute that the match found, or the formula that computes one."""
        op = value.owner
        if not isinstance(op, Operation) or op.name != "pattern.compute":
            return self._name(value)
        return written_formula(string_of(op.properties["formula"]), [self._name(each) for each in op.operands])

    def _built(self, op: Operation, top: bool) -> tuple[str, int]:
        name, parameters = string_of(op.properties["target"]), parameters_of(op)
        if name == (ALONE if top else INSIDE) and not op.operands and len(parameters) == 1:
            return parameters[0].removeprefix("value = ").removesuffix(" : f64"), PRIMARY
        if self._is_function(op):
            function = self._functions[op.operands[0]][0]
            return f"%{function}({', '.join(self._made(each, SUM) for each in op.operands[1:])})", PRIMARY
        operands = [self._made(value, SUM) for value in op.operands]
        if not NAME.fullmatch(name):
            raise NoEquation
        return f"@{name}({', '.join([*operands, *parameters])})", PRIMARY
