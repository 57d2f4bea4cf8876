"""CHECK lines as patterns: written from a line of IR, and matched with one."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final

from ...lazy_dataclass import dataclass

_VALUE: Final = re.compile(r"%([\w$.-]+)(?=[^\w$.-]|$)|\^(\w+)")
_PARTS: Final = re.compile(r"\{\{(.*?)\}\}|\[\[(\w+):((?:[^\[\]]|\[[^\]]*\])*)\]\]|\[\[(\w+)\]\]")
_SPECIAL: Final = {"{{": "{{\\{\\{}}", "[[": "{{\\[\\[}}"}
ANY: Final = ".*"


@dataclass
class Names:
    """
    The SSA names of one function, and the variables that stand for them.

    Names that the test itself has written stay as they are: they are what its author called the values.
    """

    written: frozenset[str] = frozenset()
    variables: dict[str, str] = field(default_factory=dict)
    """Maps a name in the output to the variable that holds it."""
    marked: set[str] = field(default_factory=set[str])
    """The variables that hold the `%` too, as `[[X:%.*]]` does."""

    def defined(self, name: str) -> str:
        """Returns a variable for a name that has none yet."""
        stem = re.sub(r"\W", "_", name).upper()
        stem = f"V{stem}" if stem[:1].isdigit() else stem
        taken, variable, number = set(self.variables.values()), stem, 1
        while variable in taken:
            variable, number = f"{stem}_{number}", number + 1
        self.bind(name, variable)
        return variable

    def bind(self, name: str, variable: str) -> None:
        """Makes a variable stand for a name, and for nothing else any more."""
        self.variables = {key: value for key, value in self.variables.items() if value != variable}
        self.variables[name.lstrip("%")] = variable
        self.marked = (self.marked - {variable}) | ({variable} if name.startswith("%") else set())


def check_of(line: str, names: Names) -> str:
    """Returns the pattern for a line of IR. Values that the test has not named become variables."""

    def variable(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name in names.written:
            return found[0]
        mark = found[0][0]
        if name in names.variables:
            known = names.variables[name]
            return f"[[{known}]]" if known in names.marked else f"{mark}[[{known}]]"
        return f"{mark}[[{names.defined(name)}:{ANY}]]"

    pieces: list[str] = []
    last = 0
    for found in _VALUE.finditer(line):
        pieces += [_escaped(line[last : found.start()]), variable(found)]
        last = found.end()
    return "".join([*pieces, _escaped(line[last:])])


def plain_check_of(line: str) -> str:
    """Returns the pattern for a line that is no IR."""
    return _escaped(line.strip())


def _escaped(text: str) -> str:
    for mark, written in _SPECIAL.items():
        text = text.replace(mark, written)
    return text


def matches(pattern: str, line: str, names: Names) -> bool:
    """Returns whether a CHECK line fits a line of IR. The variables that it defines go into `names` then."""
    known = {variable: f"%{name}" if variable in names.marked else name for name, variable in names.variables.items()}
    text, groups, last = "", list[str](), 0
    for found in _PARTS.finditer(pattern):
        text += _literal(pattern[last : found.start()])
        last = found.end()
        regex, defined, of, used = found.groups()
        if regex is not None:
            text += f"(?:{regex})"
        elif defined is not None:
            if defined in groups:
                text += f"(?P={defined})"
            else:
                groups.append(defined)
                text += f"(?P<{defined}>{of})"
        elif used in groups:
            text += f"(?P={used})"
        elif used in known:
            text += re.escape(known[used])
        else:
            return False
    try:
        found = re.search(text + _literal(pattern[last:]), line)
    except re.error:
        return False
    if found is None:
        return False
    for variable, name in found.groupdict().items():
        names.bind(name, variable)
    return True


def _literal(text: str) -> str:
    return re.sub(r"(\\ )+", r"\\s+", re.escape(text))


def is_own(suffix: str, pattern: str) -> bool:
    """Returns whether a CHECK line has a form that is written here, so that it may go when it fits no more."""
    if suffix not in ("LABEL", "NEXT", "SAME"):
        return False
    own = [f"[[{name}:{ANY}]]" for name in re.findall(r"\[\[(\w+):\.\*\]\]", pattern)]
    rest = pattern
    for each in [*own, *_SPECIAL.values()]:
        rest = rest.replace(each, "")
    return "{{" not in rest and re.search(r"\[\[\w+:", rest) is None
