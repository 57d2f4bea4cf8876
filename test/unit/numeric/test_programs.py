"""Random programs of many ops: native code, at every level, against the NumPy reference."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from numeric import INSTANCES
from stepwell import reference
from stepwell.testing.programs.program_generators import random_program
from stepwell.testing.programs.strategies import seeds
from tolerances import check_random_program, check_same

EXAMPLES = 100 if FULL else 4


@settings(max_examples=EXAMPLES)
@given(seed=seeds())
def test_exact_programs_give_the_same_bits(seed: int) -> None:
    program = random_program(seed)
    for level in (0, 3):
        native = stepwell.compile(program.text, opt_level=level, numerics="strict", cache=False)
        check_same(native(*program.inputs), program.expected)


@settings(max_examples=EXAMPLES)
@given(seed=seeds())
@pytest.mark.filterwarnings("ignore:.*is donated")
def test_programs_that_may_overwrite_all_arguments(seed: int) -> None:
    program = random_program(seed)
    for level in (0, 3):
        native = stepwell.compile(program.text, opt_level=level, numerics="strict", donate="*", cache=False)
        check_same(native(*map(np.array, program.inputs)), program.expected)


@settings(max_examples=EXAMPLES)
@given(seed=seeds())
def test_smooth_programs_stay_close(seed: int) -> None:
    program = random_program(seed, smooth=True)
    native = stepwell.compile(program.text, cache=False)
    check_random_program(program.largest, native(*program.inputs), program.expected)


@pytest.mark.parametrize("smooth", [False, True])
def test_random_programs_parse_and_mean_the_same(smooth: bool) -> None:
    """The text of a generated program reads back, and the reference gives what the generator expected."""
    for seed in range(10 * INSTANCES):
        program = random_program(seed, smooth=smooth)
        module = stepwell.parse(program.text)
        check_same(reference.run(module, "main", *program.inputs), program.expected)
        assert random_program(seed, smooth=smooth).text == program.text
