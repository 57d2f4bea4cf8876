"""The candidates of a kernel: which there are, in which order they come, and that each computes the same."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from counts import FULL
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse, parse_text
from stepwell.dialects.schedule import ProgramOp
from stepwell.runtime.tuning.job import Job
from stepwell.runtime.tuning.measure import difference, measure
from stepwell.runtime.tuning.search import Search
from stepwell.runtime.tuning.spaces.space import Space
from stepwell.schedule.tuned.kernels import Kernel, kernels_of

LINEAR = """
func.func @main(%x: tensor<20x192xf32>) -> tensor<20x80xf32> {
  %w = graph.weight "w" : tensor<192x80xf32>
  %b = graph.weight "b" : tensor<80xf32>
  %z = graph.matmul %x, %w : (tensor<20x192xf32>, tensor<192x80xf32>) -> tensor<20x80xf32>
  %s = graph.add %z, %b : (tensor<20x80xf32>, tensor<80xf32>) -> tensor<20x80xf32>
  return %s : tensor<20x80xf32>
}
"""

CONVOLUTION = """
func.func @main(%x: tensor<1x8x9x9xf32>) -> tensor<1x24x9x9xf32> {
  %w = graph.weight "w" : tensor<24x8x3x3xf32>
  %z = graph.conv2d %x, %w, padding = [1, 1, 1, 1] : (tensor<1x8x9x9xf32>, tensor<24x8x3x3xf32>) -> tensor<1x24x9x9xf32>
  return %z : tensor<1x24x9x9xf32>
}
"""

SOFTMAX = """
func.func @main(%x: tensor<8x96xf32>) -> tensor<8x96xf32> {
  %y = graph.softmax %x : (tensor<8x96xf32>) -> tensor<8x96xf32>
  return %y : tensor<8x96xf32>
}
"""

SUM = """
func.func @main(%x: tensor<12x40xi32>) -> tensor<40xi32> {
  %y = graph.sum %x, axis = [0] : (tensor<12x40xi32>) -> tensor<40xi32>
  return %y : tensor<40xi32>
}
"""

DEPTHWISE = """
func.func @main(%x: tensor<1x20x9x9xf32>) -> tensor<1x20x9x9xf32> {
  %w = graph.weight "w" : tensor<20x1x3x3xf32>
  %z = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 20 : (tensor<1x20x9x9xf32>, tensor<20x1x3x3xf32>)
      -> tensor<1x20x9x9xf32>
  return %z : tensor<1x20x9x9xf32>
}
"""

SHARED = DEPTHWISE.replace("groups = 20", "groups = 8").replace("1x20x9", "1x32x9").replace("20x1x3x3", "32x4x3x3")
GROUPED = SHARED.replace("groups = 8", "groups = 2").replace("32x4x3x3", "32x16x3x3")

HALF = LINEAR.replace("f32", "f16")

MODELS = {
    "linear": LINEAR,
    "convolution": CONVOLUTION,
    "depthwise": DEPTHWISE,
    "shared": SHARED,
    "grouped": GROUPED,
    "softmax": SOFTMAX,
    "sum": SUM,
    "half": HALF,
}


def kernel_of(text: str) -> Kernel:
    """The last one, or the one of a convolution."""
    module = parse(text)
    run_pipeline(make_context(), module, "graph-optimize,to-loops")
    kernels = kernels_of(module)
    return next((kernel for kernel in kernels if kernel.name.startswith("conv")), kernels[-1])


def search_of(space: Space, seed: int = 0, first: tuple[str, ...] = ()) -> Search:
    return Search(space.knobs, space.program, seed, first)


def sequence(space: Space, seed: int) -> list[str]:
    """Of three generations; the more a program says, the better it is told to be."""
    search, found = search_of(space, seed), list[str]()
    for _ in range(3):
        programs = search.generation(8)
        found += programs
        for program in programs:
            search.tell(program, float(len(program)))
    return found


@pytest.mark.parametrize("name", MODELS if FULL else ("linear", "sum"))
def test_the_sequence_follows_from_the_seed(name: str) -> None:
    space = Space(kernel_of(MODELS[name]), "x86-64-v4")
    found = sequence(space, 3)
    assert sequence(Space(kernel_of(MODELS[name]), "x86-64-v4"), 3) == found
    assert len(set(found)) == len(found) >= 12
    assert sequence(space, 4) != found


def test_the_best_have_offspring() -> None:
    space = Space(kernel_of(LINEAR), "x86-64-v4")
    search = search_of(space)
    wanted = "parts = 3"

    def share(programs: list[str]) -> float:
        return sum(wanted in program for program in programs) / len(programs)

    first = search.generation(24)
    for program in first:
        search.tell(program, 2.0 if wanted in program else 0.5)
    assert share(search.generation(24)) > share(first)


def test_ones_own_candidates_come_first_and_once() -> None:
    space = Space(kernel_of(LINEAR), "x86-64-v4")
    (other,) = search_of(space).generation(1)
    assert search_of(space, first=("mine", other, "mine")).generation(2) == ["mine", other]


def test_a_kernel_without_choices_has_ones_own_candidates_only() -> None:
    search = Search((), lambda choice: "default", 0, ["default", "mine"])
    assert search.generation(5) == ["mine"] and search.generation(5) == []


def test_a_small_space_ends() -> None:
    search = search_of(Space(kernel_of(SUM), "x86-64-v4"))
    found = [program for _ in range(40) for program in search.generation(8)]
    assert search.generation(8) == [] and len(set(found)) == len(found)


def test_every_candidate_reads_back() -> None:
    for program in sequence(Space(kernel_of(SOFTMAX), "x86-64-v4"), 0):
        (op,) = parse_text(make_context(), program, "candidate").ops
        assert isinstance(op, ProgramOp) and str(op) == program


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("name", MODELS)
def test_candidates_compute_what_the_default_does(name: str) -> None:
    kernel = kernel_of(MODELS[name])
    space, text, random = Space(kernel, "host"), str(kernel.module), Random(7)
    assert space.knobs
    tried = 0
    while tried < (60 if FULL else 2):
        program = space.program(tuple(random.randrange(len(knob.values)) for knob in space.knobs))
        if program is None:
            continue
        tried += 1
        module = kernel.module.clone()
        (op,) = parse_text(make_context(), program, "candidate").ops
        op.detach()
        module.body.block.add_op(op)
        outcome = measure(Job(text, str(module), rounds=1, round_seconds=0.0))
        assert outcome.status == "ok", f"{outcome.detail}\n{program}"


def programs_of(space: Space) -> list[str | None]:
    """With one choice changed."""
    zeros = [0] * len(space.knobs)
    return [
        space.program((*zeros[:place], number, *zeros[place + 1 :]))
        for place, knob in enumerate(space.knobs)
        for number in range(1, len(knob.values))
    ]


def test_winograd_is_a_choice_where_filters_are_known() -> None:
    space = Space(kernel_of(CONVOLUTION), "x86-64-v4")
    names = [knob.name for knob in space.knobs]
    assert names[:3] == ["winograd", "squares", "products"] and "tile" in names
    (by_default, other) = space.knobs[0].values
    program = space.program((1, *(0 for _ in names[1:])))
    assert by_default != other and program is not None
    assert ("#schedule.winograd<" if other else "#schedule.tiling<") in program
    weight = '  %w = graph.weight "w" : tensor<24x8x3x3xf32>\n'
    given = CONVOLUTION.replace(weight, "").replace(") -> tensor<1x24", ", %w: tensor<24x8x3x3xf32>) -> tensor<1x24", 1)
    assert "winograd" not in [knob.name for knob in Space(kernel_of(given), "x86-64-v4").knobs]


def test_values_that_do_not_count_make_no_candidate_of_their_own() -> None:
    """Of the squares where there are none, and of the product where there is none."""
    space = Space(kernel_of(CONVOLUTION), "x86-64-v4")
    default = space.program((0,) * len(space.knobs))
    assert default is not None and "annotate" not in default
    found = programs_of(space)
    wanted = "schedule.winograd" if space.knobs[0].values[0] else "schedule.tiling"
    assert any(text == default for text in found)
    assert all(text == default or wanted in (text or "") for text in found[1:])


def test_tiles_higher_than_a_block_of_squares_are_one_candidate() -> None:
    space = Space(kernel_of(CONVOLUTION), "x86-64-v4")
    squares, tiles = space.knobs[1].values, space.knobs[2].values
    smallest = min(range(len(squares)), key=lambda number: squares[number])
    found = {
        space.program((int(not space.knobs[0].values[0]), smallest, number, *(0 for _ in space.knobs[3:])))
        for number in range(len(tiles))
    }
    assert squares[smallest] == (1, 1)
    assert len(found) == len({(min(tile.rows, 5), tile.columns) for tile in tiles}) < len(tiles)


def test_tiles_are_the_choice_of_depthwise_convolutions() -> None:
    (knob,) = Space(kernel_of(DEPTHWISE), "x86-64-v4").knobs
    assert knob.name == "tile" and knob.values[0] is None and len(set(knob.values)) == len(knob.values) > 8
    program = Space(kernel_of(DEPTHWISE), "x86-64-v4").program((1,))
    assert program is not None and f"#schedule.depthwise<rows = {knob.values[1][0]}, " in program


def test_tiles_are_the_choice_of_groups_that_share_vectors() -> None:
    (knob,) = Space(kernel_of(SHARED), "x86-64-v4").knobs
    assert knob.name == "tile" and knob.values[0] is None and len(set(knob.values)) == len(knob.values) > 8
    program = Space(kernel_of(SHARED), "x86-64-v4").program((1,))
    assert program is not None and f"#schedule.depthwise<rows = {knob.values[1][0]}, " in program


def test_pairs_of_bf16_are_the_choice_of_products_with_constants() -> None:
    """The default computes them so."""
    space = Space(kernel_of(LINEAR.replace("f32", "bf16")), "zen5")
    assert "bytes" in [knob.name for knob in space.knobs]
    program = space.program(tuple(int(knob.name == "bytes") for knob in space.knobs))
    assert program is not None and "#schedule.dots<rows = " in program


def test_wide_groups_have_the_choices_of_products() -> None:
    space = Space(kernel_of(GROUPED), "x86-64-v4")
    names = [knob.name for knob in space.knobs]
    assert "tile" in names and "panels_outside" in names
    program = space.program(tuple(int(name == "tile") for name in names))
    assert program is not None and "#schedule.tiling<rows = " in program


def test_the_grain_is_a_choice_where_there_are_threads() -> None:
    kernel = kernel_of(SOFTMAX)
    assert not any(knob.name == "grain" for knob in Space(kernel).knobs)
    space = Space(kernel, threads=2)
    assert space.knobs[-1].values[0] == 20_000
    program = space.program((*(0 for _ in space.knobs[:-1]), 3))
    assert program is not None and '"stepwell.grain" with 40000 : i64' in program


# Measuring


def job_of(default: str, candidate: str) -> Job:
    return Job(str(kernel_of(default).module), str(kernel_of(candidate).module), rounds=4, round_seconds=0.0)


def test_an_equal_candidate_is_measured_in_all_rounds() -> None:
    outcome = measure(job_of(SUM, SUM))
    assert outcome.status == "ok" and len(outcome.ratios) == 4 and all(ratio > 0 for ratio in outcome.ratios)


def test_a_candidate_that_computes_something_else_is_wrong() -> None:
    outcome = measure(job_of(SUM, SUM.replace("graph.sum", "graph.max")))
    assert outcome.status == "wrong"
    assert outcome.detail.startswith("result 0: 40 of 40 elements differ, at [0] it is 2, expected ")


def test_a_default_that_fails_is_no_fault_of_the_candidate() -> None:
    broken = str(kernel_of(SUM).module).replace("arith.addi", "arith.divsi")
    outcome = measure(Job(broken, str(kernel_of(SUM).module)))
    assert outcome.fault_of_default and outcome.status == "failed"
    assert outcome.detail.startswith("the default: ")


def test_a_candidate_that_a_pass_refuses_is_refused() -> None:
    kernel = kernel_of(LINEAR)
    program = """schedule.program {
      %b = schedule.get_block "block0" in @kernel
      schedule.annotate %b "stepwell.tiling" with #schedule.tiling<rows = 31, columns = 80>
    }"""
    (op,) = parse_text(make_context(), program, "candidate").ops
    module = kernel.module.clone()
    op.detach()
    module.body.block.add_op(op)
    outcome = measure(Job(str(kernel.module), str(module)))
    assert outcome.status == "refused" and "cannot have 'stepwell.tiling'" in outcome.detail


def test_results_are_compared_by_what_the_largest_may_be_rounded() -> None:
    right = np.array([1000.0, np.nan, np.inf], np.float32)
    assert difference(right, right + np.float32(0.05), "f32") is None
    assert (
        difference(right, right + np.float32(0.5), "f32")
        == "1 of 3 elements differ, at [0] it is 1000.5, expected 1000.0"
    )
    assert difference(right, np.array([1000.0, 1.0, np.inf], np.float32), "f32") is not None
    assert difference(np.array([3]), np.array([4]), "i32") is not None
