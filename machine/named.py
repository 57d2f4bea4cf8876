"""
The machine that schedules are made for, by name.

The key `target` of the pass context says for which machine schedules and machine code are. A schedule is right on every
machine, because LLVM cuts vectors to the registers that there are. Machine code is for its own machine only.
"""

from __future__ import annotations

from ..core.codegens import note_registration
from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.texts import unknown_target
from ..core.passes.config import register_config
from ..core.passes.context import config_value
from .families import NAMED
from .fields import check_machine
from .host import host_machine
from .machine import Machine

KEY = register_config("target", str, "host", "the machine that schedules and machine code are for", "stepwell")

_registered: dict[str, Machine] = {}


def register_machine(machine: Machine) -> None:
    """
    Makes a machine known by its name in this process. One of the same name that was registered before is replaced.

    Raises `StepwellError` for the name of a machine of docs/targets.md, and for a field that cannot be.
    """
    check_machine(machine)
    if machine.name in ("host", *NAMED):
        raise StepwellError(Diagnostic(f"cannot register the target '{machine.name}': the name is taken"))
    _registered[machine.name] = machine
    note_registration(f"machine {machine.describe()}")  # programs in the compile cache are for this description


def machine_named(name: str) -> Machine:
    """Returns the machine of that name, `host` for this one. Raises `StepwellError` for one that is not known."""
    if name == "host":
        return host_machine()
    known = NAMED | _registered
    if name not in known:
        raise unknown_target(name, machine_names())
    return known[name]


def machine_names() -> list[str]:
    """Returns the names that `machine_named` knows."""
    return ["host", *NAMED, *_registered]


def chosen_machine(option: str | None) -> Machine:
    """Returns the machine that a pass option names, else the one of the key `target` of the pass context."""
    return machine_named(config_value("target") if option is None else option)
