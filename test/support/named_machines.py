"""Programs scheduled and compiled for a machine that is named, and run on this one, which can do what that one can."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import llvmlite.binding as llvm
from stepwell.core.passes.context import PassContext
from stepwell.machine.named import machine_named
from stepwell.runtime import source
from stepwell.runtime.native.jit import compile_object, host_code_target


def runs_here(name: str) -> bool:
    """Whether this processor has the instructions of an x86-64 machine."""
    if not host_code_target().triple.startswith("x86_64"):
        return False
    features = llvm.get_host_cpu_features()
    wanted = {
        "x86-64": (),
        "x86-64-v3": ("avx2", "fma"),
        "x86-64-v4": ("avx512f", "avx512vl", "avx512bw", "avx512dq"),
    }
    return all(features.get(feature, False) for feature in wanted[name])


@contextmanager
def as_machine(name: str) -> Iterator[None]:
    """Inside, `stepwell.compile` makes schedules and machine code for the machine `name`; pass `cache=False`."""
    if name == "host":
        yield
        return
    machine = machine_named(name)
    target = replace(machine.code_target, triple=host_code_target().triple)

    def compile_for(text: str) -> bytes:
        return compile_object(text, target)

    with (
        PassContext(config={"target": name}),
        patch.object(source, "compile_object", compile_for),
    ):
        yield
