"""
Every prefix of the named pipelines is a stair to stand on: it verifies, prints, reads back and runs.

CI takes every prefix of O2 and the last of O0 for one program, and the last of O3 for the others; `STEPWELL_FULL=1`
takes everything.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import programs
import pytest
import stepwell
from counts import FULL
from stepwell import reference
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.reference.element_types import NAMES
from stepwell.runtime.errors import ExecutionError
from tolerances import check_program, check_same

LEVELS = ("O0", "O1", "O2", "O3")

WALKED_IN_CI = ("attention",)
"""The programs whose O2 is walked step by step in CI."""


def text_of(module: object) -> str:
    return f"{module!s}\n"


def stand(name: str, side_car: Path, text: str, where: str) -> None:
    """The text verifies, prints as itself, and a program compiled from it gives what the reference gives."""
    module = stepwell.parse(text)
    verify_module(module)
    assert text_of(module) == text, f"{name}: {where} prints differently when read back"
    weights = side_car if programs.weights(name) else None
    program = stepwell.compile(text, pipeline="", weights=weights, cache=False)
    try:
        check_program(programs.TERMS[name], program(*programs.inputs(name)), programs.expected(name))
    except AssertionError as error:
        raise AssertionError(f"{name}: {where}: {error}") from None


def walk(name: str, level: str, folder: Path, *, only_last: bool) -> int:
    """Goes down the passes of a level, standing on every changed stair (or only on the last); how many."""
    path = programs.install(name, folder)
    side_car = path.with_suffix(".safetensors")
    module = stepwell.parse(path)
    stood = 0
    head = f'specialize-shapes{{main="{programs.SHAPES[name]}"}},' if name in programs.SHAPES else ""
    passes = parse_pipeline(f"{head}{level}")
    before = text_of(module)
    if not only_last:
        stand(name, side_car, before, "the source")
    for number, pass_ in enumerate(passes):
        run_pipeline(make_context(), module, [pass_], verify_each=True)
        after = text_of(module)
        last = number == len(passes) - 1
        if last or (after != before and not only_last):
            stand(name, side_car, after, f"{level} after pass {number + 1}, {pass_.name}")
            stood += 1
        before = after
    return stood


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("name", programs.names() if FULL else programs.names()[::2])
def test_every_program_runs_from_the_foot_of_every_level(name: str, tmp_path: Path) -> None:
    in_ci = ("O0",) if name in WALKED_IN_CI else ("O3",)
    for level in LEVELS if FULL else in_ci:
        walk(name, level, tmp_path, only_last=True)


@pytest.mark.ci_cases(0)
@pytest.mark.parametrize("level", LEVELS if FULL else ("O2",))
@pytest.mark.parametrize("name", programs.names() if FULL else WALKED_IN_CI)
def test_every_prefix_of_a_level_runs(name: str, level: str, tmp_path: Path) -> None:
    assert walk(name, level, tmp_path, only_last=False) >= 4


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("name", programs.names())
def test_program_runs_from_its_file(name: str, tmp_path: Path) -> None:
    """The side-car is found beside the file; results have the declared types; a second call gives the same bits."""
    program = stepwell.compile(programs.install(name, tmp_path), cache=False)
    first = program(*programs.inputs(name))
    check_program(programs.TERMS[name], first, programs.expected(name))
    check_same(program(*programs.inputs(name)), first)


def test_there_are_eight_programs_and_they_use_every_class_of_types() -> None:
    assert len(programs.names()) == 8
    assert set(programs.names()) == set(programs.INPUTS) == set(programs.TERMS)
    used = {NAMES[array.dtype] for name in programs.names() for array in programs.inputs(name)}
    assert {"f16", "bf16", "f32", "f64", "i8", "ui8", "i32", "i64", "i1"} <= used
    for name in programs.names():
        for result in programs.expected(name):
            assert result.dtype.kind not in "fV" or np.isfinite(result.astype(np.float64)).all(), name


def test_dynamic_program_runs_at_several_sizes(tmp_path: Path) -> None:
    program = stepwell.compile(programs.install("dynamic", tmp_path), cache=False)
    module = stepwell.parse(programs.FOLDER / "dynamic.mlir")
    random = np.random.default_rng(5)
    w = random.standard_normal((8, 5)).astype(np.float32)
    for rows, picked in ((1, 1), (17, 3), (3, 0)):
        x = random.standard_normal((rows, 8)).astype(np.float32)
        i = random.integers(-rows, rows, picked)
        wanted = reference.run(module, "main", x, w, i)
        check_program(programs.TERMS["dynamic"], program(x, w, i), wanted)
    with pytest.raises(ExecutionError, match="graph.take: index out of range"):
        program(np.zeros((2, 8), np.float32), w, np.array([2]))
