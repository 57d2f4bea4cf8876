"""Races in the parallel loops of one function, found by a few iterations of each loop."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Operation

from ...core.roles import KEY
from ..arith import dtype_of
from ..element_types import Array
from ..failure import ReferenceFailure
from .buffers import Argument, arguments_of
from .faults import LoopFault
from .run import LoopRunner
from .state import symbol_of

SAMPLES = 3
"""The iterations of each loop that run: the first two, since neighbours meet most often, and the last one."""

SAMPLED_STEPS = 100_000
"""The ops that run for one function."""

MOST_SAMPLED_BYTES = 256 * 1024 * 1024
"""A function of larger buffers is not looked at."""


def sampled_race(module: ModuleOp, function: Operation) -> LoopFault | None:
    """
    Returns a race between iterations of a parallel loop of a function on buffers, or None where none is seen.

    All inputs and weights are zeros, and each loop runs `SAMPLES` iterations: the elements that a loop touches seldom
    depend on values. So a function that would take the interpreter hours takes some milliseconds. A function that does
    anything else that is wrong on zeros is looked at until then.
    """
    arguments = arguments_of(function)
    name = symbol_of(function)
    if name is None or sum(map(_bytes, arguments)) > MOST_SAMPLED_BYTES:
        return None
    if any(isinstance(each.type, MemRefType) and DYNAMIC_INDEX in each.type.get_shape() for each in arguments):
        return None
    runner = LoopRunner(module, max_steps=SAMPLED_STEPS, samples=SAMPLES)
    weights = {key.data: _zeros(each) for each in arguments if isinstance(key := each.attributes.get(KEY), StringAttr)}
    try:
        runner.run(name, [_zeros(each) for each in arguments if each.is_given], function, weights=weights)
    except LoopFault as fault:
        return fault if fault.kind == "race" else None
    except ReferenceFailure:
        return None
    return None


def _zeros(argument: Argument) -> Array:
    type_ = argument.type
    return np.zeros(type_.get_shape() if isinstance(type_, MemRefType) else (), dtype_of(type_))


def _bytes(argument: Argument) -> int:
    type_ = argument.type
    return prod(type_.get_shape()) * dtype_of(type_).itemsize if isinstance(type_, MemRefType) else 0
