"""
Every primitive where it is legal (it keeps what the function computes) and where it is not (the message is quoted).
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from counts import FULL
from schedule_cases import FIND, ILLEGAL, LEGAL, apply, expected, primitive_of
from stepwell.core.ir.verification import VerificationError
from stepwell.core.text.errors import diagnostic_of
from stepwell.dialects.schedule import STEPS
from stepwell.dialects.tensor_loop import FuncOp
from stepwell.runtime.native.loop_runner import run_loops
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.utils.exceptions import PassFailedException

OTHER_SIZES = [(7, 9, 5), (16, 32, 8), (5, 1, 3), (24, 40, 32), (13, 20, 17)][: 5 if FULL else 1]


def check_results(function: str, module: ModuleOp) -> None:
    """`@f` computes what NumPy does, on small whole numbers."""
    (op,) = (each for each in module.walk() if isinstance(each, FuncOp))
    generator = np.random.default_rng(0)
    arrays = [
        generator.integers(-3, 4, argument.type.get_shape()).astype(np.float32)
        for argument in (*op.inputs, *op.outputs)
        if isinstance(argument.type, MemRefType)
    ]
    inputs = [array.copy() for array in arrays[: len(op.inputs)]]
    run_loops(module, "f", arrays)
    for found, wanted in zip(arrays[len(op.inputs) :], expected(function, inputs), strict=True):
        np.testing.assert_array_equal(found, wanted, err_msg=str(module))


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_step_keeps_the_results(name: str) -> None:
    function, steps, shown = LEGAL[name]
    module = apply(function, steps)
    assert shown in str(module), str(module)
    check_results(function, module)


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("sizes", OTHER_SIZES, ids=str)
@pytest.mark.parametrize("name", LEGAL)
def test_on_another_shape_it_works_or_says_why_not(name: str, sizes: tuple[int, int, int]) -> None:
    function, steps, _ = LEGAL[name]
    try:
        module = apply(function, steps, sizes=sizes)
    except PassFailedException as error:
        message = diagnostic_of(error).message
        assert message.startswith("'schedule.") and "\n>" in message, message
        return
    check_results(function, module)


@pytest.mark.ci_cases(15)
@pytest.mark.parametrize("name", ILLEGAL)
def test_an_illegal_step_is_refused_with_a_reason(name: str) -> None:
    function, steps, reason = ILLEGAL[name]
    with pytest.raises((PassFailedException, VerificationError)) as caught:
        apply(function, steps)
    diagnostic = diagnostic_of(caught.value)
    assert reason in diagnostic.message
    assert diagnostic.point is not None and diagnostic.point.file == "case.mlir"
    if "stale" not in name and primitive_of(name) != "get_block" and isinstance(caught.value, PassFailedException):
        assert "\n>" in diagnostic.message, "no loop or block is marked"


# Handles after a step: which are gone, all others being valid still

GONE: dict[str, tuple[str, str, str]] = {
    "get_block": ("product", '%q = schedule.get_block "relu" in @f', ""),
    "get_loops": ("product", "%q, %r = schedule.get_loops %relu : 2", ""),
    "get_producers": ("product", "%q = schedule.get_producers %relu : 1", ""),
    "get_consumers": ("product", "%q = schedule.get_consumers %mm : 1", ""),
    "split": ("product", "%q, %r = schedule.split %j [?, 4]", "j"),
    "fuse": ("product", "%q = schedule.fuse %i, %j", "i j"),
    "reorder": ("product", "schedule.reorder %k, %i", ""),
    "loop_partition": ("product", "%q, %r = schedule.loop_partition %x [5]", "x y relu"),
    "fission": ("product", "%z = schedule.decompose_reduction %mm, %k\n %q = schedule.fission %j, %z", ""),
    "add_unit_loop": ("product", "%q = schedule.add_unit_loop %mm", ""),
    "unroll": ("product", "schedule.unroll %k", ""),
    "vectorize": ("product", "schedule.vectorize %y", ""),
    "parallel": ("product", "schedule.parallel %i", ""),
    "annotate": ("product", 'schedule.annotate %i "my.grain" with 4 : i64', ""),
    "compute_at": ("product", "schedule.compute_at %mm, %x", "i j k"),
    "reverse_compute_at": ("product", "schedule.reverse_compute_at %relu, %i", "x y"),
    "compute_inline": ("chain", "schedule.compute_inline %add", "add i"),
    "reverse_compute_inline": ("chain", "schedule.reverse_compute_inline %mul", "mul j"),
    "cache_read": ("product", "%q = schedule.cache_read %mm 1", ""),
    "cache_write": ("product", "%q = schedule.cache_write %mm 0", ""),
    "reindex": ("product", '%q = schedule.reindex %mm "write" 0', ""),
    "set_scope": ("product", 'schedule.set_scope %mm 0 to "local"', ""),
    "storage_align": ("product", "schedule.storage_align %mm 0 dimension 0 factor 32", ""),
    "transform_layout": ("product", 'schedule.transform_layout %mm "write" 0 by affine_map<(i, j) -> (j, i)>', ""),
    "pad_to_tile": ("product", "schedule.pad_to_tile %mm [8, 16, 3]", ""),
    "decompose_reduction": ("product", "%q = schedule.decompose_reduction %mm, %k", ""),
    "rfactor": ("product", "%q, %r = schedule.rfactor %k axis 0", ""),
    "blockize": ("chain", "%q = schedule.blockize %i", ""),
    "tensorize": ("product", 'schedule.tensorize %mm "mma" shape [4, 16]', "mm i j k"),
    "sample_perfect_tile": ("product", "%q, %r = schedule.sample_perfect_tile %i : 2", ""),
    "sample_categorical": ("product", "%q = schedule.sample_categorical [1, 2]", ""),
}  # fmt: skip


def test_every_primitive_says_which_handles_it_ends() -> None:
    assert list(GONE) == [op.name.partition(".")[2] for op in STEPS]


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("name", GONE)
def test_handles_stay_valid_or_say_that_they_are_stale(name: str) -> None:
    function, step, gone = GONE[name]
    handles = re.findall(r"%(\w+)(?=.* = )", FIND[function])
    assert set(gone.split()) <= set(handles)
    for handle in handles:
        use = f'{step}\n schedule.annotate %{handle} "my.used" with unit'
        if handle not in gone.split():
            assert re.search(r"attributes \{[^}]*used", str(apply(function, use)))
            continue
        with pytest.raises(PassFailedException) as caught:
            apply(function, use)
        message = diagnostic_of(caught.value).message
        assert "is stale: step " in message and f", 'schedule.{name}', removed it" in message
