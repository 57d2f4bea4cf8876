"""
Sampled numbers follow from the seed, stand in the program, and replay; programs on other shapes; what `Schedule`
records.
"""

from __future__ import annotations

from collections import Counter
from math import prod

import pytest
from schedule_cases import FUNCTIONS, SIZES, apply
from stepwell.core.ir.verification import verify_module
from stepwell.core.text.errors import diagnostic_of
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.schedule import ProgramOp, StepOp
from stepwell.schedule.program.interactive import Schedule
from stepwell.schedule.program.replay import Replay
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException


def function(sizes: tuple[int, int, int] = SIZES) -> ModuleOp:
    return parse_text(make_context(), FUNCTIONS["product"](*sizes), "f.mlir")


def sampled(seed: int, sizes: tuple[int, int, int] = SIZES) -> Schedule:
    """A schedule with all that is sampled chosen by the seed."""
    schedule = Schedule(function(sizes), seed=seed)
    block = schedule.get_block("mm", "f")
    i, j, k = schedule.get_loops(block)
    rows = schedule.sample_perfect_tile(i, 2, most=6)
    columns = schedule.sample_perfect_tile(j, 3)
    depth = schedule.sample_categorical([2, 4, 8], weights=[1, 2, 1])
    i0, i1 = schedule.split(i, rows)
    j0, j1, j2 = schedule.split(j, columns)
    k0, k1 = schedule.split(k, [None, depth])
    schedule.reorder(i0, j0, k0, i1, j1, k1, j2)
    return schedule


def replayed(program: str, sizes: tuple[int, int, int] = SIZES, seed: int = 0) -> ModuleOp:
    module = function(sizes)
    parsed = parse_text(make_context(), program, "program.mlir")
    verify_module(parsed)
    (steps,) = (op for op in parsed.ops if isinstance(op, ProgramOp))
    replay = Replay(module, seed=seed)
    for step in steps.body.block.ops:
        assert isinstance(step, StepOp)
        replay.run(step)
    return module


def test_the_same_seed_gives_the_same_trace() -> None:
    traces = [str(sampled(seed).program()) for seed in range(12)]
    assert traces == [str(sampled(seed).program()) for seed in range(12)]
    assert len(set(traces)) > 4


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("seed", range(8))
def test_the_trace_holds_the_decisions_and_replays(seed: int) -> None:
    schedule = sampled(seed)
    trace = str(schedule.program())
    assert trace.count(" decision ") == 3
    for other_seed in (0, 99):
        assert str(replayed(trace, seed=other_seed)) == str(schedule.module)


def test_a_decision_for_another_shape_is_refused() -> None:
    trace = str(sampled(0).program())
    with pytest.raises(PassFailedException, match="is for 12 iterations, %i has 24") as caught:
        replayed(trace, (24, 20, 16))
    diagnostic = diagnostic_of(caught.value)
    assert diagnostic.hint == "without the decision factors are sampled anew"
    assert "\n> tensor_loop.for %i in 24 {" in diagnostic.message


def test_without_decisions_a_program_fits_other_shapes() -> None:
    lines = [line.partition(" decision ") for line in str(sampled(0).program()).split("\n")]
    again = "\n".join(head + (f" : {rest.partition(' : ')[2]}" if " : " in rest else "") for head, _, rest in lines)
    for sizes in ((24, 7, 16), (6, 30, 8)):
        replayed(again, sizes)


def test_factors_are_perfect_and_uniform() -> None:
    module = function()
    schedule = Schedule(module, seed=3)
    i, j, k = schedule.get_loops(schedule.get_block("mm", "f"))
    found = Counter(tuple(each.number for each in schedule.sample_perfect_tile(i, 2, most=4)) for _ in range(400))
    assert sorted(found) == [(3, 4), (4, 3), (6, 2), (12, 1)]
    assert min(found.values()) > 60
    for loop, extent in ((j, 20), (k, 16)):
        for count in (1, 2, 4):
            factors = [each.number for each in schedule.sample_perfect_tile(loop, count)]
            assert prod(factors) == extent and len(factors) == count


def test_weights_count() -> None:
    schedule = Schedule(function(), seed=1)
    found = Counter(schedule.sample_categorical([2, 4, 8], [1, 0, 3]).number for _ in range(200))
    assert sorted(found) == [2, 8] and found[8] > 2 * found[2]


def test_numbers_are_given_back_where_they_stand() -> None:
    schedule = Schedule(function())
    block = schedule.get_block("mm", "f")
    number = schedule.sample_categorical([4], decision=0)
    assert number.number == 4 and not number.is_stale
    schedule.pad_to_tile(block, [8, number, 1])
    x, _ = schedule.get_loops(schedule.get_block("relu", "f"))
    schedule.loop_partition(x, [number, 8])
    schedule.tensorize(block, "mma", [2, number])
    text = str(schedule.program())
    for shown in ("[8, %t, 1]", "[%t, 8]", "shape [2, %t]"):
        assert shown in text
    assert str(replayed(text)) == str(schedule.module)


TILES = "%a, %b = schedule.split %i [?, 4]\n %c, %d = schedule.split %j [?, 8]\n schedule.reorder %a, %c, %k, %b, %d"
OTHER_SHAPES = [
    ("tiles of another shape", TILES, (30, 17, 3), "where(%j0 * 8 + %j1 < 17, %i0 * 4 + %i1 < 30)"),
    ("tiles that divide it", TILES, (32, 64, 8), "%vi in 32 = %i0 * 4 + %i1, %vj in 64 = %j0 * 8 + %j1"),
    ("register tiles", 'schedule.tensorize %mm "mma" shape [4, 16]', (33, 50, 7), "tile.mma"),
]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("name", "steps", "sizes", "shown"), OTHER_SHAPES, ids=[row[0] for row in OTHER_SHAPES])
def test_a_program_works_on_another_shape(name: str, steps: str, sizes: tuple[int, int, int], shown: str) -> None:
    assert shown in str(apply("product", steps, check=True, sizes=sizes)).replace(
        "where(%i0 * 4 + %i1 < 30, %j0 * 8 + %j1 < 17)", "where(%j0 * 8 + %j1 < 17, %i0 * 4 + %i1 < 30)"
    )


REFUSED_SHAPES = [
    ("loop too long", "%a, %b = schedule.split %i [3, 4]", (13, 20, 16),
     "the factors of %i make 12 iterations, expected at least its 13"),
    ("cut outside", "%a, %b = schedule.loop_partition %i [8]", (8, 20, 16),
     "points [8] do not cut 0 … 8 in ascending order"),
    ("row too long", '%a, %b = schedule.split %y [1, ?]\n schedule.tensorize %b "row"', (3, 300, 2),
     "a row of 300 elements, expected 1 to 256"),
    ("too long to unroll", "schedule.unroll %k", (2, 2, 1025), "no known extent of at most 1024"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "steps", "sizes", "reason"), REFUSED_SHAPES, ids=[row[0] for row in REFUSED_SHAPES])
def test_a_program_says_why_it_does_not_fit_another_shape(
    name: str, steps: str, sizes: tuple[int, int, int], reason: str
) -> None:
    apply("product", steps)
    with pytest.raises(PassFailedException) as caught:
        apply("product", steps, sizes=sizes)
    message = diagnostic_of(caught.value).message
    assert reason in message and "\n>" in message


def test_a_program_for_another_function_says_so() -> None:
    """A block of that name with another number of loops."""
    text = FUNCTIONS["chain"](*SIZES).replace('"add"', '"mm"')
    module = parse_text(make_context(), text, "f.mlir")
    steps = sampled(0).program()
    replay = Replay(module)
    first, second, *_ = steps.body.block.ops
    assert isinstance(first, StepOp) and isinstance(second, StepOp)
    replay.run(first)
    with pytest.raises(PassFailedException, match=r"finds 1 loop \(%i\), expected 3: the program is for another"):
        replay.run(second)


def test_a_handle_of_another_schedule_is_no_handle() -> None:
    one, other = Schedule(function()), Schedule(function())
    number = other.sample_categorical([4])
    (i, *_) = one.get_loops(one.get_block("mm", "f"))
    with pytest.raises(ValueError, match="a handle is of another schedule"):
        one.split(i, [None, number])
