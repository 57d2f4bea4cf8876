"""Programs scheduled and compiled for a machine that is named, and run on this one, which can do what that one can."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import llvmlite.binding as llvm
from stepwell.core.pass_context import PassContext
from stepwell.runtime import compile as compiler
from stepwell.runtime.jit import Target, compile_object, host_target
from stepwell.schedule.targets import target_named


def runs_here(name: str) -> bool:
    """Whether this processor has the instructions of an x86-64 machine."""
    if not host_target().triple.startswith("x86_64"):
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
    machine = target_named(name)
    target = Target(host_target().triple, machine.cpu, machine.llvm_features)

    def compile_for(text: str) -> bytes:
        return compile_object(text, target)

    with (
        PassContext(config={"target": name}),
        patch.object(compiler, "compile_object", compile_for),
    ):
        yield
