"""
Random legal sequences of primitives leave what random loop functions compute as it is, and replay from their program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from counts import FULL
from random_schedules import PRIMITIVES, random_function, random_steps
from stepwell.core.ir.verification import verify_module
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.schedule import STEPS, ProgramOp, StepOp
from stepwell.dialects.tensor_loop import FuncOp
from stepwell.runtime.native.loop_runner import run_loops
from stepwell.schedule.program.interactive import Schedule
from stepwell.schedule.program.replay import Replay
from xdsl.dialects.builtin import MemRefType, ModuleOp

SEQUENCES = 1000 if FULL else 25
"""Sequences that are run; sequence number n is made by seed n."""
COUNTED = 600 if FULL else 120
LEAST = 10 if FULL else 1
"""Legal applications that each primitive has at least in the first `COUNTED` sequences."""


def arrays(module: ModuleOp, seed: int) -> list[np.ndarray[Any, Any]]:
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    generator = np.random.default_rng(seed)
    shapes = [a.type.get_shape() for a in function.body.block.args if isinstance(a.type, MemRefType)]
    return [generator.integers(-3, 4, shape).astype(np.float32) for shape in shapes]


def results(module: ModuleOp, seed: int) -> np.ndarray[Any, Any]:
    given = arrays(module, seed)
    run_loops(module, "f", given)
    return given[-1]


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_any_legal_sequence_computes_the_same(seed: int) -> None:
    random = Random(seed)
    text = random_function(random)
    module = parse_text(make_context(), text, "random.mlir")
    verify_module(module)
    expected = results(module, seed)
    schedule = Schedule(module, seed=seed)
    random_steps(schedule, random, random.randint(1, 12), Counter(), Counter())
    verify_module(module)
    context = f"{schedule.program()}\n{text}\n{module}"
    np.testing.assert_array_equal(results(module, seed), expected, err_msg=context)
    if seed % 4 == 0:
        assert str(replayed(text, str(schedule.program()))) == str(module), context


def replayed(text: str, program: str) -> ModuleOp:
    """The function after the program, parsed from its own text."""
    module = parse_text(make_context(), text, "random.mlir")
    parsed = parse_text(make_context(), program, "program.mlir")
    verify_module(parsed)
    (steps,) = (op for op in parsed.ops if isinstance(op, ProgramOp))
    replay = Replay(module)
    for step in steps.body.block.ops:
        assert isinstance(step, StepOp)
        replay.run(step)
    return module


@pytest.mark.ci_cases(0)
def test_every_primitive_is_exercised(record_property: Callable[[str, object], None]) -> None:
    """Counted without running the functions, which the sequences above do."""
    legal, refused = Counter[str](), Counter[str]()
    for seed in range(COUNTED):
        random = Random(seed)
        module = parse_text(make_context(), random_function(random), "random.mlir")
        random_steps(Schedule(module, seed=seed), random, random.randint(1, 12), legal, refused)
    names = [op.name.partition(".")[2] for op in STEPS]
    assert sorted(names) == sorted(PRIMITIVES)
    record_property("legal", dict(legal))
    record_property("refused", dict(refused))
    few = {name: legal[name] for name in names if not name.startswith("get_") and legal[name] < LEAST}
    assert few == {}, f"{dict(legal)}, refused {dict(refused)}"
