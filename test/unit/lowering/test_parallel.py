"""The estimate of work, chunks, and what `parallelize` and `outline-parallel-loops` leave behind."""

from __future__ import annotations

import pytest
from stepwell.analysis.work import GRAIN, MOST_CHUNKS, chunk_of, nanoseconds, trip_count
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.tensor_loop import FuncOp
from xdsl.dialects import scf


@pytest.mark.parametrize("trips", [1, 2, 7, 128, 509, 100_003])
@pytest.mark.parametrize("each", [0.0, 1.0, 300.0, 19_999.0, 1e6])
def test_chunks_take_the_grain_and_are_even(trips: int, each: float) -> None:
    chunk = chunk_of(trips, each)
    count = -(-trips // chunk)
    assert 1 <= chunk <= trips and count <= MOST_CHUNKS
    assert count == 1 or chunk * each >= GRAIN or chunk == 1 or count <= MOST_CHUNKS
    if count > 1:
        assert chunk * each >= GRAIN / 2, "a chunk is too small to share"


def loops(text: str) -> list[scf.ForOp]:
    return [op for op in parse_text(make_context(), text, "test").walk() if isinstance(op, scf.ForOp)]


NEST = """
func.func @nest(%x: memref<64x64xf32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c3 {{
    scf.for %j = %c0 to {upper} step %c3 {{
      %0 = memref.load %x[%i, %j] : memref<64x64xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %x[%i, %j] : memref<64x64xf32>
    }} {hint}
  }}
  func.return
}}
"""


def test_work_is_what_the_loops_run() -> None:
    outer, inner = loops(NEST.format(upper="%c64", hint=""))
    assert trip_count(outer) == trip_count(inner) == 22
    assert nanoseconds(outer) == pytest.approx(22 * nanoseconds(inner))
    unknown = loops(NEST.format(upper="%n", hint=""))[1]
    assert trip_count(unknown) is None
    assert nanoseconds(unknown) == pytest.approx(nanoseconds(inner) / 22)
    vectors = loops(NEST.format(upper="%c64", hint='{stepwell.loop = "vectorize"}'))[1]
    assert nanoseconds(vectors) < nanoseconds(inner)


def lowered(text: str, pipeline: str) -> str:
    context = make_context()
    module = parse_text(context, text, "test")
    run_pipeline(context, module, parse_pipeline(pipeline), verify_each=True)
    return str(module)


ROWS = """
tensor_loop.func @rows(%A: memref<512x1024xf32>) outs(%B: memref<512x1024xf32>) {
  tensor_loop.grid (%i, %j) in (512, 1024) {
    tensor_loop.block "rows" spatial(%vi in 512 = %i, %vj in 1024 = %j) {
      %0 = memref.load %A[%vi, %vj] : memref<512x1024xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %B[%vi, %vj] : memref<512x1024xf32>
    }
  }
}
"""


def test_scheduling_twice_changes_nothing() -> None:
    for text in (
        ROWS,
        ROWS.replace("512", "5"),
        ROWS.replace("512x1024", "3x700000").replace("512", "3").replace("1024", "700000"),
    ):
        once = lowered(text, "schedule-cpu")
        assert lowered(once, "schedule-cpu") == once
    assert "parallel" in lowered(ROWS, "schedule-cpu")


def test_names_of_parts_are_fresh() -> None:
    taken = ROWS.replace("@rows", "@rows_part")
    text = lowered(ROWS + taken, "schedule-cpu,lower-loops-to-scf,outline-parallel-loops")
    for name in ("@rows(", "@rows_part(", "@rows_part_1(", "@rows_part_part("):
        assert text.count(f"func.func {name}") + text.count(f"func.func private {name}") == 1, name


def test_a_marked_function_is_a_function_of_loops_still() -> None:
    module = parse_text(make_context(), lowered(ROWS, "schedule-cpu"), "test")
    (function,) = [op for op in module.walk() if isinstance(op, FuncOp)]
    assert nanoseconds(function) > 5 * GRAIN
