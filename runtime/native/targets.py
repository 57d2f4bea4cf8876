"""What LLVM is told of a machine that is named, and whether its code runs in this process."""

from __future__ import annotations

from dataclasses import replace

from ...core.passes.context import config_value
from ...machine.code_target import CodeTarget
from ...machine.named import machine_named
from ...machine.x86_64 import needed_features
from ..errors import ProcessorError
from .jit import host_code_target, load_all_machines

HINT = 'compile it with target="host", or export it for a machine that has them'


def code_target(name: str) -> CodeTarget:
    """
    Returns what LLVM is told to make code for the machine `name`, one of docs/targets.md or `host`.

    The system is this one where the architecture is. Raises StepwellError for a name that is not known.
    """
    here = host_code_target()
    if name == "host":
        return here
    named = machine_named(name).code_target.as_host(tiles_permitted=True)
    if named.architecture != here.architecture:
        load_all_machines()
        return named
    return replace(named, triple=here.triple)


def chosen_code_target() -> CodeTarget:
    """Returns what LLVM is told of the `target` of the pass context."""
    return code_target(config_value("target"))


def check_runs_here(name: str, uses_tiles: bool = False) -> None:
    """
    Raises ProcessorError where this process cannot run code for the machine `name`.

    Features of AMX count where the program uses tile registers.
    """
    if name == "host":
        return
    here, wanted = host_code_target(), code_target(name)
    if here.architecture != wanted.architecture:
        raise ProcessorError(
            f"the program is compiled for {name}, and this processor is of {here.architecture}; {HINT}"
        )
    needed = needed_features(wanted, uses_tiles) or tuple(_enabled(wanted))
    lacking = [feature for feature in needed if feature not in _enabled(here)]
    if any(feature.startswith("amx-") for feature in lacking):
        lacking[-1] += " or the permission of the system to use tile registers"
    if lacking:
        raise ProcessorError(f"the program is compiled for {name}, this processor lacks {', '.join(lacking)}; {HINT}")


def _enabled(target: CodeTarget) -> list[str]:
    """Returns the features that `target` has by its feature string."""
    return [word[1:] for word in target.written if word.startswith("+")]
