"""Integers of 4 and 2 bits: conversions, moves, comparisons and quantisation, natively and by the reference."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from counts import FULL
from small_integers import RANGES, TYPES, Array, any_bytes, each_type, saturated, values_of, wrapped
from stepwell import reference, te
from stepwell.runtime.errors import ArgumentError
from stepwell.te import numeric
from stepwell.te.dtypes import FLOATS, SMALL_INTEGERS, numpy_dtype

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
"""NumPy warns of NaN in casts."""

WIDE = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
LEVELS = range(4) if FULL else (3,)
OTHERS = (*FLOATS, *WIDE, "i1")


def astype(source: str, target: str, count: int) -> str:
    return f"graph.astype %x_{source}, dtype = {target} : (tensor<{count}x{source}>) -> tensor<{count}x{target}>"


def program(casts: list[tuple[str, str]], count: int) -> str:
    """A program with all the conversions, one argument for each type that they start from."""
    sources = dict.fromkeys(source for source, _ in casts)
    arguments = ", ".join(f"%x_{source}: tensor<{count}x{source}>" for source in sources)
    body = "\n".join(f"%y{number} = {astype(*cast, count)}" for number, cast in enumerate(casts))
    types = ", ".join(f"tensor<{count}x{target}>" for _, target in casts)
    names = ", ".join(f"%y{number}" for number in range(len(casts)))
    return f"func.func @main({arguments}) -> ({types}) {{\n{body}\nfunc.return {names} : {types}\n}}"


def points(source: str, count: int) -> Array:
    """Values of a wider type around all bounds, whole and not, and those that are farthest out."""
    if source == "i1":
        return np.arange(count) % 2 == 1
    if source in FLOATS:
        numbers = np.concatenate([np.arange(-20, 20, 0.25), [np.nan, np.inf, -np.inf, 1e5, -1e5, 2.0**31, -0.0]])
        return np.resize(numbers, count).astype(np.float32).astype(numpy_dtype(source))
    info = np.iinfo(numpy_dtype(source))
    numbers = [*range(max(info.min, -40), 41), info.min, info.max, info.max - 1, info.max // 3]
    return np.resize(np.array(numbers, numpy_dtype(source)), count)


@pytest.mark.parametrize("opt_level", LEVELS)
def test_conversions_from_wider_types(opt_level: int) -> None:
    count = 251
    casts = [(source, target) for source in OTHERS for target in TYPES]
    given = [points(source, count) for source in OTHERS]
    found = stepwell.compile(program(casts, count), opt_level=opt_level, cache=False)(*given)
    for (source, target), result in zip(casts, found, strict=True):
        x = given[OTHERS.index(source)]
        wanted = saturated(x, target) if source in FLOATS else wrapped(x.astype(object), target).astype(np.int64)
        assert result.dtype == TYPES[target], (source, target)
        np.testing.assert_array_equal(values_of(result), wanted, err_msg=f"{source} {target}")
        # Upper bits are zeros, as NumPy leaves them.
        np.testing.assert_array_equal(result.view(np.uint8), wanted % 2 ** {"4": 4, "2": 2}[target[-1]])
        for other in (reference.evaluate("graph.astype", {"dtype": target}, x)[0], numeric.cast(source, target, x)):
            np.testing.assert_array_equal(values_of(other), wanted, err_msg=f"{source} {target}")


@pytest.mark.parametrize("opt_level", LEVELS)
def test_conversions_to_all_types(opt_level: int) -> None:
    """Of all bytes: what lies above the bits of the type does not count."""
    data = np.arange(256, dtype=np.uint8)
    casts = [(source, target) for source in TYPES for target in (*OTHERS, *TYPES) if source != target]
    given = [data.view(TYPES[source]) for source in TYPES]
    found = stepwell.compile(program(casts, 256), opt_level=opt_level, cache=False)(*given)
    for (source, target), result in zip(casts, found, strict=True):
        numbers = wrapped(data.astype(np.int64), source).astype(np.int64)
        wanted = wrapped(numbers, target).astype(np.int64) if target in TYPES else numbers.astype(numpy_dtype(target))
        x = data.view(TYPES[source])
        for each in (result, reference.evaluate("graph.astype", {"dtype": target}, x)[0]):
            assert each.dtype == numpy_dtype(target), (source, target)
            values = values_of(each) if target in TYPES else each
            np.testing.assert_array_equal(values, wanted, err_msg=f"{source} {target}")
        evaluated = numeric.cast(source, target, x)
        np.testing.assert_array_equal(values_of(evaluated) if target in TYPES else evaluated, wanted)


@each_type
@pytest.mark.parametrize("opt_level", LEVELS)
def test_comparisons_of_all_pairs(dtype: str, opt_level: int) -> None:
    relations = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    types = f"(tensor<256x1x{dtype}>, tensor<1x256x{dtype}>) -> tensor<256x256xi1>"
    body = "\n".join(f"%{name} = graph.{name} %x, %y : {types}" for name in relations)
    results = ", ".join(["tensor<256x256xi1>"] * len(relations))
    text = f"""
    func.func @main(%x: tensor<256x1x{dtype}>, %y: tensor<1x256x{dtype}>) -> ({results}) {{
      {body}
      func.return {", ".join(f"%{name}" for name in relations)} : {results}
    }}"""
    data = np.arange(256, dtype=np.uint8).view(TYPES[dtype])
    numbers = wrapped(np.arange(256), dtype).astype(np.int64)
    found = stepwell.compile(text, opt_level=opt_level, cache=False)(data.reshape(-1, 1), data.reshape(1, -1))
    for name, result in zip(relations, found, strict=True):
        np.testing.assert_array_equal(result, getattr(np, name)(numbers[:, None], numbers[None, :]), err_msg=name)


MOVES = """
func.func @main(%x: tensor<33x47xT>, %row: tensor<1x47xT>, %c: tensor<33x47xi1>, %i: tensor<5xi64>) -> (
    tensor<47x33xT>, tensor<34x47xT>, tensor<33x16xT>, tensor<36x55xT>, tensor<5x47xT>, tensor<33x47xT>,
    tensor<33x47xT>, tensor<2x3xT>, tensor<4xT>) {
  %0 = graph.permute_dims %x, axes = [1, 0] : (tensor<33x47xT>) -> tensor<47x33xT>
  %1 = graph.concat %x, %row, axis = 0 : (tensor<33x47xT>, tensor<1x47xT>) -> tensor<34x47xT>
  %2 = graph.strided_slice %x, axes = [1], begin = [46], end = [0], strides = [-3] : (tensor<33x47xT>)
    -> tensor<33x16xT>
  %3 = graph.pad %x, pad_width = [1, 2, 3, 5], value = 1 : (tensor<33x47xT>) -> tensor<36x55xT>
  %4 = graph.take %x, %i, axis = 0 : (tensor<33x47xT>, tensor<5xi64>) -> tensor<5x47xT>
  %5 = graph.where %c, %x, %row : (tensor<33x47xi1>, tensor<33x47xT>, tensor<1x47xT>) -> tensor<33x47xT>
  %6 = graph.broadcast_to %row, shape = [33, 47] : (tensor<1x47xT>) -> tensor<33x47xT>
  %7 = graph.full 1 : tensor<2x3xT>
  %8 = graph.constant dense<[1, LOW, HIGH, 0]> : tensor<4xT>
  func.return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<47x33xT>, tensor<34x47xT>, tensor<33x16xT>,
    tensor<36x55xT>, tensor<5x47xT>, tensor<33x47xT>, tensor<33x47xT>, tensor<2x3xT>, tensor<4xT>
}
"""


@pytest.mark.ci_cases(2)
@each_type
@pytest.mark.parametrize("opt_level", LEVELS)
def test_moves(dtype: str, opt_level: int) -> None:
    random = np.random.default_rng(3)
    (x, a), (row, b) = any_bytes(random, dtype, (33, 47)), any_bytes(random, dtype, (1, 47))
    c, i = random.integers(0, 2, (33, 47)).astype(bool), random.integers(0, 33, 5)
    low, high = RANGES[dtype]
    text = MOVES.replace("xT", f"x{dtype}").replace("LOW", str(low)).replace("HIGH", str(high))
    padded = np.pad(a, ((1, 2), (3, 5)), constant_values=1)
    wanted = [a.T, np.concatenate([a, b]), a[:, 46:0:-3], padded, a[i], np.where(c, a, b), np.tile(b, (33, 1))]
    wanted += [np.ones((2, 3), np.int64), np.array([1, low, high, 0])]
    native = stepwell.compile(text, opt_level=opt_level, cache=False)(x, row, c, i)
    by_numpy = reference.run(stepwell.parse(text), "main", x, row, c, i)
    for number, (found, other, numbers) in enumerate(zip(native, by_numpy, wanted, strict=True)):
        assert found.dtype == other.dtype == TYPES[dtype]
        np.testing.assert_array_equal(values_of(found), numbers, err_msg=str(number))
        np.testing.assert_array_equal(values_of(other), numbers, err_msg=str(number))


# Quantisation

ROUNDS = 12 if FULL else 2


def quantisation(random: np.random.Generator, dtype: str, kind: str) -> tuple[str, list[Array], list[Array]]:
    """A program, its operands and what they are in `float64`: x and integers with scales of one kind."""
    shape = tuple(int(size) for size in random.integers(1, 9, 3))
    axis = int(random.integers(-3, 3))
    block = int(random.integers(1, 6)) if kind == "block" else 0
    blocks = [-(-size // block) if block and place == axis % 3 else size for place, size in enumerate(shape)]
    scales = tuple({"tensor": [], "axis": [shape[axis]], "block": blocks}[kind])
    x = (random.standard_normal(shape) * 6).astype(np.float32)
    scale = random.uniform(0.3, 1.5, scales).astype(np.float32)
    (zero, zeros), (q, numbers) = any_bytes(random, dtype, scales), any_bytes(random, dtype, shape)
    texts = ["x".join([*map(str, sizes), ""]) for sizes in (shape, scales)]
    real, steps, points = (f"tensor<{texts[0]}f32>", f"tensor<{texts[1]}f32>", f"tensor<{texts[1]}{dtype}>")
    integers = f"tensor<{texts[0]}{dtype}>"
    properties = f"axis = {axis}, block_size = {block}"
    text = f"""
    func.func @main(%x: {real}, %q: {integers}, %s: {steps}, %z: {points}) -> ({integers}, {real}) {{
      %0 = graph.quantize %x, %s, %z, {properties} : ({real}, {steps}, {points}) -> {integers}
      %1 = graph.dequantize %q, %s, %z, {properties} : ({integers}, {steps}, {points}) -> {real}
      func.return %0, %1 : {integers}, {real}
    }}"""

    def spread(array: Array) -> Array:
        if kind == "tensor":
            return array
        if kind == "axis":
            return array.reshape([-1 if place == axis % 3 else 1 for place in range(3)])
        return np.repeat(array, block, axis=axis).take(range(shape[axis]), axis=axis)

    s, z = spread(scale), spread(zeros)
    steps_of_x = np.rint(x / s).astype(np.float64) + z
    wanted = [np.clip(steps_of_x, *RANGES[dtype]), ((numbers - z).astype(np.float32) * s)]
    return text, [x, q, scale, zero], wanted


@pytest.mark.ci_cases(3)
@each_type
@pytest.mark.parametrize("kind", ["tensor", "axis", "block"])
def test_quantising_and_back(dtype: str, kind: str) -> None:
    random = np.random.default_rng([*dtype.encode(), *kind.encode()])
    for number in range(ROUNDS):
        text, given, wanted = quantisation(random, dtype, kind)
        native = stepwell.compile(text, opt_level=3 * (number % 2), cache=False)(*given)
        for found in (native, reference.run(stepwell.parse(text), "main", *given)):
            assert found[0].dtype == TYPES[dtype]
            np.testing.assert_array_equal(values_of(found[0]), wanted[0], err_msg=text)
            np.testing.assert_array_equal(found[1], wanted[1], err_msg=text)


# te


def test_tensor_expressions_refuse_arithmetic() -> None:
    x = te.placeholder((4,), "i4", "x")
    bodies = (lambda i: x[i] + x[i], lambda i: -x[i], lambda i: te.floordiv(x[i], x[i]))
    for body in bodies:
        with pytest.raises(te.TEError, match="is not defined on i4"):
            te.compute((4,), body)
    with pytest.raises(te.TEError, match="9 is not a value of i4, which holds the integers -8 to 7"):
        te.compute((4,), lambda i: te.const(9, "i4"))


def test_arguments_of_other_types() -> None:
    text = "func.func @main(%x: tensor<3xi4>) -> tensor<3xi4> {\nfunc.return %x : tensor<3xi4>\n}"
    program = stepwell.compile(text, cache=False)
    message = r"argument 'x' has element type int8, expected int4 \(tensor<3xi4>\)"
    with pytest.raises(ArgumentError, match=message):
        program(np.zeros(3, np.int8))
    with pytest.raises(ArgumentError, match="argument 'x' holds 9, which tensor<3xi4> does not have"):
        program([1, 9, 2])
    (found,) = program([-8, 7, 0])
    assert found.tolist() == [-8, 7, 0] and found.dtype == TYPES["i4"]


def test_every_small_integer_is_here() -> None:
    assert set(TYPES) == set(SMALL_INTEGERS)
