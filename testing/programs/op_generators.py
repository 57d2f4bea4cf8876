"""One random instance of any graph op: shapes, element types and properties inside what docs/semantics.md allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ...te.dtypes import bit_width
from .ir_generators import Chooser, ElementType, OpCase, TensorSpec, rarely

FLOATS: Final = ("f32", "f64", "f16", "bf16")
SIGNED: Final = ("i32", "i64", "i8", "i16")
UNSIGNED: Final = ("ui8", "ui16", "ui32", "ui64")
NUMBERS: Final = (*FLOATS, *SIGNED, *UNSIGNED)
ANY: Final = (*NUMBERS, "i1")

MOST_ELEMENTS: Final = 400
"""Largest number of elements of an operand: enough for tails of every vector width, small enough to be fast."""

EXTENTS: Final = (2, 3, 1, 4, 5, 8, 7, 16, 17, 9, 33)


def any_dtype(choose: Chooser, dtypes: Sequence[str]) -> str:
    if choose.usual in dtypes and rarely(choose, 2):
        return choose.usual
    return choose.element(dtypes)


def any_shape(choose: Chooser, low: int = 0, high: int = 4, *, empty: bool = True) -> tuple[int, ...]:
    """Returns a shape of rank `low` to `high`, now and then with an extent 0 when `empty`."""
    shape: list[int] = []
    count = 1
    for _ in range(choose.integer(low, high)):
        extent = choose.element([extent for extent in choose.extents or EXTENTS if count * extent <= MOST_ELEMENTS])
        count *= extent
        shape.append(extent)
    if empty and shape and rarely(choose, 10):
        shape[choose.integer(0, len(shape) - 1)] = 0
    return tuple(shape)


def any_axis(choose: Chooser, rank: int) -> int:
    """An axis counted from either end."""
    axis = choose.integer(0, rank - 1)
    return axis - rank if rarely(choose, 3) else axis


def any_axes(choose: Chooser, rank: int, low: int = 1, high: int | None = None) -> list[int]:
    """Different axes, each counted from either end."""
    left = list(range(rank))
    axes: list[int] = []
    for _ in range(choose.integer(low, rank if high is None else high)):
        axis = left.pop(choose.integer(0, len(left) - 1))
        axes.append(axis - rank if rarely(choose, 3) else axis)
    return axes


def broadcast_operands(choose: Chooser, count: int, full: tuple[int, ...] | None = None) -> list[tuple[int, ...]]:
    """
    Shapes that broadcast together: extents replaced by 1, leading dimensions left out; the first one may be given.
    """
    shapes: list[tuple[int, ...]] = [] if full is None else [full]
    full = any_shape(choose) if full is None else full
    for _ in range(count - len(shapes)):
        shape = tuple(1 if rarely(choose, 5) else extent for extent in full)
        shapes.append(shape[choose.integer(0, len(shape)) :] if rarely(choose, 4) else shape)
    return shapes


def case(
    choose: Chooser, op: str, operands: Sequence[TensorSpec], flavours: Sequence[str], **properties: object
) -> OpCase:
    """The case, properties with value `None` left out."""
    given = tuple((name, value) for name, value in properties.items() if value is not None)
    return OpCase(op, tuple(operands), given, tuple(flavours), infer=rarely(choose, 3))


# Elementwise

UNARY: Final[dict[str, Sequence[str]]] = {
    **dict.fromkeys(("negative", "abs", "sign", "square", "relu", "floor", "ceil", "trunc", "round", "clip"), NUMBERS),
    **dict.fromkeys(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt"), FLOATS),
    **dict.fromkeys(("sin", "cos", "tan", "tanh", "erf", "sigmoid", "silu", "gelu", "leaky_relu"), FLOATS),
    **dict.fromkeys(("sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh"), FLOATS),
    **dict.fromkeys(("isnan", "isinf", "isfinite"), FLOATS),
    "logical_not": ("i1",),
    "bitwise_not": (*SIGNED, *UNSIGNED, "i1"),
    "astype": ANY,
    "bitcast": NUMBERS,
}


def unary(choose: Chooser, op: str, first: TensorSpec | None = None) -> OpCase:
    spec = first or TensorSpec(any_shape(choose), any_dtype(choose, UNARY[op]))
    properties: dict[str, object] = {}
    if op == "astype":
        properties["dtype"] = ElementType(choose.element(ANY))
    elif op == "bitcast":
        bits = bit_width(spec.dtype)
        properties["dtype"] = ElementType(choose.element([each for each in NUMBERS if bit_width(each) == bits]))
    elif op == "gelu":
        properties["approximate"] = choose.element([None, "tanh", "none"])
    elif op == "leaky_relu":
        properties["alpha"] = choose.element([None, 0.2, -1.5])
    elif op == "clip":
        numbers = [-1.5, 0.0, 2.25, 0.1, -0.0] if spec.dtype in FLOATS else [1, 0, 5, 100]
        properties["min"] = choose.element([None, *numbers])
        properties["max"] = choose.element([None, *numbers] if properties["min"] is not None else numbers)
    return case(choose, op, [spec], ["any"], **properties)


BINARY: Final[dict[str, Sequence[str]]] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "floor_divide", "mod", "power"), NUMBERS),
    **dict.fromkeys(("maximum", "minimum"), NUMBERS),
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), ANY),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), ("i1",)),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), (*SIGNED, *UNSIGNED, "i1")),
    **dict.fromkeys(("left_shift", "right_shift"), (*SIGNED, *UNSIGNED)),
    "where": ANY,
    "ewise_fma": NUMBERS,
}


def binary(choose: Chooser, op: str, first: TensorSpec | None = None) -> OpCase:
    dtype = any_dtype(choose, BINARY[op]) if first is None else first.dtype
    full = None if first is None else first.shape
    if op == "where":
        chosen, condition, other = broadcast_operands(choose, 3, full)
        operands = [TensorSpec(condition, "i1"), TensorSpec(chosen, dtype), TensorSpec(other, dtype)]
        return case(choose, op, operands, ["any"] * 3)
    count = 3 if op == "ewise_fma" else 2
    operands = [TensorSpec(shape, dtype) for shape in broadcast_operands(choose, count, full)]
    flavours = ["any"] * count
    if op in ("divide", "floor_divide", "mod"):
        flavours[1] = choose.element(["divisor", "positive"])
    elif op in ("power", "left_shift", "right_shift"):
        flavours[1] = choose.element(["small", "any"])
    elif rarely(choose, 2 if op in ("maximum", "minimum") else 3):
        # Close values meet more often: equal operands, zeros of both signs, exact cancellation.
        flavours = ["small"] * count
    return case(choose, op, operands, flavours)


# Contractions


def wider(dtype: str) -> list[str | None]:
    """Values of `out_dtype` that are not narrower than the operands."""
    for family in (("f16", "f32", "f64"), ("bf16", "f32", "f64"), ("i8", "i16", "i32", "i64")):
        if dtype in family:
            return [None, *family[family.index(dtype) :]]
    family = UNSIGNED
    return [None, *family[family.index(dtype) :]]


def out_dtype(choose: Chooser, dtype: str) -> ElementType | None:
    name = choose.element(wider(dtype)) if rarely(choose, 3) else None
    return None if name is None else ElementType(name)


def beside(choose: Chooser, dtype: str) -> str:
    """The element type of the other operand of a product, which may be another float."""
    return any_dtype(choose, FLOATS) if dtype in FLOATS and rarely(choose, 6) else dtype


def matmul(choose: Chooser, op: str) -> OpCase:
    dtype = any_dtype(choose, NUMBERS)
    m, n = choose.element(choose.extents or EXTENTS), choose.element(choose.extents or EXTENTS)
    k = 0 if rarely(choose, 12) else choose.element(choose.extents or (3, 4, 1, 7, 16, 17, 33))
    m, n = (0 if rarely(choose, 15) else m), (0 if rarely(choose, 15) else n)
    leading = any_shape(choose, 0, 2) if m * n <= 60 else ()
    leading = tuple(min(extent, 3) for extent in leading)
    shapes = []
    for matrix, vector in (((m, k), (k,)), ((k, n), (k,))):
        own = tuple(1 if rarely(choose, 4) else extent for extent in leading)
        own = own[choose.integer(0, len(own)) :] if rarely(choose, 3) else own
        shapes.append(vector if rarely(choose, 6) else (*own, *matrix))
    operands = [TensorSpec(shape, each) for shape, each in zip(shapes, (dtype, beside(choose, dtype)), strict=True)]
    return case(choose, op, operands, ["moderate"] * 2, out_dtype=out_dtype(choose, dtype))


def window(choose: Chooser, most_padding: int | None = None) -> tuple[int, int, int, int, int, int]:
    """One dimension of a window op: size, kernel, stride, padding before and after, dilation; the kernel fits."""
    kernel = choose.element((2, 3, 1))
    dilation = 2 if rarely(choose, 4) else 1
    stride = choose.element((1, 2, 3))
    most = kernel - 1 if most_padding is None else most_padding
    before, after = choose.integer(0, most), choose.integer(0, most)
    least = dilation * (kernel - 1) + 1
    if most_padding is not None:
        least = max(1, least - before - after)
    return least + choose.element((3, 1, 0, 6)), kernel, stride, before, after, dilation


def optional(choose: Chooser, value: list[int], default: list[int]) -> list[int] | None:
    """`value`, left out half of the time when it is the default."""
    return None if value == default and rarely(choose, 2) else value


def conv2d(choose: Chooser, op: str) -> OpCase:
    dtype = any_dtype(choose, NUMBERS)
    height, kh, step_h, top, bottom, dilation_h = window(choose, most_padding=2)
    width, kw, step_w, left, right, dilation_w = window(choose, most_padding=2)
    groups = choose.element((1, 1, 2, 3))
    inputs, outputs = choose.integer(1, 3), choose.integer(1, 4) * groups
    batch = 0 if rarely(choose, 15) else choose.integer(1, 2)
    data_layout, kernel_layout = choose.element([None, "NHWC"]), choose.element([None, "HWIO"])
    channels = inputs * groups
    data = (batch, channels, height, width) if data_layout is None else (batch, height, width, channels)
    kernel = (outputs, inputs, kh, kw) if kernel_layout is None else (kh, kw, inputs, outputs)
    return case(
        choose,
        op,
        [TensorSpec(data, dtype), TensorSpec(kernel, dtype)],
        ["moderate"] * 2,
        strides=optional(choose, [step_h, step_w], [1, 1]),
        padding=optional(choose, [top, left, bottom, right], [0, 0, 0, 0]),
        dilation=optional(choose, [dilation_h, dilation_w], [1, 1]),
        groups=None if groups == 1 else groups,
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_dtype=out_dtype(choose, dtype),
    )


# Reductions

REDUCTIONS: Final[dict[str, tuple[Sequence[str], str]]] = {
    "sum": (NUMBERS, "moderate"),
    "prod": (NUMBERS, "near-one"),
    "mean": (FLOATS, "moderate"),
    "max": (NUMBERS, "any"),
    "min": (NUMBERS, "any"),
    "any": (("i1",), "any"),
    "all": (("i1",), "any"),
    "argmax": (NUMBERS, "any"),
    "argmin": (NUMBERS, "any"),
    "softmax": (FLOATS, "moderate"),
    "log_softmax": (FLOATS, "moderate"),
}


def reduction(choose: Chooser, op: str, first: TensorSpec | None = None) -> OpCase:
    dtypes, flavour = REDUCTIONS[op]
    by_row = op.endswith("softmax")
    may_be_empty = op not in ("max", "min", "argmax", "argmin")
    shape = any_shape(choose, 1 if by_row else 0, empty=may_be_empty)
    spec = first or TensorSpec(shape, any_dtype(choose, dtypes))
    if op in ("max", "min", "argmax", "argmin", "any", "all") and rarely(choose, 3):
        flavour = "small"
    if by_row:
        axis = None if rarely(choose, 4) else any_axis(choose, spec.rank)
        return case(choose, op, [spec], [flavour], axis=axis)
    axis = None
    if spec.rank and not rarely(choose, 5):
        single = op in ("argmax", "argmin")
        axis = any_axis(choose, spec.rank) if single else any_axes(choose, spec.rank)
    return case(choose, op, [spec], [flavour], axis=axis, keepdims=choose.element([None, True]))


# Normalisation and pooling


def batch_norm(choose: Chooser, op: str) -> OpCase:
    spec = TensorSpec(any_shape(choose, 2), any_dtype(choose, FLOATS))
    axis = None if rarely(choose, 3) else any_axis(choose, spec.rank)
    vector = TensorSpec((spec.shape[1 if axis is None else axis],), spec.dtype)
    flavours = ["moderate", "finite", "finite", "finite", "positive"]
    return case(choose, op, [spec, *[vector] * 4], flavours, axis=axis, epsilon=choose.element([None, 0.01]))


def layer_norm(choose: Chooser, op: str) -> OpCase:
    spec = TensorSpec(any_shape(choose, 1), any_dtype(choose, FLOATS))
    axes = None if rarely(choose, 3) else sorted(any_axes(choose, spec.rank), key=lambda axis: axis % spec.rank)
    vector = TensorSpec(tuple(spec.shape[axis] for axis in ([-1] if axes is None else axes)), spec.dtype)
    flavours = ["moderate", "finite", "finite"]
    return case(choose, op, [spec, vector, vector], flavours, axes=axes, epsilon=choose.element([None, 0.01]))


def bias_add(choose: Chooser, op: str) -> OpCase:
    spec = TensorSpec(any_shape(choose, 2), any_dtype(choose, NUMBERS))
    axis = None if rarely(choose, 3) else any_axis(choose, spec.rank)
    vector = TensorSpec((spec.shape[1 if axis is None else axis],), spec.dtype)
    return case(choose, op, [spec, vector], ["any", "any"], axis=axis)


def instance_norm(choose: Chooser, op: str) -> OpCase:
    spec = TensorSpec(any_shape(choose, 2), any_dtype(choose, FLOATS))
    place = choose.integer(1, spec.rank - 1)
    axis = choose.element([place, place - spec.rank, *([None] if place == 1 else [])])
    vector = TensorSpec((spec.shape[place],), spec.dtype)
    flavours = ["moderate", "finite", "finite"]
    return case(choose, op, [spec, vector, vector], flavours, axis=axis, epsilon=choose.element([None, 0.01]))


def group_norm(choose: Chooser, op: str) -> OpCase:
    shape = list(any_shape(choose, 2))
    place = choose.integer(1, len(shape) - 1)
    groups = choose.element((1, 2, 3))
    shape[place] = 0 if rarely(choose, 15) else groups * choose.element((1, 2, 3))
    spec = TensorSpec(tuple(shape), any_dtype(choose, FLOATS))
    axis = choose.element([place, place - spec.rank, *([None] if place == 1 else [])])
    vector = TensorSpec((shape[place],), spec.dtype)
    return case(
        choose,
        op,
        [spec, vector, vector],
        ["moderate", "finite", "finite"],
        num_groups=groups,
        axis=axis,
        epsilon=choose.element([None, 0.01]),
    )


def scaled_by_norm(choose: Chooser, op: str) -> OpCase:
    """Generates `l2_normalize` and `rms_norm`. The latter has a vector `gamma` of the extents of the axes."""
    spec = TensorSpec(any_shape(choose, 1), any_dtype(choose, FLOATS))
    axes = None if rarely(choose, 3) else sorted(any_axes(choose, spec.rank), key=lambda axis: axis % spec.rank)
    gamma = TensorSpec(tuple(spec.shape[axis] for axis in ([-1] if axes is None else axes)), spec.dtype)
    operands = [spec] if op == "l2_normalize" else [spec, gamma]
    flavours = ["moderate", "finite"][: len(operands)]
    return case(choose, op, operands, flavours, axes=axes, epsilon=choose.element([None, 0.01]))


def dropout(choose: Chooser, op: str) -> OpCase:
    spec = TensorSpec(any_shape(choose), any_dtype(choose, FLOATS))
    return case(choose, op, [spec], ["any"], rate=choose.element([None, 0.0, 0.25]))


def pool(choose: Chooser, op: str) -> OpCase:
    dtype = any_dtype(choose, FLOATS if op == "avg_pool2d" else NUMBERS)
    height, kh, step_h, top, bottom, dilation_h = window(choose)
    width, kw, step_w, left, right, dilation_w = window(choose)
    batch, channels = (0 if rarely(choose, 15) else choose.integer(1, 2)), choose.integer(1, 4)
    layout = choose.element([None, "NHWC"])
    shape = (batch, channels, height, width) if layout is None else (batch, height, width, channels)
    return case(
        choose,
        op,
        [TensorSpec(shape, dtype)],
        ["moderate" if op == "avg_pool2d" else "any"],
        pool_size=[kh, kw],
        strides=optional(choose, [step_h, step_w], [1, 1]),
        padding=optional(choose, [top, left, bottom, right], [0, 0, 0, 0]),
        dilation=optional(choose, [dilation_h, dilation_w], [1, 1]),
        layout=layout,
        count_include_pad=choose.element([None, True]) if op == "avg_pool2d" else None,
    )


Generator = Callable[..., OpCase]
"""Functions `(choose, op) -> OpCase`. Those that accept it take the type of the first operand as a third argument."""
