"""Loops on register tiles against NumPy: all lengths, sums and maxima, rows worked on by several loops."""

from __future__ import annotations

from typing import Any

import llvm_jit
import numpy as np
import pytest
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.math.expand_math import ExpandMathPass
from stepwell.lowering.scf.vectorize_loops import VectorizeLoopsPass
from stepwell.machine.host import host_machine

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Array = np.ndarray[Any, Any]

WIDE = [False, True] if host_machine().has_wide_registers else [False]
"""
With the instructions of AVX-512 where the machine has them. Loops over tiles run on any, but for `tile.larger` and
`tile.smaller`.
"""

MAXIMA = [
    ("maximumf", "", lambda p, start: max(p.max(), start)),
    ("minimumf", "fastmath<nsz>", lambda p, start: min(p.min(), start)),
]

EXTENTS = [16, 17, 31, 32, 48, 63, 64, 65, 100, 127, 128, 133, 200]


def lowered(source: str, wide: bool = False) -> tuple[str, str]:
    """A program after vectorize-loops, and after expand-math."""
    context = make_context()
    module = parse_text(context, source, "test.mlir")
    VectorizeLoopsPass(wide=True).apply(context, module)
    module.verify()
    tiles = str(module)
    ExpandMathPass(wide=wide).apply(context, module)
    module.verify()
    return tiles, str(module)


def loop(body: str, extent: int, rest: str = "", carried: str = "") -> str:
    """A function of %x, %y and a row %r of the two-dimensional %z, with one marked loop, and what comes after it."""
    return f"""
    func.func @f(%x: memref<{extent}xf32>, %y: memref<{extent}xf32>, %z: memref<3x{extent}xf32>, %s: memref<4xf32>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %n = arith.constant {extent} : index
      {carried.partition("|")[0]}
      {carried.partition("|")[2]} scf.for %i = %c0 to %n step %c1 {body} {{stepwell.loop = "vectorize"}}
      {rest}
      func.return
    }}"""


def call(source: str, extent: int, seed: int = 0, *, wide: bool = False) -> tuple[str, list[Array]]:
    """The text on tiles and the arrays after a run: x, y, z, s as they were, then as they are."""
    tiles, text = lowered(source, wide)
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in (extent, extent, (3, extent), 4)]
    before = [array.copy() for array in arrays]
    llvm_jit.Program(text).call("f", *arrays)
    return tiles, [*before, *arrays]


MAP = """{
        %a = memref.load %x[%i] : memref<Nxf32>
        %b = memref.load %z[%c2, %i] : memref<3xNxf32>
        %t = memref.load %s[%c1] : memref<4xf32>
        %c = math.fma %a, %b, %t : f32
        %d = math.exp %c : f32
        memref.store %d, %y[%i] : memref<Nxf32>
        %e = arith.subf %d, %a : f32
        memref.store %e, %x[%i] : memref<Nxf32>
      }"""


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize("wide", WIDE)
def test_maps_of_every_length(extent: int, wide: bool) -> None:
    tiles, (x, _, z, s, after, y, *_) = call(loop(MAP.replace("N", str(extent)), extent), extent, wide=wide)
    assert "tile.map" in tiles and "vectorize" not in tiles
    expected = np.exp(x.astype(np.float64) * z[2] + s[1])
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    np.testing.assert_allclose(after, expected - x, rtol=1e-5, atol=1e-5)


def sums(kind: str, extent: int, flags: str) -> str:
    """%s[0] = the sum, maximum or minimum of x * y, from a start."""
    body = f"""iter_args(%t = %start) -> (f32) {{
        %a = memref.load %x[%i] : memref<{extent}xf32>
        %b = memref.load %y[%i] : memref<{extent}xf32>
        %p = arith.mulf %a, %b : f32
        %u = arith.{kind} %t, %p {flags} : f32
        scf.yield %u : f32
      }}"""
    rest = "memref.store %found, %s[%c0] : memref<4xf32>"
    return loop(body, extent, rest, "%start = memref.load %s[%c2] : memref<4xf32>|%found =")


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize(
    ("kind", "flags", "reference"),
    [
        ("addf", "fastmath<reassoc>", lambda p, start: p.sum() + start),
        ("maxnumf", "fastmath<nsz>", lambda p, start: max(p.max(), start)),
        *(MAXIMA if True in WIDE else []),
    ],
)
def test_sums_maxima_and_minima(kind: str, flags: str, reference: Any, extent: int) -> None:
    tiles, (x, y, _, s, *_, after) = call(sums(kind, extent, flags), extent)
    assert f'tile.reduce "{kind}"' in tiles
    expected = reference(x.astype(np.float64) * y, float(s[2]))
    np.testing.assert_allclose(after[0], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", [kind for kind, *_ in MAXIMA if True in WIDE])
def test_a_maximum_is_nan_where_an_element_is(kind: str) -> None:
    program = llvm_jit.Program(lowered(sums(kind, 100, ""))[1])
    y, z = np.ones(100, np.float32), np.ones((3, 100), np.float32)
    quiet, negative, signalling = np.array([0x7FC00000, 0xFFC00001, 0x7F800001], np.uint32).view(np.float32)
    for nan, place in ((quiet, 0), (negative, 63), (signalling, 99), (signalling, 20), (quiet, 64)):
        x, s = np.linspace(-1, 1, 100, dtype=np.float32), np.zeros(4, np.float32)
        x[place] = nan
        program.call("f", x, y, z, s)
        assert np.isnan(s[0]), (nan, place)


@pytest.mark.parametrize("kind", [kind for kind, *_ in MAXIMA if True in WIDE])
def test_a_zero_of_a_maximum_has_its_sign(kind: str) -> None:
    program = llvm_jit.Program(lowered(sums(kind, 100, ""))[1])
    y, z = np.ones(100, np.float32), np.ones((3, 100), np.float32)
    usual = -0.0 if kind == "maximumf" else 0.0
    for other, place in ((usual, 0), (-usual, 0), (-usual, 63), (-usual, 99)):
        x, s = np.full(100, usual, np.float32), np.full(4, usual, np.float32)
        x[place] = other
        program.call("f", x, y, z, s)
        assert s[0] == 0 and np.signbit(s[0]) == np.signbit(np.float32(other)), (other, place)


@pytest.mark.parametrize("place", [0, 63, 99])
def test_maxnumf_passes_over_nans(place: int) -> None:
    _, text = lowered(sums("maxnumf", 100, "fastmath<nsz>"))
    x = np.arange(100, dtype=np.float32)
    y, z, s = (np.ones(shape, np.float32) for shape in (100, (3, 100), 4))
    x[place] = np.nan
    llvm_jit.Program(text).call("f", x, y, z, s)
    assert s[0] == (98 if place == 99 else 99)


LEFT_ALONE = {
    "fifteen iterations": (15, MAP),
    "a copy": (
        64,
        "{ %a = memref.load %x[%i] : memref<Nxf32>\n memref.store %a, %y[%i] : memref<Nxf32> }",
    ),
    "another row of what it stores": (
        64,
        """{ %a = memref.load %z[%c1, %i] : memref<3xNxf32>\n %b = arith.negf %a : f32
        memref.store %b, %z[%c2, %i] : memref<3xNxf32> }""",
    ),
    "a column": (
        3,
        """{ %a = memref.load %z[%i, %c1] : memref<3xNxf32>
        %b = arith.negf %a : f32\n memref.store %b, %z[%i, %c2] : memref<3xNxf32> }""",
    ),
    "what it has stored, elsewhere": (
        64,
        """{ %a = memref.load %x[%i] : memref<Nxf32>
        %b = arith.negf %a : f32\n memref.store %b, %x[%i] : memref<Nxf32>
        %j = arith.subi %n, %i : index\n %k = arith.subi %j, %c1 : index
        %d = memref.load %x[%k] : memref<Nxf32>\n memref.store %d, %y[%i] : memref<Nxf32> }""",
    ),
    "a sum in order": (64, "sum"),
    "a condition": (
        64,
        """{ %a = memref.load %x[%i] : memref<Nxf32>\n %b = arith.cmpf olt, %a, %a : f32
        scf.if %b { memref.store %a, %y[%i] : memref<Nxf32> } }""",
    ),
    "its own number": (
        64,
        """{ %j = arith.index_cast %i : index to i32\n %a = arith.sitofp %j : i32 to f32
        memref.store %a, %y[%i] : memref<Nxf32> }""",
    ),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_to_llvm(name: str) -> None:
    extent, body = LEFT_ALONE[name]
    source = sums("addf", extent, "") if body == "sum" else loop(body.replace("N", str(extent)), extent)
    tiles, _ = lowered(source)
    assert "tile." not in tiles and "vectorize" in tiles


def test_a_narrow_target_keeps_its_loops() -> None:
    context = make_context()
    module = parse_text(context, loop(MAP.replace("N", "64"), 64), "test.mlir")
    VectorizeLoopsPass(target="x86-64-v3").apply(context, module)
    assert "tile." not in str(module)


def rows(columns: int) -> str:
    """Softmax without the maximum, in three loops over each row; the second sums up what the first stores."""
    type_ = f"memref<5x{columns}xf32>"
    return f"""
    func.func @f(%x: {type_}, %y: {type_}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %n = arith.constant {columns} : index
      %one = arith.constant 1.0 : f32
      scf.for %r = %c0 to %c5 step %c1 {{
        scf.for %i = %c0 to %n step %c1 {{
          %a = memref.load %x[%r, %i] : {type_}
          %b = math.exp %a : f32
          memref.store %b, %y[%r, %i] : {type_}
        }} {{stepwell.loop = "vectorize"}}
        %zero = arith.constant 0.0 : f32
        %sum = scf.for %j = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) {{
          %c = memref.load %y[%r, %j] : {type_}
          %d = arith.addf %t, %c fastmath<reassoc> : f32
          scf.yield %d : f32
        }} {{stepwell.loop = "vectorize"}}
        %scale = arith.divf %one, %sum : f32
        scf.for %k = %c0 to %n step %c1 {{
          %e = memref.load %y[%r, %k] : {type_}
          %f = arith.mulf %e, %scale : f32
          memref.store %f, %y[%r, %k] : {type_}
        }} {{stepwell.loop = "vectorize"}}
      }}
      func.return
    }}"""


@settings(max_examples=60 if FULL else 4, deadline=None)
@given(columns=st.integers(16, 300), seed=st.integers(0, 100))
def test_rows_of_any_length(columns: int, seed: int) -> None:
    tiles, text = lowered(rows(columns), WIDE[-1])
    assert "tile.prefetch" in tiles and "vectorize" not in tiles
    assert tiles.count('tile.reduce "addf"') == tiles.count("math.exp")  # one for each: the loops have been jammed
    x = np.random.default_rng(seed).standard_normal((5, columns)).astype(np.float32)
    y = np.zeros_like(x)
    llvm_jit.Program(text).call("f", x, y)
    e = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=2e-6)
