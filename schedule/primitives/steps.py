"""
Makes a function a primitive: `@step(SplitOp)` above it.

The function says once what the primitive takes, when it is legal, and what it does. Replaying a program, the method of
`Schedule`, its `help`, the stub for type checkers and the table of docs/schedules.md follow from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import Any, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from ...dialects.schedule.base import Field, StepOp
from ...lazy_dataclass import dataclass

Number = int
"""A number of a list for which the handle of a sampled number may stand, in programs and in methods of `Schedule`."""

GIVEN_BY_REPLAY = ("module", "random", "op")
"""The parameters by keyword that no step holds: the module, the source of random numbers, and the step itself."""

COUNT = "count"
"""The parameter that says how many handles the step makes."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Primitive:
    """A step of the dialect with the function that runs it on loops and blocks."""

    op_type: type[StepOp]
    function: Callable[..., Any]
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    """The parameters that have another name than the property of the op."""

    @property
    def name(self) -> str:
        """Returns the name of the function, of the step and of the method."""
        return self.function.__name__

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """Returns what a caller gives, in order."""
        every = inspect.signature(self.function).parameters.values()
        return [each for each in every if each.name not in GIVEN_BY_REPLAY]

    @cached_property
    def given_by_replay(self) -> list[str]:
        """Returns the parameters that the replay gives."""
        return [name for name in inspect.signature(self.function).parameters if name in GIVEN_BY_REPLAY]

    def field(self, parameter: str) -> Field | None:
        """Returns the field of the op that holds a parameter, or `None` for handles and the number of results."""
        name = self.renamed.get(parameter, parameter)
        return next((each for each in self.op_type.FIELDS if each.name == name), None)


PRIMITIVES: dict[type[StepOp], Primitive] = {}
"""The primitives whose modules are loaded. `table.py` loads all."""


def step(op_type: type[StepOp], **renamed: str) -> Callable[[F], F]:
    """
    Makes a function what runs a step of type `op_type`.

    Its first parameters are the loops and blocks that the handles stand for, the others have the names of the fields
    of the op. It returns what the results of the step stand for.
    """

    def register(function: F) -> F:
        PRIMITIVES[op_type] = Primitive(op_type, function, renamed)
        return function

    return register


def as_attribute(value: Attribute | int | str) -> Attribute:
    """Returns an annotation as an attribute."""
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, str):
        return StringAttr(value)
    if not isinstance(value, Attribute):
        raise TypeError(f"{value!r} is no annotation, expected a number, a string or an attribute")
    return value


def property_of(kind: str, value: Any) -> Attribute | None:
    """Returns the property for a parameter other than a list of numbers, or `None` where it is left out."""
    if value is None or (kind == "flag" and not value):
        return None
    if kind == "flag":
        return UnitAttr()
    make = {"string": StringAttr, "symbol": SymbolRefAttr, "map": _map, "attribute": as_attribute}
    return IntegerAttr(value, i64) if kind == "number" else make[kind](value)


def _map(value: Any) -> AffineMapAttr:
    """Returns a map, also from its text: `(i, j) -> (j, i)`. Raises TypeError for what is neither."""
    if isinstance(value, str):
        text = value if value.startswith("affine_map<") else f"affine_map<{value}>"
        try:
            value = Parser(Context(), text).parse_attribute()
        except ParseError as error:
            raise TypeError(f"'{value}' is no affine map, expected one such as '(i, j) -> (j, i)'") from error
    if isinstance(value, AffineMapAttr):
        return value
    if not isinstance(value, AffineMap):
        raise TypeError(f"{value!r} is no affine map, expected one or its text, such as '(i, j) -> (j, i)'")
    return AffineMapAttr(value)


def value_of(kind: str, attribute: Attribute) -> Any:
    """Returns the parameter that a property, other than a list of numbers, stands for."""
    if kind == "number" and isinstance(attribute, IntegerAttr):
        return attribute.value.data
    if kind == "symbol" and isinstance(attribute, SymbolRefAttr):
        return attribute.root_reference.data
    return attribute if kind == "attribute" else attribute.data  # pyright: ignore[reportAttributeAccessIssue]
