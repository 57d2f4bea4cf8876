"""
The AVX2 and SSE2 paths: programs of every class of kernel, and every op, scheduled and compiled for x86-64-v3 and
x86-64, give what the reference gives on this machine.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import stepwell
from counts import FULL
from kernel_classes import KERNELS
from named_machines import as_machine, runs_here
from numeric import check_natively, every_op
from stepwell import reference
from stepwell.testing.programs.movement_generators import FAMILIES
from tolerances import check_program

MACHINES = [name for name in ("x86-64", "x86-64-v3") if runs_here(name)] or ["host"]
"""Where these do not run, the tests are those of the host."""

SUMMED = {
    "gemm": 64,
    "gemm_odd": 67,
    "skinny": 256,
    "conv1x1": 64,
    "conv3x3_strided": 288,
    "depthwise": 9,
    "grouped": 288,
    "grouped_small": 36,
}
"""Terms of the sums of a kernel; others are counted as 600, a row."""


def arrays_for(text: str) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """Inputs and weights of a program, drawn from a fixed seed."""
    generator = np.random.default_rng(3)

    def draw(shape: str, dtype: str) -> np.ndarray:
        sizes = [int(size) for size in shape.split("x") if size]
        if dtype == "i8":
            return generator.integers(-128, 128, sizes).astype(np.int8)
        if dtype == "ui8":
            return generator.integers(0, 256, sizes).astype(np.uint8)
        return generator.standard_normal(sizes).astype(np.float32)

    head = text[: text.index("->")]
    inputs = [draw(*found) for found in re.findall(r"%\w+: tensor<([0-9x]*)x(\w+)>", head)]
    named = re.findall(r'graph.weight "(\w+)" : tensor<([0-9x]*)x(\w+)>', text)
    return inputs, {key: draw(shape, dtype) for key, shape, dtype in named}


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", KERNELS if FULL else [name for name in KERNELS if name != "depthwise"])
def test_every_class_of_kernel(name: str, machine: str) -> None:
    text = KERNELS[name]
    inputs, weights = arrays_for(text)
    expected = reference.run(stepwell.parse(text), "main", *inputs, weights=weights)
    with as_machine(machine):
        found = stepwell.compile(text, weights=weights, cache=False, threads=1)(*inputs)
    check_program(SUMMED.get(name, 600), found, expected)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("family", FAMILIES if FULL else ("binary", "contraction", "normalization"))
def test_every_op(family: str, machine: str) -> None:
    with as_machine(machine):
        check_natively(every_op(family), 1)


@pytest.mark.parametrize("machine", MACHINES)
def test_activations_keep_the_sign_of_zero(machine: str) -> None:
    """In whole vectors and in the rest."""
    x = np.array([-0.0, 0.0, -0.0] * 23, np.float32)
    text = (
        "func.func @main(%x: T) -> (T, T) {\n%g = graph.gelu %x : (T) -> T\n%s = graph.silu %x : (T) -> T\n"
        "func.return %g, %s : T, T\n}"
    )
    with as_machine(machine):
        found = stepwell.compile(text.replace("T", "tensor<69xf32>"), cache=False)(x)
    for result in found:
        np.testing.assert_array_equal(np.signbit(result), np.signbit(x))


CONVERSIONS = """
func.func @main(%h: tensor<65536xf16>, %x: tensor<200000xf32>) -> (tensor<65536xf32>, tensor<200000xf16>) {
  %wide = graph.astype %h, dtype = f32 : (tensor<65536xf16>) -> tensor<65536xf32>
  %narrow = graph.astype %x, dtype = f16 : (tensor<200000xf32>) -> tensor<200000xf16>
  func.return %wide, %narrow : tensor<65536xf32>, tensor<200000xf16>
}"""


@pytest.mark.parametrize("machine", MACHINES)
def test_every_half_float_is_converted(machine: str) -> None:
    """Also without F16C: widening every f16, narrowing to ties, neighbours of ties, subnormals, infinities and NaN."""
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    exact = halves.astype(np.float32).view(np.uint32)
    near = np.concatenate([exact + np.uint32(step) for step in (0, 0xFFF, 0x1000, 0x1001)])[:180000]
    random = np.random.default_rng(5).integers(0, 2**32, 20000, dtype=np.uint32)
    floats = np.concatenate([near, random]).view(np.float32)
    with np.errstate(all="ignore"):
        expected = halves.astype(np.float32), floats.astype(np.float16)
    with as_machine(machine):
        found = stepwell.compile(CONVERSIONS, cache=False)(halves, floats)
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, two)
        assert (np.signbit(one) == np.signbit(two))[~np.isnan(two)].all()
