"""The interpreter on loop functions under random schedules: the results of native code, and no fault such as a race."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from counts import FULL
from random_schedules import random_function, random_steps
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.tensor_loop import FuncOp
from stepwell.runtime.native.loop_runner import run_loops
from stepwell.schedule.program.interactive import Schedule
from stepwell.testing import interpret
from xdsl.dialects.builtin import MemRefType

SEQUENCES = 300 if FULL else 6


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_a_schedule_computes_the_same(seed: int) -> None:
    random = Random(seed)
    module = parse_text(make_context(), random_function(random), "random.mlir")
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    choose = np.random.default_rng(seed)
    types = [type_ for type_ in (*function.input_types, *function.output_types) if isinstance(type_, MemRefType)]
    arrays = [choose.integers(-3, 4, type_.get_shape()).astype(np.float32) for type_ in types]
    inputs = arrays[: len(function.input_types)]
    run_loops(module, "f", arrays)
    (before,) = interpret(module, inputs, "f")
    schedule = Schedule(module, seed=seed)
    random_steps(schedule, random, random.randint(1, 12), Counter(), Counter())
    (after,) = interpret(module, inputs, "f")
    context = f"{schedule.program()}\n{module}"
    np.testing.assert_array_equal(before, arrays[-1], err_msg=context)
    np.testing.assert_array_equal(after, arrays[-1], err_msg=context)
