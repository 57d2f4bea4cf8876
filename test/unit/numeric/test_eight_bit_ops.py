"""Ops on floats of 8 bits: those that only move elements, comparisons, and kernels that convert."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stepwell
from eight_bit_floats import ALL_BITS, TYPES, Array, by_the_table, each_type, ignores_nan, same
from stepwell import reference, te
from stepwell.core.weights import write_weights
from stepwell.lowering import create_prim_func

pytestmark = ignores_nan


# Ops that only move elements

CONSTANTS = "dense<[[1.0, -2.0, 0.015625, 3.5]]>"

MOVES = {
    "permute_dims": "graph.permute_dims %x, axes = [1, 0] : (tensor<64x96xT>) -> tensor<96x64xT>",
    "reshape": "graph.reshape %x, shape = [24, -1] : (tensor<64x96xT>) -> tensor<24x256xT>",
    "expand_dims": "graph.expand_dims %x, axis = [1] : (tensor<64x96xT>) -> tensor<64x1x96xT>",
    "squeeze": "graph.squeeze %row, axis = [0] : (tensor<1x96xT>) -> tensor<96xT>",
    "broadcast_to": "graph.broadcast_to %row, shape = [33, 96] : (tensor<1x96xT>) -> tensor<33x96xT>",
    "concat": "graph.concat %x, %row, axis = 0 : (tensor<64x96xT>, tensor<1x96xT>) -> tensor<65x96xT>",
    "strided_slice": "graph.strided_slice %x, axes = [1], begin = [90], end = [3], strides = [-3] : (tensor<64x96xT>)"
    " -> tensor<64x29xT>",
    "pad": "graph.pad %x, pad_width = [1, 2, 3, 5], value = 1.5 : (tensor<64x96xT>) -> tensor<67x104xT>",
    "take": "graph.take %x, %i, axis = 0 : (tensor<64x96xT>, tensor<5xi64>) -> tensor<5x96xT>",
    "take_along_axis": "graph.take_along_axis %x, %j, axis = 0 : (tensor<64x96xT>, tensor<1x96xi64>) -> tensor<1x96xT>",
    "gather_nd": "graph.gather_nd %x, %k : (tensor<64x96xT>, tensor<5x1xi64>) -> tensor<5x96xT>",
    "scatter_elements": "graph.scatter_elements %x, %j, %row, axis = 0 : (tensor<64x96xT>, tensor<1x96xi64>,"
    " tensor<1x96xT>) -> tensor<64x96xT>",
    "scatter_nd": "graph.scatter_nd %x, %l, %row : (tensor<64x96xT>, tensor<1x1xi64>, tensor<1x96xT>)"
    " -> tensor<64x96xT>",
    "where": "graph.where %c, %x, %row : (tensor<64x96xi1>, tensor<64x96xT>, tensor<1x96xT>) -> tensor<64x96xT>",
    "constant": f"graph.constant {CONSTANTS} : tensor<1x4xT>",
    "full": "graph.full -0.5 : tensor<7x33xT>",
    "weight": 'graph.weight "w" : tensor<64x96xT>',
    "identity": "graph.reshape %x, shape = [64, 96] : (tensor<64x96xT>) -> tensor<64x96xT>",
    "split": "graph.split %x, sections = 2, axis = 1 : (tensor<64x96xT>) -> (tensor<64x48xT>, tensor<64x48xT>)",
}


def program(dtype: str, ops: dict[str, str]) -> str:
    lines, values, types = [], [], []
    for name, text in ops.items():
        results = text.rpartition("->")[2].strip() if "->" in text else text.rpartition(" : ")[2]
        found = results.strip("()").split(", ")
        names = [f"%{name}_{number}" for number in range(len(found))]
        lines.append(f"{', '.join(names)} = {text}")
        values += names
        types += found
    body = "\n".join(lines)
    return f"""
    builtin.module attributes {{stepwell.weights = "w.safetensors"}} {{
      func.func @main(%x: tensor<64x96xT>, %row: tensor<1x96xT>, %c: tensor<64x96xi1>, %i: tensor<5xi64>,
          %j: tensor<1x96xi64>, %k: tensor<5x1xi64>, %l: tensor<1x1xi64>) -> ({", ".join(types)}) {{
        {body}
        func.return {", ".join(values)} : {", ".join(types)}
      }}
    }}""".replace("xT", f"x{dtype}")


def operands(random: np.random.Generator) -> list[Array]:
    return [
        random.integers(0, 256, (64, 96), np.uint8),
        random.integers(0, 256, (1, 96), np.uint8),
        random.integers(0, 2, (64, 96)).astype(bool),
        random.integers(-64, 64, 5),
        random.integers(0, 64, (1, 96)),
        random.integers(0, 64, (5, 1)),
        random.integers(0, 64, (1, 1)),
    ]


def literals_as_bytes(text: str, dtype: str) -> str:
    """The program on ui8 with the bits of the literals of the one on floats."""
    values = np.array([1.0, -2.0, 0.015625, 3.5, 1.5, -0.5], TYPES[dtype]).view(np.uint8)
    text = text.replace(CONSTANTS, f"dense<[{[int(value) for value in values[:4]]}]>")
    text = text.replace("value = 1.5", f"value = {values[4]}").replace("full -0.5", f"full {values[5]}")
    return text.replace(f"x{dtype}", "xui8")


@pytest.mark.ci_cases(1)
@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_moves_keep_all_bits(
    dtype: str, opt_level: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NaN with any payload too. The reference runs the same program on bytes."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(4)
    given = operands(random)
    weights = {"w": random.integers(0, 256, (64, 96), np.uint8)}
    as_floats = [*(array.view(TYPES[dtype]) for array in given[:2]), *given[2:]]
    write_weights(tmp_path / "w.safetensors", {"w": weights["w"].view(TYPES[dtype])})
    text = program(dtype, MOVES)
    wanted = reference.run(stepwell.parse(literals_as_bytes(text, dtype)), "main", *given, weights=weights)
    own = reference.run(stepwell.parse(text), "main", *as_floats, weights={"w": weights["w"].view(TYPES[dtype])})
    found = stepwell.compile(text, opt_level=opt_level, threads=threads, cache=False)(*as_floats)
    assert len(found) == len(wanted) == len(MOVES) + 1
    for number, (native, numpy, bits) in enumerate(zip(found, own, wanted, strict=True)):
        assert native.dtype == numpy.dtype == TYPES[dtype]
        np.testing.assert_array_equal(native.view(np.uint8), bits, err_msg=str(number))
        np.testing.assert_array_equal(numpy.view(np.uint8), bits, err_msg=str(number))


@each_type
@pytest.mark.parametrize("reduction", ["add", "multiply", "maximum", "minimum"])
def test_scattering_rounds_each_update_once(dtype: str, reduction: str) -> None:
    text = f"""
    func.func @main(%x: tensor<8x16xT>, %i: tensor<9x16xi64>, %u: tensor<9x16xT>) -> tensor<8x16xT> {{
      %y = graph.scatter_elements %x, %i, %u, axis = 0, reduction = "{reduction}" : (tensor<8x16xT>,
        tensor<9x16xi64>, tensor<9x16xT>) -> tensor<8x16xT>
      func.return %y : tensor<8x16xT>
    }}""".replace("xT", f"x{dtype}")
    random = np.random.default_rng(0)
    x, u = (random.integers(0, 256, (rows, 16), np.uint8).view(TYPES[dtype]) for rows in (8, 9))
    i = random.integers(0, 8, (9, 16))
    (found,) = stepwell.compile(text, cache=False)(x, i, u)
    (wanted,) = reference.run(stepwell.parse(text), "main", x, i, u)
    assert same(found, wanted)


DYNAMIC = """
func.func @main(%x: tensor<?x8xT>, %row: tensor<1x8xT>) -> tensor<?x?xT> {
  %s = graph.shape_of %x : (tensor<?x8xT>) -> tensor<2xi64>
  %y = graph.dynamic_broadcast_to %row, %s : (tensor<1x8xT>, tensor<2xi64>) -> tensor<?x?xT>
  func.return %y : tensor<?x?xT>
}
"""


@each_type
def test_moves_of_sizes_known_at_the_call(dtype: str) -> None:
    x, row = np.zeros((5, 8), TYPES[dtype]), np.arange(120, 128, dtype=np.uint8).reshape(1, 8).view(TYPES[dtype])
    (y,) = stepwell.compile(DYNAMIC.replace("xT", f"x{dtype}"), cache=False)(x, row)
    np.testing.assert_array_equal(y.view(np.uint8), np.broadcast_to(row.view(np.uint8), (5, 8)))


@pytest.mark.ci_cases(11)
@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("relation", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons_of_all_pairs(dtype: str, opt_level: int, relation: str) -> None:
    text = f"""
    func.func @main(%x: tensor<256x1xT>, %y: tensor<1x256xT>) -> tensor<256x256xi1> {{
      %z = graph.{relation} %x, %y : (tensor<256x1xT>, tensor<1x256xT>) -> tensor<256x256xi1>
      func.return %z : tensor<256x256xi1>
    }}""".replace("xT", f"x{dtype}")
    x = ALL_BITS.view(TYPES[dtype])
    (found,) = stepwell.compile(text, opt_level=opt_level, cache=False)(x.reshape(-1, 1), x.reshape(1, -1))
    wide = x.astype(np.float32)
    np.testing.assert_array_equal(found, getattr(np, relation)(wide[:, None], wide[None, :]))


# Inside of kernels


QUANTISED = """
func.func @main(%q: tensor<40x64xT>, %w: tensor<64x48xT>, %s: tensor<f32>) -> tensor<40x48xT> {
  %0 = graph.astype %q, dtype = f32 : (tensor<40x64xT>) -> tensor<40x64xf32>
  %1 = graph.astype %w, dtype = f32 : (tensor<64x48xT>) -> tensor<64x48xf32>
  %2 = graph.matmul %0, %1 : (tensor<40x64xf32>, tensor<64x48xf32>) -> tensor<40x48xf32>
  %3 = graph.multiply %2, %s : (tensor<40x48xf32>, tensor<f32>) -> tensor<40x48xf32>
  %4 = graph.clip %3, min = -448.0, max = 448.0 : (tensor<40x48xf32>) -> tensor<40x48xf32>
  %5 = graph.astype %4, dtype = T : (tensor<40x48xf32>) -> tensor<40x48xT>
  func.return %5 : tensor<40x48xT>
}
"""


@pytest.mark.ci_cases(3)
@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_product_between_conversions(dtype: str, opt_level: int, threads: int) -> None:
    """Small whole numbers, so that every order of the sums is exact."""
    random = np.random.default_rng(2)
    q, w = (random.integers(-3, 4, shape).astype(TYPES[dtype]) for shape in ((40, 64), (64, 48)))
    text = QUANTISED.replace("xT", f"x{dtype}").replace("= T", f"= {dtype}")
    (found,) = stepwell.compile(text, opt_level=opt_level, threads=threads, cache=False)(q, w, np.array(4, np.float32))
    product = 4 * (q.astype(np.float32) @ w.astype(np.float32))
    assert np.abs(product).max() > 448
    assert same(found, by_the_table(np.clip(product, -448, 448), dtype, True))


@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
def test_a_product_in_te_of_what_was_converted(dtype: str, opt_level: int) -> None:
    """No kernel of tiles takes it, since those convert elements themselves."""
    left, right = te.placeholder((40, 64), dtype, "A"), te.placeholder((64, 48), dtype, "B")
    k = te.reduce_axis(64, "k")
    product = te.compute(
        (40, 48), lambda i, j: te.sum(te.cast("f32", left[i, k]) * te.cast("f32", right[k, j]), axis=k), name="C"
    )
    assert isinstance(product, te.Tensor)
    function = create_prim_func([left, right, product])
    random = np.random.default_rng(3)
    a, b = (random.integers(-3, 4, shape).astype(TYPES[dtype]) for shape in ((40, 64), (64, 48)))
    (found,) = stepwell.compile(str(function), opt_level=opt_level, cache=False)(a, b)
    np.testing.assert_array_equal(found, a.astype(np.float32) @ b.astype(np.float32))


WEIGHTED = """
builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<40x64xf32>) -> tensor<40x48xf32> {
    %w = graph.weight "w" : tensor<64x48xT>
    %0 = graph.astype %w, dtype = f32 : (tensor<64x48xT>) -> tensor<64x48xf32>
    %1 = graph.matmul %x, %0 : (tensor<40x64xf32>, tensor<64x48xf32>) -> tensor<40x48xf32>
    func.return %1 : tensor<40x48xf32>
  }
}
"""


@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
def test_a_product_with_stored_weights(
    dtype: str, opt_level: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    w = random.integers(-3, 4, (64, 48)).astype(TYPES[dtype])
    x = random.integers(-3, 4, (40, 64)).astype(np.float32)
    write_weights(tmp_path / "w.safetensors", {"w": w})
    (found,) = stepwell.compile(WEIGHTED.replace("xT", f"x{dtype}"), opt_level=opt_level, cache=False)(x)
    np.testing.assert_array_equal(found, x @ w.astype(np.float32))


# Quantised tensors


CONVERSIONS = """
func.func @main(%x: tensor<2x300xf32>, %s: tensor<2xf32>, %z: tensor<2xT>, %q: tensor<2x256xT>) -> (
    tensor<2x300xT>, tensor<2x256xf32>) {
  %0 = graph.quantize %x, %s, %z, axis = 0 : (tensor<2x300xf32>, tensor<2xf32>, tensor<2xT>)
  %1 = graph.dequantize %q, %s, %z, axis = 0 : (tensor<2x256xT>, tensor<2xf32>, tensor<2xT>)
  func.return %0, %1 : tensor<2x300xT>, tensor<2x256xf32>
}
"""


@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
def test_quantised_tensors(dtype: str, opt_level: int) -> None:
    """The first zero point is 0, the other is not."""
    random = np.random.default_rng(4)
    x = (random.standard_normal((2, 300)) * 10.0 ** random.uniform(-4, 6, (2, 300))).astype(np.float32)
    x[:, :5] = np.inf, -np.inf, np.nan, 0, -0.0
    s, z = np.array([0.5, 0.3], np.float32), np.array([0, -1.5], TYPES[dtype])
    q = np.stack([ALL_BITS, ALL_BITS[::-1]]).view(TYPES[dtype])
    found, real = stepwell.compile(CONVERSIONS.replace("xT", f"x{dtype}"), opt_level=opt_level, cache=False)(x, s, z, q)
    steps, zeros = x / s[:, None], z.astype(np.float32)[:, None]
    assert same(found, by_the_table(steps + zeros, dtype, True))
    np.testing.assert_array_equal(real, (q.astype(np.float32) - zeros) * s[:, None])
