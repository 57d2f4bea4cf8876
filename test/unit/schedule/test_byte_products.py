"""
Products of bytes are exact, by whatever instructions the machine has: tile registers, dot products of four bytes, or
neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from ml_dtypes import bfloat16
from named_machines import wide_targets
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.machine.host import host_machine
from stepwell.machine.named import machine_names

SIGNS = ("i8", "ui8")
TARGETS = [*wide_targets(), "host"]
"""Those with wide registers whose instructions this machine has; `host` on any."""
ELEMENTS = {"i8": np.int8, "ui8": np.uint8}


@dataclass(frozen=True)
class Product:
    """`[batch.., m, k] * [batch.., k, n]`; a batch of b of 0: b has none."""

    m: int
    k: int
    n: int
    left: str = "i8"
    right: str = "i8"
    constant: bool = False
    batch: int = 0
    shared: bool = False
    widened: bool = False
    """Whether bytes of other signs are widened to 32 bits before they are multiplied."""

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        batch = (self.batch,) if self.batch else ()
        return (*batch, self.m, self.k), (*(() if self.shared else batch), self.k, self.n)

    @property
    def out(self) -> str:
        return "ui32" if self.left == self.right == "ui8" else "i32"

    def text(self, epilogue: str = "", result: str = "") -> str:
        shapes = ["x".join(map(str, shape)) for shape in self.shapes]
        x, y = (f"tensor<{s}x{e}>" for s, e in zip(shapes, (self.left, self.right), strict=True))
        batch = f"{self.batch}x" if self.batch else ""
        out = f"tensor<{batch}{self.m}x{self.n}x{self.out}>"
        if self.left == self.right or not self.widened:
            body = f"%r = graph.matmul %x, %y, out_dtype = {self.out} : ({x}, {y}) -> {out}"
        else:
            wide = [f"tensor<{shape}xi32>" for shape in shapes]
            body = f"""%a = graph.astype %x, dtype = i32 : ({x}) -> {wide[0]}
  %b = graph.astype %y, dtype = i32 : ({y}) -> {wide[1]}
  %r = graph.matmul %a, %b : ({wide[0]}, {wide[1]}) -> {out}"""
        arguments, weight = (f"%x: {x}", f'%y = graph.weight "w" : {y}') if self.constant else (f"%x: {x}, %y: {y}", "")
        returned = result or out
        return f"""func.func @main({arguments}) -> {returned} {{
  {weight}
  {body}
  {epilogue}
  func.return {"%e" if epilogue else "%r"} : {returned}
}}"""

    def arrays(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Random bytes, with rows and columns of the extreme ones."""
        rng = np.random.default_rng(seed)
        info = [np.iinfo(ELEMENTS[each]) for each in (self.left, self.right)]
        x, y = (
            rng.integers(i.min, i.max + 1, shape, dtype=i.dtype) for i, shape in zip(info, self.shapes, strict=True)
        )
        x[..., 0, :] = info[0].min if info[0].min else info[0].max
        y[..., :, 0] = info[1].min if info[1].min else info[1].max
        y[..., :, -1] = info[1].max
        return x, y

    def run(self, text: str, x: np.ndarray, y: np.ndarray, target: str, threads: int = 1) -> np.ndarray:
        with PassContext(config={"target": target}):
            weights = {"w": y} if self.constant else None
            program = stepwell.compile(text, cache=False, weights=weights, threads=threads)
        return np.asarray(program(x) if self.constant else program(x, y))

    def check(self, target: str, seed: int = 0, threads: int = 1) -> None:
        x, y = self.arrays(seed)
        expected = (x.astype(np.int64) @ y.astype(np.int64)).astype(np.uint32)
        found = self.run(self.text(), x, y, target, threads)
        np.testing.assert_array_equal(found.view(np.uint32).reshape(expected.shape), expected)


PRODUCTS = st.builds(
    Product,
    m=st.integers(1, 70),
    k=st.integers(1, 200),
    n=st.integers(2, 100),
    left=st.sampled_from(SIGNS),
    right=st.sampled_from(SIGNS),
    constant=st.booleans(),
    batch=st.sampled_from([0, 0, 1, 3]),
    shared=st.booleans(),
    widened=st.booleans(),
)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("left", SIGNS)
@pytest.mark.parametrize("right", SIGNS)
def test_all_signs(target: str, left: str, right: str) -> None:
    for widened in (False, True)[: 1 + (left != right)]:
        Product(33, 66, 50, left, right, widened=widened).check(target)
        Product(16, 64, 32, left, right, constant=True, widened=widened).check(target)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("target", TARGETS)
def test_random_products(target: str) -> None:
    @settings(max_examples=150 if FULL else 4, deadline=None, database=None, derandomize=not FULL)
    @given(PRODUCTS, st.integers(0, 2**16))
    def check(product: Product, seed: int) -> None:
        product.check(target, seed)

    check()


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize("target", machine_names())
def test_every_stage_is_valid_on_every_target(target: str) -> None:
    """Passes leave IR that verifies, also for processors other than this one. Running a program does not show that."""
    products = (
        Product(64, 32, 64, batch=3),
        Product(33, 66, 50, "ui8", "i8", batch=3, shared=True),
        Product(5, 30, 20, "i8", "ui8", batch=1),
        Product(40, 64, 48, constant=True, batch=3),
    )
    for product in products:
        with PassContext(config={"target": target}):
            context = make_context()
            run_pipeline(context, parse_text(context, product.text(), "product.mlir"), "O3", verify_each=True)


@pytest.mark.parametrize("target", TARGETS)
def test_sums_wrap(target: str) -> None:
    """2**17 products of -128 * -128 make 2**31."""
    product = Product(1, 2**17, 16, constant=True)
    x, y = (np.full(shape, -128, np.int8) for shape in product.shapes)
    found = product.run(product.text(), x, y, target)
    assert set(found.ravel().tolist()) == {-(2**31)}


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("target", TARGETS)
def test_threads_share_rows(target: str) -> None:
    """A product large enough to be cut into chunks; each thread has tile registers of its own."""
    for constant in (False, True):
        Product(320, 512, 96, constant=constant).check(target, threads=2)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [(64, 128, 64), (20, 100, 40)])
def test_scaled_results(target: str, size: tuple[int, int, int]) -> None:
    """A scale, a bias and a residual on the sums, in f32, then rounded to bytes."""
    product = Product(*size, constant=True)
    m, _, n = size
    f32, i8 = f"tensor<{m}x{n}xf32>", f"tensor<{m}x{n}xi8>"
    text = product.text(
        f"""%f = graph.astype %r, dtype = f32 : (tensor<{m}x{n}xi32>) -> {f32}
  %s = graph.constant dense<0.0078125> : tensor<f32>
  %g = graph.multiply %f, %s : ({f32}, tensor<f32>) -> {f32}
  %h = graph.add %g, %s : ({f32}, tensor<f32>) -> {f32}
  %e = graph.astype %h, dtype = i8 : ({f32}) -> {i8}""",
        i8,
    )
    x, y = product.arrays(1)
    sums = (x.astype(np.int32) @ y.astype(np.int32)).astype(np.float32)
    scaled = sums * np.float32(0.0078125) + np.float32(0.0078125)
    expected = np.clip(np.trunc(scaled), -128, 127).astype(np.int8)
    np.testing.assert_array_equal(product.run(text, x, y, target).reshape(m, n), expected)


# bf16


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("numerics", ["fast", "default", "strict"])
@pytest.mark.parametrize("size", [(33, 50, 70), (1, 100, 33)])
def test_products_of_bf16(numerics: str, size: tuple[int, int, int]) -> None:
    """Sums in f32 whatever the instructions. Subnormal numbers count in full unless a constant or `fast` is there."""
    m, k, n = size
    types = f"(tensor<{m}x{k}xbf16>, tensor<{k}x{n}xbf16>) -> tensor<{m}x{n}xf32>"
    rng = np.random.default_rng(m)
    x, y = (rng.standard_normal(shape).astype(bfloat16) for shape in ((m, k), (k, n)))
    x[0, :], y[0, :] = np.float32(2.0**-130), np.float32(2.0**100)
    wide = x.astype(np.float64), y.astype(np.float64)
    expected, bound = wide[0] @ wide[1], np.abs(wide[0]) @ np.abs(wide[1]) * k * 2.0**-24
    for constant in (False, True):
        argument, weight = ("", f'%y = graph.weight "w" : tensor<{k}x{n}xbf16>')
        if not constant:
            argument, weight = f", %y: tensor<{k}x{n}xbf16>", ""
        text = f"""func.func @main(%x: tensor<{m}x{k}xbf16>{argument}) -> tensor<{m}x{n}xf32> {{
  {weight}
  %r = graph.matmul %x, %y, out_dtype = f32 : {types}
  func.return %r : tensor<{m}x{n}xf32>
}}"""
        weights = {"w": y} if constant else None
        program = stepwell.compile(text, cache=False, weights=weights, numerics=numerics)
        uses = "dpbf16ps" in program.ir("llvm-ir")
        may = numerics == "fast" or (numerics == "default" and constant)
        assert uses == (may and has_halves() and (m > 1 or constant))
        found = (program(x) if constant else program(x, y))[0].astype(np.float64)
        assert (np.abs(found - expected)[1:] <= bound[1:]).all()
        exact = np.abs(found - expected)[0] <= bound[0]
        if uses:  # Columns that fill no register count in full.
            assert (exact | (found[0] == 0)).all() and (found[0, :32] == 0).all()
        else:
            assert exact.all()


def has_halves() -> bool:
    """Whether this machine has instructions for products of bf16."""
    return not {"amx-bf16", "avx512bf16"}.isdisjoint(host_machine().features)
