"""Drawing instances of a rule: which element types, which shape, which order of operands comes next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from typing import Final
from zlib import crc32

from xdsl.context import Context
from xdsl.utils.exceptions import VerifyException

from ...core.ir.verification import verify_module
from ...core.text.parsing import parse_text
from ...patterns.language.rules import Rule
from ..programs.ir_generators import RandomChooser
from ..programs.op_generators import FLOATS
from . import own_programs as own_programs  # It registers its programs.
from .choices import DTYPES, Impossible, Taste, small_shape
from .hints import Hints, hints_of
from .instances import Instance, InstanceMaker
from .weight_programs import GENERATORS

NO_PROGRAM: Final = (
    Impossible,
    VerifyException,
    TypeError,
    ValueError,
    OverflowError,
    IndexError,
    ZeroDivisionError,
)
"""What building an instance of choices that do not fit together ends in."""


class Drawing:
    """
    Draws instances of one rule. `orders` counts the orders of operands of each commutative op in the instances that the
    rule applied to, and `fruitful` holds the element types of these.
    """

    def __init__(self, ctx: Context, rule: Rule, seed: int):
        self._ctx = ctx
        self._rule = rule
        self._seed = seed
        self._hints: Hints = hints_of(rule)
        self.orders: dict[str, Counter[bool]] = {}
        self.fruitful: list[str] = []
        self._seen: dict[str, Counter[str]] = {}
        """How often the rule applied to ops of each name, by the key of the pattern."""

    def draw(self, number: int) -> Instance | None:
        """Returns instance `number`, or `None` where the choices that this number stands for lead nowhere."""
        rule = self._rule
        choose = RandomChooser(crc32(f"{rule.name}/{self._seed}/{number}".encode()))
        if rule.name in GENERATORS:
            return Instance(parse_text(self._ctx, GENERATORS[rule.name](choose), rule.name), None, [])
        allowed: Sequence[str] = self._hints.dtypes
        if choose.integer(0, 5) == 0:
            allowed = DTYPES
        elif self.fruitful and choose.integer(0, 2) == 0:
            allowed = self.fruitful
        elif choose.integer(0, 3) == 0:  # Most differences are those of floats, which are a few of many types.
            allowed = [dtype for dtype in allowed if dtype in FLOATS] or allowed
        taste = Taste(choose.element(allowed), small_shape(choose))
        # The order that was seen less often, mostly: it may be one in which the rule never applies.
        swap = {
            key: (counter[True] > counter[False]) != (choose.integer(0, 3) == 0) for key, counter in self.orders.items()
        }
        try:
            instance = InstanceMaker(self._ctx, rule, self._hints, choose, taste, swap, self._seen).build()
            verify_module(instance.module)
        except NO_PROGRAM:
            return None
        return instance

    def applied(self, instance: Instance, in_order: Container[str] = ()) -> None:
        """Takes note that the rule applied to an instance. The ops with keys in `in_order` have one order only."""
        if instance.dtype and instance.dtype not in self.fruitful:
            self.fruitful.append(instance.dtype)
        for key, name in instance.names.items():
            self._seen.setdefault(key, Counter())[name] += 1
        for key, forward in instance.orders.items():
            if key not in in_order:
                self.orders.setdefault(key, Counter())[forward] += 1


__all__ = ["NO_PROGRAM", "Drawing"]
