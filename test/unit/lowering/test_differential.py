"""
Random programs through every level and through random orders of passes: the same results, and no crash.

An arena that reuses bytes too early gives wrong numbers without any sign; it shows against `reuse=false` (S0-35).
Orders of passes that nobody thought of are where compilers break (SX-4).
"""

from __future__ import annotations

import random

import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.testing.programs.program_generators import Program, random_program
from stepwell.testing.programs.strategies import seeds
from tolerances import check_random_program, check_same

EXAMPLES = 60 if FULL else 1
ORDERS = 150 if FULL else 4

EXACT_PIPELINES = (
    "O0",
    "O1",
    "graph-optimize-strict,to-loops,bufferize{reuse=true}",
    "graph-optimize-strict,to-loops,bufferize{reuse=false}",
    "graph-optimize-strict,to-loops,schedule-cpu,bufferize{in-place=false}",
    "graph-optimize-strict,to-loops,schedule-cpu,bufferize",
    "graph-optimize-strict,to-loops,schedule-cpu,bufferize{separate=true}",
    "lower-graph-to-loops,bufferize{reuse=true}",
)

ROUNDING_PIPELINES = ("O2", "O3")
"""These hold fuse-ewise-fma, which rounds once where the reference rounds twice."""

GRAPH_PASSES = (
    "eliminate-common-subexpr",
    "simplify-expr",
    "fold-constant",
    "eliminate-dead-code",
    "fuse-matmul-add",
    "remove-unused-functions",
    "canonicalize",
    "cse",
)

LOOP_PASSES = ("lower-graph-to-loops", "fuse-loops", "inline-loops", "bufferize", "schedule-cpu")


def check(program: Program, pipeline: str, smooth: bool) -> None:
    found = stepwell.compile(program.text, pipeline=pipeline, cache=False, verify_each=True)(*program.inputs)
    if smooth:
        check_random_program(program.largest, found, program.expected)
    else:
        check_same(found, program.expected)


@pytest.mark.ci_cases(0)
@settings(max_examples=EXAMPLES)
@given(seed=seeds())
def test_every_level_and_every_arena_gives_the_same_bits(seed: int) -> None:
    program = random_program(seed, 10)
    for pipeline in EXACT_PIPELINES:
        check(program, pipeline, False)


@settings(max_examples=EXAMPLES)
@given(seed=seeds())
def test_smooth_programs_agree_at_every_level(seed: int) -> None:
    program = random_program(seed, 10, smooth=True)
    for pipeline in (*EXACT_PIPELINES, *ROUNDING_PIPELINES):
        check(program, pipeline, True)


def random_order(seed: int) -> str:
    """Up to six passes: some of the graph, then, in the order of the levels, some on the way to loops."""
    choose = random.Random(seed)
    count = choose.randint(1, 6)
    down = choose.randint(0, min(count, len(LOOP_PASSES)))
    graph = [choose.choice(GRAPH_PASSES) for _ in range(count - down)]
    # Passes of a later level do nothing on an earlier one, so any of them may come twice or in between.
    loops = sorted((choose.choice(LOOP_PASSES) for _ in range(down)), key=LOOP_PASSES.index)
    if "bufferize" in loops and "lower-graph-to-loops" not in loops:
        loops = [name for name in loops if name != "bufferize"]
    for name in graph[: choose.randint(0, 1)]:
        loops.insert(choose.randint(0, len(loops)), name)
    return ",".join([*graph, *loops][:6])


@settings(max_examples=ORDERS)
@given(seed=seeds())
def test_random_orders_of_passes_keep_the_results(seed: int) -> None:
    smooth = seed % 2 == 1
    check(random_program(seed, 8, smooth=smooth), random_order(seed), smooth)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("name", ["lower-graph-to-loops", "fuse-loops", "inline-loops", "bufferize"])
def test_passes_change_nothing_the_second_time(name: str) -> None:
    before = {
        "lower-graph-to-loops": "",
        "fuse-loops": "fuse-matmul-add,lower-graph-to-loops",
        "inline-loops": "fuse-matmul-add,lower-graph-to-loops,fuse-loops",
        "bufferize": "to-loops",
    }[name]
    for seed in range(20 if FULL else 2):
        context = make_context()
        module = parse_text(context, random_program(seed, 10, smooth=True).text, "p.mlir")
        run_pipeline(context, module, parse_pipeline(f"{before},{name}" if before else name), verify_each=True)
        once = str(module)
        run_pipeline(context, module, parse_pipeline(name), verify_each=True)
        assert str(module) == once


def test_orders_hold_passes_of_both_kinds_and_are_short() -> None:
    orders = [random_order(seed).split(",") for seed in range(200)]
    assert all(1 <= len(order) <= 6 for order in orders)
    assert {name for order in orders for name in order} >= {*GRAPH_PASSES, *LOOP_PASSES}
