"""Patterns and rules as one line for the prompt, and written out in full for comparison."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Final

from xdsl.ir import Attribute, SSAValue

MOST_CHARACTERS: Final = 120
"""The most characters of a pattern or of a rule at the prompt."""

DEEPEST: Final = 8
"""The number of levels of a pattern that are shown."""


def cut(text: str) -> str:
    """Returns `text`, shortened where it is long."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


class Words:
    """Writes patterns and replacements. A value without a name gets `%0`, `%1`, … in the order in which it is met."""

    def __init__(self, written: dict[str, Any] | None = None):
        self._names: dict[str, str] = {}
        self._written = written or {}
        """The patterns that a replacement may name, by key."""

    def of(self, thing: Any, depth: int = 0) -> str:
        """Returns a pattern, a replacement or a field of one as text."""
        kind = type(thing).__name__
        if isinstance(thing, tuple):
            return f"({', '.join(self.of(each, depth) for each in thing)})"
        if kind == "Bound":
            return self.of(self._written[thing.key], depth) if thing.key in self._written else self._value(thing.key)
        if isinstance(thing, SSAValue):
            return f"%{thing.name_hint or '…'}"
        if not _is_ours(thing):
            return f'"{thing}"' if isinstance(thing, str) else str(thing)
        if depth > DEEPEST:
            return "…"
        if kind == "Any_":
            return self._value(thing.key)
        if kind == "Capture":
            return self._value(thing.key)
        if kind == "Splat":
            return str(thing.value)
        if kind in ("Or", "Associative"):
            return f"({' | '.join(self.of(each, depth + 1) for each in thing.alternatives)})"
        if kind in ("Op", "Create"):
            return self._op(thing, depth)
        if kind == "Build":
            made = {each.key: each for each in thing.made}
            parts = [self.of(made[key], depth + 1) if key in made else self._value(key) for key in thing.keys]
            parts += [f"{name}={value}" for name, value in thing.parameters]
            return f"{thing.name}({', '.join(parts)})"
        named = [f"{name}={self.of(value, depth + 1)}" for name, value in _contents(thing)]
        return f"{kind}({', '.join(named)})"

    def _op(self, thing: Any, depth: int) -> str:
        names = thing.names if hasattr(thing, "names") else (thing.name,)
        operands = ["…"] if thing.operands is None else [self.of(each, depth + 1) for each in thing.operands]
        attributes = [f"{name}={self.of(value, depth + 1)}" for name, value in thing.attributes]
        spelt = "|".join(name.removeprefix("graph.") for name in names) or "any_op"
        return f"{spelt}({', '.join([*operands, *attributes])})"

    def _value(self, key: str) -> str:
        return self._names.setdefault(key, f"%{len(self._names) if key.startswith('#') else key.partition('.')[0]}")


def _is_ours(thing: Any) -> bool:
    return is_dataclass(thing) and not isinstance(thing, Attribute | SSAValue)


def _contents(thing: Any) -> list[tuple[str, Any]]:
    """Returns the fields that say something, without the key of a pattern and what is left at nothing."""
    values = [(each.name, getattr(thing, each.name)) for each in fields(thing) if each.repr and each.name != "key"]
    return [(name, value) for name, value in values if value is not None and value != ()]


def in_full(thing: Any) -> str:
    """Returns all fields of a pattern or of a rule as text. Equal texts mean equal things, which `repr` does not."""
    texts: list[str] = []
    stack = [(False, thing)]  # No recursion, since patterns may be deep. True stands beside text.
    while stack:
        is_text, each = stack.pop()
        if is_text:
            texts.append(each)
        elif isinstance(each, tuple):
            stack.append((True, ")"))
            stack += [pair for item in reversed(each) for pair in ((True, ", "), (False, item))]
            texts.append("(")
        elif _is_ours(each):
            stack.append((True, ")"))
            for name in [field.name for field in reversed(fields(each)) if field.repr]:
                stack += [(True, ", "), (False, getattr(each, name)), (True, f"{name}=")]
            texts.append(f"{type(each).__qualname__}(")
        else:
            texts.append(repr(each))
    return "".join(texts)
