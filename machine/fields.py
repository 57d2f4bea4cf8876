"""What the fields of a machine may be. Schedules take that for granted, so `register_machine` checks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from math import isfinite
from typing import Any, Final

from ..core.messages.diagnostics import Diagnostic, StepwellError
from .machine import LINE_BYTES, Machine

FEWEST_REGISTERS: Final = 8
"""The tiles of all kernels fit into as many. No machine with vectors has fewer."""


def _number(least: int, what: str = "") -> tuple[Callable[[Any], bool], str]:
    """Returns the test of a whole number from `least` on, and what is expected where it fails."""
    return lambda value: type(value) is int and value >= least, f"a whole number{what} of at least {least}"


def _is_power_of_two(value: Any) -> bool:
    return type(value) is int and value >= 8 and value & value - 1 == 0


_TEXT: Final = lambda value: isinstance(value, str) and value.strip() != "", "text that is not empty"
_FLAG: Final = lambda value: isinstance(value, bool), "True or False"
_NAMES: Final = (
    lambda value: isinstance(value, frozenset | set) and all(isinstance(each, str) and each for each in value),
    "a frozenset of names, such as frozenset({'avx512vnni'})",
)

EXPECTED: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "name": _TEXT,
    "triple": (lambda value: _TEXT[0](value) and "-" in value, "a triple, such as 'x86_64-unknown-linux-gnu'"),
    "cpu": _TEXT,
    "register_bytes": (_is_power_of_two, "a power of two of at least 8"),
    "registers": _number(FEWEST_REGISTERS),
    "fma": _FLAG,
    "features": _NAMES,
    "multiply_adds": _number(1),
    "loads": _number(1),
    "latency": _number(1),
    "l1_bytes": _number(LINE_BYTES, " of bytes"),
    "l1_way_bytes": _number(LINE_BYTES, " of bytes"),
    "l2_bytes": _number(LINE_BYTES, " of bytes"),
    "l3_bytes": _number(0, " of bytes"),
    "l3_is_near": _FLAG,
    "sweeps_in_place": _number(0),
    "permutes_apart": _FLAG,
    "line_cycles": (
        lambda value: type(value) in (int, float) and isfinite(value) and value >= 0,
        "a number of at least 0",
    ),
    "cores": _number(1),
}
"""The test of each field, and what is expected where it fails."""


def check_machine(machine: Machine) -> None:
    """Raises StepwellError for a field that no schedule can be made for."""
    for field in fields(machine):
        value = getattr(machine, field.name)
        holds, expected = EXPECTED[field.name]
        if not holds(value):
            message = f"cannot register the target {machine.name!r}: {field.name} is {value!r}, expected {expected}"
            raise StepwellError(Diagnostic(message))
