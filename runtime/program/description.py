"""
What native code does not say about itself: its entries, their arguments, its checks, and what it calls from outside.

A `Description` is plain data, so that the compile cache and pickles can keep it.
"""

from __future__ import annotations

from typing import Any

from ...core.roles import ENTRY_PREFIX
from ...lazy_dataclass import dataclass
from .arrays import ArrayType


@dataclass(frozen=True)
class Argument:
    """A pointer that native code takes: what it is for (`role`), and the array behind it."""

    role: str
    name: str
    type: ArrayType
    key: str = ""
    place_of: int | None = None
    """The number of the donated input in whose place an output may lie."""


@dataclass(frozen=True)
class Entry:
    """A function that can be called: its arguments in the order of the IR."""

    name: str
    arguments: tuple[Argument, ...]
    is_prepare: bool = False
    code: str = ""
    """The function whose machine code this one runs too, with other weights. It has its own when this is empty."""

    @property
    def symbol(self) -> str:
        """The name of its machine code."""
        return ENTRY_PREFIX + (self.code or self.name)

    def of(self, role: str) -> list[Argument]:
        """Returns the arguments with this role, in order."""
        return [argument for argument in self.arguments if argument.role == role]

    @property
    def misplaced(self) -> str | None:
        """What is wrong with the inputs in whose places outputs lie, None where nothing is."""
        inputs, taken = self.of("input"), set[int]()
        for output in self.of("output"):
            place = output.place_of
            if place is None:
                continue
            if self.of("size") or self.of("stride"):
                return f"output '{output.name}' is in the place of an input, but the entry takes sizes"
            if not 0 <= place < len(inputs) or place in taken:
                expected = f"one of {len(inputs)}, once each"
                return f"output '{output.name}' is in the place of input {place}, expected {expected}"
            if inputs[place].type != output.type or not output.type.is_static:
                return f"output '{output.name}' is {output.type}, expected {inputs[place].type} as input {place} is"
            taken.add(place)
        return None


@dataclass(frozen=True)
class External:
    """A function that a program calls but does not hold: the symbol, its code generator, its name and text."""

    symbol: str
    compiler: str
    function: str
    source: str


class DescriptionError(ValueError):
    """Data that describes no program."""


@dataclass(frozen=True)
class Description:
    """The entries of a program, the checks that may fail (message, location), and what it calls from outside."""

    entries: tuple[Entry, ...]
    checks: tuple[tuple[str, str], ...]
    externals: tuple[External, ...] = ()
    kernels: tuple[tuple[str, str], ...] = ()
    """What the program calls a function of its machine code whose symbol is a hash: the symbol, the name."""

    def to_json(self) -> dict[str, Any]:
        """
        Returns what `dataclasses.asdict` gives, in a tenth of its time.

        Time counts, since a net has an argument per weight, and another one for packing it.
        """
        entries = tuple(
            {
                **vars(entry),
                "arguments": tuple(map(_plain, entry.arguments)),
            }
            for entry in self.entries
        )
        externals = tuple(dict(vars(external)) for external in self.externals)
        return {"entries": entries, "checks": self.checks, "externals": externals, "kernels": self.kernels}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Description:
        """Returns the description that `to_json` made plain. Raises DescriptionError for data of another make."""
        try:
            return Description._of_plain(data)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise DescriptionError(f"no description of a program: {type(error).__name__}: {error}") from error

    @staticmethod
    def _of_plain(data: dict[str, Any]) -> Description:
        def argument(item: dict[str, Any]) -> Argument:
            type_ = ArrayType(item["type"]["dtype"], tuple(item["type"]["shape"]))
            return Argument(item["role"], item["name"], type_, item["key"], item.get("place_of"))

        entries = tuple(
            Entry(item["name"], tuple(map(argument, item["arguments"])), item["is_prepare"], item["code"])
            for item in data["entries"]
        )
        if misplaced := next((entry.misplaced for entry in entries if entry.misplaced), None):
            raise ValueError(misplaced)
        checks = tuple((message, location) for message, location in data["checks"])
        externals = tuple(External(**item) for item in data["externals"])
        kernels = tuple((symbol, name) for symbol, name in data.get("kernels", ()))  # Older files have none.
        return Description(entries, checks, externals, kernels)


def _plain(argument: Argument) -> dict[str, Any]:
    """Returns an argument as plain data. Runtimes that know of no donated inputs copy them, and miss nothing."""
    plain = {**vars(argument), "type": dict(vars(argument.type))}
    if argument.place_of is None:
        del plain["place_of"]
    return plain
