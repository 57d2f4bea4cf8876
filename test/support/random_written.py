"""
Random loop functions that write and read elements of one buffer, and plain Python that runs them.

A program is a list of nests, some inside a loop of their own. Each touches `T` at an affine place of its loops, perhaps
with quotients and remainders, in the turns that satisfy a condition.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

Place = tuple[int, ...]


@dataclass
class Access:
    """A block in loops, which stores to T or loads from it."""

    number: int
    is_store: bool
    loops: list[tuple[str, int]]
    index: str
    where: str

    def text(self) -> str:
        heads = "".join(f"tensor_loop.for %{name} in {extent} {{\n" for name, extent in self.loops)
        body = "memref.store %x, %T[%v{0}] : memref<SIZExf32>" if self.is_store else LOAD
        where = f" where({self.where})" if self.where else ""
        block = f'tensor_loop.block "b{self.number}" spatial(%v{self.number} in SIZE = {self.index}){where} {{\n'
        return heads + block + body.format(self.number) + "\n}\n" + "}\n" * len(self.loops)

    def places(self, outer: dict[str, int]) -> Iterator[int]:
        """Yields the places that it touches, in order."""
        for turns in product(*(range(extent) for _, extent in self.loops)):
            values = outer | dict(zip((name for name, _ in self.loops), turns, strict=True))
            if not self.where or _value(self.where, values):
                yield _value(self.index, values)


LOAD = "%l{0} = memref.load %T[%v{0}] : memref<SIZExf32>\nmemref.store %l{0}, %B[%c0] : memref<1xf32>"


@dataclass
class Loop:
    """A loop around accesses."""

    name: str
    extent: int
    inside: list[Access]


@dataclass
class WrittenProgram:
    """A loop function, and what becomes of it."""

    items: list[Access | Loop]
    size: int = 1
    missing: dict[int, int] = field(default_factory=dict)
    """The first place that the load of each number reads before it is written."""
    is_whole: bool = False
    """T is written as a whole in the end."""

    @property
    def text(self) -> str:
        parts: list[str] = []
        for item in self.items:
            if isinstance(item, Loop):
                inside = "".join(each.text() for each in item.inside)
                parts.append(f"tensor_loop.for %{item.name} in {item.extent} {{\n{inside}}}\n")
            else:
                parts.append(item.text())
        head = "tensor_loop.func @f(%x: f32) outs(%T: memref<SIZExf32>, %B: memref<1xf32>) {\n"
        first = "%c0 = arith.constant 0 : index\nmemref.store %x, %B[%c0] : memref<1xf32>\n"
        return (head + first + "".join(parts) + "}\n").replace("SIZE", str(self.size))

    def run(self) -> None:
        """Finds the size of T, what is read too early, and whether all of T is written."""
        steps: list[tuple[Access, int]] = []
        for item in self.items:
            if isinstance(item, Access):
                steps += [(item, place) for place in item.places({})]
                continue
            for turn in range(item.extent):
                steps += [(each, place) for each in item.inside for place in each.places({item.name: turn})]
        self.size = max((place for _, place in steps), default=0) + 1
        written: set[int] = set()
        for access, place in steps:
            if access.is_store:
                written.add(place)
            elif place not in written:
                self.missing.setdefault(access.number, place)
        self.is_whole = len(written) == self.size


def _value(text: str, values: dict[str, int]) -> int:
    python = text.replace("floordiv", "//").replace(" mod ", " % ").replace("%", "%")
    for name, value in values.items():
        python = python.replace(f"%{name}", str(value))
    return int(eval(python, {"__builtins__": {}}))


class _Draw:
    def __init__(self, seed: int):
        self.choose = random.Random(seed)
        self.count = 0

    def access(self, is_store: bool, outer: list[tuple[str, int]]) -> Access:
        number = self.count
        self.count += 1
        loops = [(f"i{number}_{depth}", self.choose.randint(1, 5)) for depth in range(self.choose.randint(0, 2))]
        if not loops and not outer:
            loops = [(f"i{number}_0", self.choose.randint(1, 6))]
        return Access(number, is_store, loops, self.index([*outer, *loops]), self.condition([*outer, *loops]))

    def index(self, loops: list[tuple[str, int]]) -> str:
        """A dense sum more often than not, else one with gaps, or with a quotient or a remainder."""
        order = list(loops)
        self.choose.shuffle(order)
        terms: list[str] = []
        factor = 1
        for name, extent in order:
            if self.choose.random() < 0.85:
                terms.append(f"%{name} * {factor}")
                factor *= max(1, extent + self.choose.choice([0, 0, 0, -1, 1]))
        if self.choose.random() < 0.3:
            terms.append(str(self.choose.randint(0, 6)))
        total = " + ".join(terms) if terms else "0"
        kind = self.choose.random()
        if terms and kind < 0.1:
            return f"({total}) floordiv {self.choose.randint(2, 3)}"
        return f"({total}) mod {self.choose.randint(2, 5)}" if terms and kind < 0.2 else total

    def condition(self, loops: list[tuple[str, int]]) -> str:
        if self.choose.random() < 0.6:
            return ""
        names = [f"%{name} * {self.choose.randint(1, 3)}" for name, _ in loops if self.choose.random() < 0.6]
        return f"{' + '.join(names)} < {self.choose.randint(1, 9)}" if names else ""

    def items(self) -> Iterator[Access | Loop]:
        for _ in range(self.choose.randint(1, 4)):
            if self.choose.random() < 0.35:
                name, extent = f"o{self.count}", self.choose.randint(1, 4)
                parts = [self.choose.random() < 0.6 for _ in range(self.choose.randint(1, 3))]
                yield Loop(name, extent, [self.access(is_store, [(name, extent)]) for is_store in parts])
            else:
                yield self.access(self.choose.random() < 0.6, [])


def written_program(seed: int) -> WrittenProgram:
    """Returns program number `seed`, which has been run."""
    program = WrittenProgram(list(_Draw(seed).items()))
    program.run()
    return program
