"""Divisors of sizes, of large ones too."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stepwell.analysis.divisors import divisors
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse


@given(st.integers(1, 3000))
def test_divisors_divide(number: int) -> None:
    assert divisors(number) == [each for each in range(1, number + 1) if number % each == 0]


def test_divisors_of_large_numbers() -> None:
    assert divisors(2**32) == [2**power for power in range(33)]


def test_convolutions_of_many_images_are_planned() -> None:
    """Found by mutants: every number below the number of images was tried (seed 5, job 1786)."""
    type_ = "tensor<4294967296x28x28x64xf32>"
    module = parse(f"""
    func.func @main(%x: {type_}) -> {type_} {{
      %w = graph.weight "w" : tensor<3x3x64x64xf32>
      %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"
          : ({type_}, tensor<3x3x64x64xf32>) -> {type_}
      func.return %y : {type_}
    }}""")
    run_pipeline(make_context(), module, "graph-optimize,to-loops,plan-schedules")
    assert "#schedule.winograd" in str(module)
