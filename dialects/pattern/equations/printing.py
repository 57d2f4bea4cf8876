"""The equation of a rule that is in normal form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Final

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from ..sizes import sizes_text
from .loops import AXES, KINDS
from .matches import INFIX, NEGATION
from .numbers import written_formula
from .printing_loops import axis_text, element_text, is_element, loops_text, root_of_loops
from .replacements import ALONE, INSIDE
from .replacements import SAME_OP as WITH_OPERANDS
from .rule import COMPARE, NOT, ROOT, SAME_OP
from .scope import DEFAULT_DIALECT

_SIGNS: Final = {name: sign for sign, name in INFIX.items()}
_SUFFIX, _OR, _AND, _NOT, _SUM, _PRODUCT, _SIGN, _PRIMARY = range(8)
"""The strength with which the parts of an equation bind."""

_STORE: Final = -1
"""What a store binds with, which stands alone."""

_RANK: Final = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT}
_OWN_WORDS: Final = ("constant", "any_op", "literal", "argument", "not", "partition", "unordered", *AXES, *KINDS)
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*(?:-\w+)*")


class NoEquation(Exception):
    """A rule has a part that equations cannot say."""


def equation_of(rule: Operation) -> str | None:
    """
    Returns the equation of a `pattern.rule`, from `for` or the left side to the conditions.

    The text behind the name of a rule and a colon is read into the same rule. Returns `None` for a rule that has
    functions, calls, branches or expressions, which have no equation.
    """
    try:
        return _Writer(rule).text()
    except NoEquation:
        return None


def condition_text(op: Operation, arguments: Sequence[str]) -> str:
    """Returns a condition on `arguments` as it stands after `where`."""
    name, remark = _string(op.properties["target"]), op.properties.get("remark")
    given: dict[str, Attribute] = dict(getattr(op.properties.get("parameters"), "data", {}))
    negated = name == NOT and "condition" in given
    if negated:
        name = _string(given.pop("condition"))
    if not _NAME.fullmatch(name):
        raise NoEquation
    if name == COMPARE and "formula" in given:
        text = written_formula(_string(given["formula"]), arguments)
    else:
        text = f"{name}({', '.join([*arguments, *_named(given)])})"
    text = f"not {text}" if negated else text
    return text if remark is None else f"{text} remark {_attribute(remark)}"


class _Writer:
    """Writes one equation, from the left to the right as it is read."""

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
        if len(self._roots) == 1 and not any(value.name_hint == ROOT for value in others):
            self._names[self._roots[0]] = ROOT

    def _forget_implied_uses(self) -> None:
        """Leaves out the uses that a name after `for` says, as they need no other name."""
        for op in self._match:
            if op.name == "pattern.require" and self._is_implied(op):
                self._uses.subtract(op.operands)
        for op in self._end.walk():
            if op.name == "pattern.build" and self._is_function(op):
                self._uses[op.operands[0]] -= 1

    def text(self) -> str:
        roots = ", ".join(self._pattern(root, _SUFFIX, is_root=True) for root in self._roots)
        required = [op for op in self._match if op.name == "pattern.require" and not self._is_implied(op)]
        free = [op for op in required if any(value not in self._written for value in op.operands)]
        before = self._conditions(free)
        made = self._replacement()
        after = self._conditions([op for op in required if op not in free])
        functions = dict(self._functions.values())
        head = ", ".join(f"%{name} in [{', '.join(map(_short, ops))}]" for name, ops in functions.items())
        return f"{f'for {head} ' if head else ''}: {roots}{before} => {made}{after}"

    def _conditions(self, required: Sequence[Operation]) -> str:
        if not required:
            return ""
        return f" where {', '.join(map(self._condition, required))}"

    def _condition(self, op: Operation) -> str:
        return condition_text(op, [self._pattern(value, _SUFFIX) for value in op.operands])

    def _is_implied(self, op: Operation) -> bool:
        """Returns whether ops that are written with one name after `for` say this."""
        first, *others = op.operands
        function = self._functions.get(first)
        return (
            _string(op.properties["target"]) == SAME_OP
            and function is not None
            and [self._functions.get(other) for other in others] == [function]
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
            each = f" each {self._pattern(op.operands[0], _OR)}" if op.operands else ""
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
            text = f"({text})" if own == _STORE else text
            text, own = f"{text} as {self._name(value)}", _SUFFIX
        return text if own >= rank or own == _STORE else f"({text})"

    def _form(self, op: Operation) -> tuple[str, int]:
        """Returns the text of what an op of a match says, and how strongly it binds."""
        name = op.name.removeprefix("pattern.")
        match name:
            case "op":
                return self._element(op) if self._decisions and is_element(op) else self._call(op)
            case "block" | "nest" | "kernel":
                properties = [*_attributes(op), *self._captured(op)]
                return loops_text(op, lambda each: self._pattern(each, _SUFFIX), properties), _PRIMARY
            case "splat":
                return _splat_number(_number(op.properties["number"])), _PRIMARY
            case "result":
                number = _number(op.properties["index"]) if "index" in op.properties else "any"
                return f"{self._pattern(op.operands[0], _PRIMARY)} #{number}", _PRIMARY
            case "chain":
                return self._chain(op)
            case "or":
                return " or ".join(self._pattern(each, _AND) for each in op.operands), _OR
            case "and":
                return " and ".join(self._pattern(each, _NOT) for each in op.operands), _AND
            case "not":
                return f"not {self._pattern(op.operands[0], _NOT)}", _NOT
            case "literal":
                return f"literal {_attribute(op.properties['value'])}", _SUFFIX
            case "argument":
                found = [_attribute(each) for each in op.properties.values()]
                return " ".join(["argument", *(text.removesuffix(" : i64") for text in found)]), _SUFFIX
            case "assoc" | "together" | "dominates":
                return f"{op.name}({', '.join(self._pattern(each, _SUFFIX) for each in op.operands)})", _PRIMARY
            case _:
                return self._test(op, name)

    def _test(self, op: Operation, name: str) -> tuple[str, int]:
        if name not in _TESTS and name != "holds":
            raise NoEquation
        subject = self._pattern(op.operands[0], _SUFFIX)
        if name != "holds":
            return f"{subject} has {_TESTS[name](op)}", _SUFFIX
        others = [self._pattern(each, _SUFFIX) for each in op.operands[1:]]
        inside = ", ".join([*others, *_parameters(op)])
        return f"{subject} holds {_string(op.properties['condition'])}{f'({inside})' if inside else ''}", _SUFFIX

    def _chain(self, op: Operation) -> tuple[str, int]:
        """
        Returns a chain. One of ops that goes through their first operand has a short form. One of two steps or more has
        no equation.
        """
        step, link, start = op.operands
        made, least = step.owner, op.properties.get("least")
        assert isinstance(made, Operation)
        if least is not None and _number(least) not in ("0", "1"):
            raise NoEquation
        mark = "*" if least is not None and _number(least) == "0" else "+"
        if not self._is_plain(made, step, link):
            text = self._pattern(step, _SUFFIX)
            return f"({text} through {self._name(link)}){mark}({self._pattern(start, _SUFFIX)})", _PRIMARY
        head = _heads(_string(made.properties["target"]))
        self._written.update((step, link))
        parts = [self._pattern(each, _SUFFIX) for each in (start, *made.operands[1:])]
        return f"{head}{mark}({', '.join([*parts, *self._properties(made)])})", _PRIMARY

    def _element(self, op: Operation) -> tuple[str, int]:
        """Returns an element of a buffer that is read or written. A store has a name only in parentheses."""
        text = element_text(op, self._named_any, lambda each: self._pattern(each, _SUFFIX))
        return text, _PRIMARY if text.endswith("]") and " = " not in text else _STORE

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
        return [*_parameters(op), *self._captured(op)]

    def _captured(self, op: Operation) -> list[str]:
        """Returns the properties of an op of a match that get a name."""
        captured = [
            f"{_string(each.properties['attribute_name'])} = {self._name(each.results[0])}"
            for each in self._captures.get(op.results[0], ())
        ]
        self._written.update(each.results[0] for each in self._captures.get(op.results[0], ()))
        return captured

    def _call(self, op: Operation) -> tuple[str, int]:
        named = self._properties(op)
        function = self._functions.get(op.results[0])
        target = f"%{function[0]}" if function else _string(op.properties["target"])
        if "unordered" in op.properties:
            inside = [*(self._pattern(each, _SUFFIX) for each in op.operands), *named]
            return f"unordered {_heads(target)}({', '.join(inside)})", _PRIMARY
        return _application(target, op.operands, named, self._pattern)

    def _replacement(self) -> str:
        if self._decisions:
            return ", ".join(map(self._decision, self._decisions))
        if self._end.name == "pattern.partition":
            wanted = self._end.properties.get("wanted")
            return "partition" if wanted is None else f"partition {_attribute(wanted)}"
        if self._end.name == "pattern.replace":
            return self._name(self._end.operands[1])
        last = self._end.regions[0].block.last_op
        assert last is not None
        return ", ".join(self._made(value, _SUM, top=True) for value in last.operands)

    def _decision(self, op: Operation) -> str:
        names: Any = op.properties.get("captured_names")
        computed = [
            f"{_string(name)} = {self._attribute_of_match(value)}"
            for name, value in zip(() if names is None else names.data, op.operands[1:], strict=True)
        ]
        inside = ", ".join([self._name(op.operands[0]), *_parameters(op), *computed])
        return f"decide({inside}) because {_attribute(op.properties['because'])}"

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
            f"{_string(name)} = {self._attribute_of_match(value)}"
            for name, value in zip(() if names is None else names.data, op.operands[len(operands) :], strict=True)  # pyright: ignore
        ]
        return _application(_string(op.properties["target"]), operands, [*_parameters(op), *captured], self._made)

    def _attribute_of_match(self, value: SSAValue) -> str:
        """Returns the name of an attribute that the match found, or the formula that computes one."""
        op = value.owner
        if not isinstance(op, Operation) or op.name != "pattern.compute":
            return self._name(value)
        return written_formula(_string(op.properties["formula"]), [self._name(each) for each in op.operands])

    def _built(self, op: Operation, top: bool) -> tuple[str, int]:
        name, parameters = _string(op.properties["target"]), _parameters(op)
        if name == (ALONE if top else INSIDE) and not op.operands and len(parameters) == 1:
            return parameters[0].removeprefix("value = ").removesuffix(" : f64"), _PRIMARY
        if self._is_function(op):
            function = self._functions[op.operands[0]][0]
            return f"%{function}({', '.join(map(self._name, op.operands[1:]))})", _PRIMARY
        operands = [self._name(value) for value in op.operands]
        if not _NAME.fullmatch(name):
            raise NoEquation
        return f"@{name}({', '.join([*operands, *parameters])})", _PRIMARY

    def _is_function(self, op: Operation) -> bool:
        """Returns whether a builder is written as a name after `for`, on other operands."""
        return _is_target(op, WITH_OPERANDS) and op.operands[0] in self._functions and not _parameters(op)


def _functions_of(match: Sequence[Operation], end: Operation) -> dict[SSAValue, tuple[str, tuple[str, ...]]]:
    """Returns the name after `for`, and the ops that it stands for, by the patterns that are written with it."""
    again = [op.operands[0] for op in end.walk() if op.name == "pattern.build" and _is_target(op, WITH_OPERANDS)]
    same = [list(op.operands) for op in match if op.name == "pattern.require" and _is_target(op, SAME_OP)]
    groups = [[value, *(other for pair in same if value in pair for other in pair)] for value in again] + same
    found: dict[SSAValue, tuple[str, tuple[str, ...]]] = {}
    for group in groups:
        owners = [value.owner for value in dict.fromkeys(group)]
        targets = {_string(op.properties["target"]) for op in owners if op.name == "pattern.op"}  # pyright: ignore
        if len(targets) != 1 or "|" not in (target := targets.pop()) or any(each in found for each in group):
            continue
        name = "f" if not found else f"f{len({each[0] for each in found.values()})}"
        found.update(dict.fromkeys(group, (name, tuple(each.strip() for each in target.split("|")))))
    return found


def _is_target(op: Operation, name: str) -> bool:
    return _string(op.properties["target"]) == name


def _application(
    target: str, operands: Sequence[SSAValue], named: Sequence[str], write: Callable[..., str]
) -> tuple[str, int]:
    """Returns an op on operands with a sign where it has one, and else as a call."""
    sign = _SIGNS.get(target)
    if sign and len(operands) == 2 and not named and not any(_is_rest(each) for each in operands):
        rank = _RANK[sign]
        return f"{write(operands[0], rank)} {sign} {write(operands[1], rank + 1)}", rank
    if target == NEGATION and len(operands) == 1 and not named and not _is_rest(operands[0]):
        text = write(operands[0], _PRIMARY)
        return (f"negative({text})", _PRIMARY) if text[0].isdigit() else (f"-{text}", _SIGN)
    head = _heads(target)
    return f"{head}({', '.join([*(write(each, _SUFFIX) for each in operands), *named])})", _PRIMARY


def _heads(target: str) -> str:
    names = [_short(each.strip()) for each in target.split("|")]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _is_rest(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and value.owner.name == "pattern.rest"


def _short(name: str) -> str:
    dialect, _, rest = name.partition(".")
    return rest if dialect == DEFAULT_DIALECT and rest not in _OWN_WORDS and "." not in rest else name


def _string(attribute: Attribute) -> str:
    return attribute.data  # pyright: ignore


def _parameters(op: Operation) -> list[str]:
    found: Any = op.properties.get("parameters")
    return [] if found is None else _named(found.data)


def _named(given: Mapping[str, Attribute]) -> list[str]:
    return [f"{name} = {_attribute(value)}" for name, value in given.items()]


def _attribute(attribute: Attribute) -> str:
    """Returns the text of an attribute, without the types that numbers have where none is written."""
    if isinstance(attribute, FloatAttr | IntegerAttr) and str(attribute.type) in ("i64", "f64"):
        text = _number(attribute)
        return f"{text} : f64" if str(attribute.type) == "f64" else text
    stream = StringIO()
    Printer(stream).print_attribute(attribute)
    return re.sub(r"(?<![\w.])(-?\d+) : i64", r"\1", stream.getvalue())


def _number(attribute: Attribute) -> str:
    """Returns the text of a number, which has a point where it has an exponent, as the reader asks for."""
    text = repr(attribute.value.data)  # pyright: ignore
    return text if "." in text else text.replace("e", ".0e")


def _splat_number(text: str) -> str:
    """Returns a number as an equation has it. The sign of zero is read only where the zero has a point."""
    return text if text == "-0.0" else text.removesuffix(".0")


def _attributes(op: Operation) -> Iterator[str]:
    wanted: Any = op.properties.get("wanted")
    for name, value in () if wanted is None else wanted.data.items():
        yield f"{name} = {_attribute(value)}"


_TESTS: Final[dict[str, Callable[[Operation], str]]] = {
    "has_dtype": lambda op: f"dtype {_attribute(op.properties['dtype'])}",
    "has_type": lambda op: f"type {_attribute(op.properties['type'])}",
    "has_shape": lambda op: f"shape {sizes_text(op.properties['sizes'])}",  # pyright: ignore
    "has_kind": lambda op: f"kind {_attribute(op.properties['kinds'])}",
    "has_attr": lambda op: f"{{{', '.join(_attributes(op))}}}",
}
"""What `has` says for each op that tests a value."""
