"""
Formulas over sizes and attributes, as conditions and replacements hold them: `size($0, 0) * 2 <= $1`.

`$0` is the first thing that the condition is about. Equations have names in these places: `size(%x, 0) * 2 <= %a`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NoReturn

from ...lazy_dataclass import dataclass

COMPARISONS: Final = ("==", "!=", "<=", ">=", "<", ">")
OF_VALUES: Final = {"size": 2, "rank": 1, "elements": 1, "extent": 1, "users": 1, "uses": 1}
"""The functions whose first argument is a value, with their numbers of arguments."""

FUNCTIONS: Final = {**OF_VALUES, "length": 1, "mod": 2, "min": 2, "max": 2}

_TOKEN: Final = re.compile(
    r"(?:[ \n\t]|//[^\n]*)*(?P<text>[%$][A-Za-z_0-9][\w.]*(?:-\w+)*|\d+\.\d*(?:e[+-]?\d+)?|\d+"
    r"|[A-Za-z_]\w*|==|!=|<=|>=|[<>()\[\],+\-*/])"
)


_BLANK: Final = re.compile(r"(?:[ \n\t]|//[^\n]*)*")
_ANY: Final = re.compile(r"=>|->|\w+|[^\s\w]")


@dataclass(frozen=True)
class Formula:
    """
    A node of a formula. `kind` is `number`, `name`, `list`, `item`, a function, a sign or a comparison.

    `text` is that of a number or name, without its `%` or `$`.
    """

    kind: str
    parts: tuple[Formula, ...] = ()
    text: str = ""
    at: int = 0

    def names(self) -> Iterator[Formula]:
        """Yields the names in it, from left to right."""
        if self.kind == "name":
            yield self
        for part in self.parts:
            yield from part.names()

    def renamed(self, rename: Callable[[Formula], Formula]) -> Formula:
        """Returns the same formula with `rename(node)` in the place of each name."""
        if self.kind == "name":
            return rename(self)
        return Formula(self.kind, tuple(part.renamed(rename) for part in self.parts), self.text, self.at)


class FormulaError(Exception):
    """A text is no formula. `at` and `end` are the place in the text."""

    def __init__(self, message: str, at: int, end: int):
        super().__init__(message)
        self.message, self.at, self.end = message, at, end


def parse_formula(text: str, at: int = 0, *, comparison: bool | None = None) -> tuple[Formula, int]:
    """
    Reads the formula that begins at `at`, and returns it with the place behind it.

    With `comparison` it must compare two numbers, with False it must not. Raises `FormulaError`.
    """
    reader = _Reader(text, at)
    if comparison:
        return reader.comparison(), reader.end
    found = reader.sum()
    if comparison is None and (sign := reader.take(*COMPARISONS)):
        found = Formula(sign, (found, reader.sum()), at=at)
    return found, reader.end


def begins_formula(text: str, at: int) -> bool:
    """Returns whether a formula, and no name of a condition, stands at `at`."""
    found = _TOKEN.match(text, at)
    if found is None:
        return False
    word = found["text"]
    return word[0] in "%$(-[" or word[0].isdigit() or (word in FUNCTIONS and text[found.end() :].lstrip()[:1] == "(")


class _Reader:
    """Reads formulas. The precedence is that of Python."""

    def __init__(self, text: str, at: int):
        self._text = text
        self.end = at
        self._next()

    def _next(self) -> None:
        self._found = _TOKEN.match(self._text, self.end)
        self._word = "" if self._found is None else self._found["text"]

    def take(self, *words: str) -> str | None:
        if self._word not in words:
            return None
        return self._take()

    def _take(self) -> str:
        assert self._found is not None
        word, self.end = self._word, self._found.end()
        self._next()
        return word

    def _at(self) -> int:
        return self.end if self._found is None else self._found.start("text")

    def fail(self, message: str) -> NoReturn:
        at, word = self._at(), self._word
        if not word:
            blank = _BLANK.match(self._text, at)
            at = at if blank is None else blank.end()
            found_there = _ANY.match(self._text, at)
            word = "" if found_there is None else found_there[0]
        found = f"'{word}'" if word else "the end of the text"
        raise FormulaError(f"{message} in a formula, found {found}", at, at + max(len(word), 1))

    def comparison(self) -> Formula:
        """Reads a comparison, which may stand in parentheses."""
        start, at = self.end, self._at()
        if self.take("("):
            try:
                found = self.comparison()
                if self.take(")") and self._word not in (*COMPARISONS, *"+-*/["):
                    return found
            except FormulaError:
                pass
            self.end = start
            self._next()
        found = self.sum()
        if (sign := self.take(*COMPARISONS)) is None:
            self.fail(f"expected one of {' '.join(COMPARISONS)}")
        return Formula(sign, (found, self.sum()), at=at)

    def sum(self) -> Formula:
        found = self._product()
        while sign := self.take("+", "-"):
            found = Formula(sign, (found, self._product()))
        return found

    def _product(self) -> Formula:
        found = self._signed()
        while sign := self.take("*", "/"):
            found = Formula(sign, (found, self._signed()))
        return found

    def _signed(self) -> Formula:
        if self.take("-"):
            return Formula("negative", (self._signed(),))
        found = self._primary()
        while self.take("["):
            found = Formula("item", (found, self.sum()))
            self._expect("]")
        return found

    def _primary(self) -> Formula:
        at, word = self._at(), self._word
        if word[:1] in ("%", "$"):
            return Formula("name", text=self._take()[1:], at=at)
        if word[:1].isdigit():
            return Formula("number", text=self._take(), at=at)
        if self.take("("):
            found = self.sum()
            self._expect(")")
            return found
        if self.take("["):
            return Formula("list", self._parts("]"))
        if word not in FUNCTIONS:
            self.fail("expected a number, a name or a function")
        self._take()
        self._expect("(")
        parts = self._parts(")")
        if len(parts) != FUNCTIONS[word]:
            wanted = "1 argument" if FUNCTIONS[word] == 1 else f"{FUNCTIONS[word]} arguments"
            message = f"'{word}' takes {wanted}, found {len(parts)} in a formula"
            raise FormulaError(message, at, self.end)
        return Formula(word, parts, at=at)

    def _expect(self, word: str) -> None:
        if self.take(word) is None:
            self.fail(f"expected '{word}'")

    def _parts(self, end: str) -> tuple[Formula, ...]:
        parts: list[Formula] = []
        while not self.take(end):
            if parts:
                self._expect(",")
            parts.append(self.sum())
        return tuple(parts)


_RANKS: Final = {**dict.fromkeys(COMPARISONS, 0), "+": 1, "-": 1, "*": 2, "/": 2, "negative": 3}


def formula_text(formula: Formula, name: Callable[[str], str], rank: int = 0) -> str:
    """Returns the text of a formula, where `name` writes a name."""
    kind, parts = formula.kind, formula.parts
    own = _RANKS.get(kind, 4)
    if kind == "name":
        text = name(formula.text)
    elif kind == "number":
        text = formula.text
    elif kind == "negative":
        text = f"-{formula_text(parts[0], name, own)}"
    elif kind == "item":
        text = f"{formula_text(parts[0], name, 4)}[{formula_text(parts[1], name)}]"
    elif kind in _RANKS:
        text = f"{formula_text(parts[0], name, own)} {kind} {formula_text(parts[1], name, own + 1)}"
    else:
        inside = ", ".join(formula_text(part, name) for part in parts)
        text = f"[{inside}]" if kind == "list" else f"{kind}({inside})"
    return text if own >= rank else f"({text})"


def placed_text(formula: Formula) -> str:
    """Returns the text of a formula whose names are places: `$0`."""
    return formula_text(formula, lambda name: f"${name}")
