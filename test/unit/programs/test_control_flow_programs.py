"""
Programs with branches, loops, calls and failing ops: every pipeline gives the bits, or the failure, of the reference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from control_flow_programs import ControlFlowProgram
from counts import FULL
from stepwell.reference.failure import ReferenceFailure
from stepwell.reference.run import run
from stepwell.runtime.errors import ExecutionError
from stepwell.testing.programs.values import arrays_of

PROGRAMS = 200 if FULL else 2

PIPELINES = (
    "O0",
    "O1",
    "graph-optimize-strict,finish",
    "fold-constant{max-elements=0},graph-optimize-strict,inline-primitive,finish",
)


def bits(result: Any) -> bytes:
    """The bytes of an array, all NaNs being one."""
    return np.where(np.isnan(result), np.nan, result).astype(result.dtype).tobytes()


def outcome_of_reference(text: str, arrays: list[Any]) -> list[bytes] | tuple[str, str]:
    """The results, or reason and place of the first failure."""
    try:
        return [bits(result) for result in run(stepwell.parse(text), "main", *arrays)]
    except ReferenceFailure as failure:
        return failure.message, failure.location


def outcome(text: str, arrays: list[Any], pipeline: str) -> list[bytes] | tuple[str, str]:
    program = stepwell.compile(text, pipeline=pipeline, cache=False)
    try:
        return [bits(result) for result in program(*arrays)]
    except ExecutionError as failure:
        return failure.reason, failure.location


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_control_flow(seed: int) -> None:
    text = ControlFlowProgram(seed, failing=seed % 2 == 1).build()
    flavours = (("f32", "small"), ("i32", "divisor" if seed % 4 == 1 else "small"), ("i1", "any"))
    arrays = [arrays_of(seed + 1, (2, 3), dtype, flavour) for dtype, flavour in flavours]
    expected = outcome_of_reference(text, arrays)
    for pipeline in PIPELINES:
        assert outcome(text, arrays, pipeline) == expected, f"{pipeline}\n{text}"
