"""The operands and properties that fit an op, some operands being given already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..programs import movement_generators as movement
from ..programs import op_generators as ops
from ..programs.ir_generators import Chooser, TensorSpec, rarely
from .choices import (
    DTYPES,
    Completed,
    Completion,
    Impossible,
    Known,
    Taste,
    binary,
    first_of,
    number_of_class,
    small_shape,
    unary,
)

# Contractions


def matmul(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    lhs, rhs = known
    if lhs is None and rhs is None:
        shape = small_shape(choose, 1, 3)
        lhs = TensorSpec(shape, number_of_class(choose, taste, ops.NUMBERS))
    if lhs is not None and lhs.rank == 0 or rhs is not None and rhs.rank == 0:
        raise Impossible
    if rhs is None:
        assert lhs is not None
        columns = choose.element((2, 3, 1, 4))
        vector = rarely(choose, 8)
        rhs = TensorSpec((lhs.shape[-1],) if vector else (lhs.shape[-1], columns), ops.beside(choose, lhs.dtype))
    elif lhs is None:
        inner = rhs.shape[0] if rhs.rank == 1 else rhs.shape[-2]
        rows = () if rarely(choose, 8) else (choose.element((2, 3, 1)),)
        lhs = TensorSpec((*rows, inner), ops.beside(choose, rhs.dtype))
    return Completed([lhs, rhs], {"out_dtype": ops.out_dtype(choose, lhs.dtype)})


def conv2d(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    data, kernel = known
    layout, kernel_layout = choose.element([None, "NHWC"]), choose.element([None, "HWIO"])
    groups = choose.element((1, 1, 1, 2))
    if data is None:
        inputs = groups * choose.integer(1, 2)
        if kernel is not None:
            if kernel.rank != 4:
                raise Impossible
            inputs = groups * kernel.shape[1 if kernel_layout is None else 2]
        size = (choose.integer(2, 4), choose.integer(2, 4))
        shape = (choose.integer(1, 2), inputs, *size) if layout is None else (1, *size, inputs)
        data = TensorSpec(shape, number_of_class(choose, taste, ops.NUMBERS))
    if data.rank != 4:
        raise Impossible
    channels = data.shape[1 if layout is None else 3]
    if channels % groups:
        groups = 1
    outputs, height, width = groups * choose.integer(1, 3), choose.integer(1, 2), choose.integer(1, 2)
    inputs = channels // groups
    shape = (outputs, inputs, height, width) if kernel_layout is None else (height, width, inputs, outputs)
    kernel = kernel or TensorSpec(shape, data.dtype)
    padding = choose.element([None, [0, 1, 1, 0], [1, 1, 1, 1]])
    properties = {
        "data_layout": layout,
        "kernel_layout": kernel_layout,
        "groups": groups,
        "padding": padding,
        "strides": choose.element([None, None, [2, 1]]),
        "out_dtype": ops.out_dtype(choose, data.dtype) if rarely(choose, 3) else None,
    }
    return Completed([data, kernel], properties)


def pool(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    data = known[0]
    if data is None:
        shape = (choose.integer(1, 2), choose.integer(1, 3), choose.integer(2, 4), choose.integer(2, 4))
        dtypes = ops.FLOATS if op == "avg_pool2d" else ops.NUMBERS
        data = TensorSpec(shape, number_of_class(choose, taste, dtypes))
    if data.rank != 4:
        raise Impossible
    properties = {
        "pool_size": [choose.integer(1, 2), choose.integer(1, 2)],
        "layout": choose.element([None, "NHWC"]),
        "strides": choose.element([None, [1, 2]]),
        "padding": choose.element([None, [0, 0, 0, 0], [1, 0, 0, 1]]),
    }
    if op == "avg_pool2d":
        properties["count_include_pad"] = choose.element([None, True])
    return Completed([data], properties)


# Reductions and normalisations


def reduction(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    low = 1 if op.endswith("softmax") else 0
    spec = first_of(choose, known, taste, ops.REDUCTIONS[op][0], low)
    if spec.dtype not in ops.REDUCTIONS[op][0] or (0 in spec.shape and op in ("max", "min", "argmax", "argmin")):
        raise Impossible
    return Completed([spec], dict(ops.reduction(choose, op, spec).properties))


def norm(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    """Norms with vectors per channel, `bias_add` too."""
    dtypes = ops.NUMBERS if op == "bias_add" else ops.FLOATS
    shape = taste.shape if len(taste.shape) >= 2 else small_shape(choose, 2)
    place = 1 if len(shape) < 3 or rarely(choose, 2) else choose.integer(1, len(shape) - 1)
    properties: dict[str, Any] = {}
    if op == "group_norm":
        groups = choose.element((1, 2))
        properties["num_groups"] = groups
        shape = (*shape[:place], groups * choose.element((1, 2)), *shape[place + 1 :])
    spec = known[0] or TensorSpec(shape, number_of_class(choose, taste, dtypes))
    if spec.rank < 2 or place >= spec.rank:
        raise Impossible
    properties["axis"] = choose.element([place, place - spec.rank, *([None] if place == 1 else [])])
    if op in ("batch_norm", "bias_add") and rarely(choose, 4):
        place = 0
        properties["axis"] = 0
    if op != "bias_add":
        properties["epsilon"] = choose.element([None, 0.01, 0.5])
    vector = TensorSpec((spec.shape[place],), spec.dtype)
    return Completed([spec, *[each or vector for each in known[1:]]], properties, _positive_variance(op))


def _positive_variance(op: str) -> dict[int, str]:
    return {4: "positive"} if op == "batch_norm" else {}


def axes_norm(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = first_of(choose, known, taste, ops.FLOATS, 1)
    axes = ops.any_axes(choose, spec.rank)
    axes = None if rarely(choose, 3) else sorted(axes, key=lambda axis: axis % spec.rank)
    vector = TensorSpec(tuple(spec.shape[axis] for axis in axes or [-1]), spec.dtype)
    properties = {"axes": axes, "epsilon": choose.element([None, 0.01, 0.5])}
    return Completed([spec, *[each or vector for each in known[1:]]], properties)


def dropout(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    return Completed([first_of(choose, known, taste, ops.FLOATS)], {"rate": choose.element([None, 0.0, 0.25])})


# Movement


def permute_dims(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = first_of(choose, known, taste, DTYPES)
    axes: list[int] | None = list(range(spec.rank))
    if spec.rank > 1 and rarely(choose, 3):
        axes = [*range(spec.rank - 2), spec.rank - 1, spec.rank - 2]
    elif not rarely(choose, 3):
        axes = None if rarely(choose, 3) else ops.any_axes(choose, spec.rank, low=spec.rank)
    return Completed([spec], {"axes": axes})


def reshape(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = first_of(choose, known, taste, DTYPES)
    targets = [each.shape for each in [spec, *taste.seen] if each.size == spec.size and each.shape]
    if targets and rarely(choose, 2):
        return Completed([spec], {"shape": list(choose.element(targets))})
    return Completed([spec], dict(movement.reshape(choose, op, spec).properties))


def expand_dims(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = first_of(choose, known, taste, DTYPES)
    count = 0 if rarely(choose, 6) else choose.integer(1, 2)
    return Completed([spec], {"axis": ops.any_axes(choose, spec.rank + count, count, count)})


def squeeze(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = known[0]
    if spec is None:
        shape = list(small_shape(choose, 0, 3))
        for _ in range(choose.integer(0, 2)):
            shape.insert(choose.integer(0, len(shape)), 1)
        spec = TensorSpec(tuple(shape), number_of_class(choose, taste, DTYPES))
    ones = [axis for axis, extent in enumerate(spec.shape) if extent == 1]
    some = [axis - spec.rank if rarely(choose, 3) else axis for axis in ones if not rarely(choose, 3)]
    return Completed([spec], {"axis": None if rarely(choose, 2) else some})


def broadcast_to(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = first_of(choose, known, taste, DTYPES)
    target = [choose.element((2, 3)) if extent == 1 and rarely(choose, 2) else extent for extent in spec.shape]
    if len(target) < 4 and rarely(choose, 3):
        target.insert(0, choose.element((1, 2)))
    return Completed([spec], {"shape": target})


def concat(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = next((each for each in known if each is not None), None) or first_of(choose, (), taste, DTYPES, 1)
    if spec.rank == 0:
        raise Impossible
    axis = ops.any_axis(choose, spec.rank)
    place = axis % spec.rank
    others = [
        TensorSpec((*spec.shape[:place], choose.element((1, 2)), *spec.shape[place + 1 :]), spec.dtype) for _ in known
    ]
    return Completed([a or b for a, b in zip(known, others, strict=True)], {"axis": axis})


def split(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = first_of(choose, known, taste, DTYPES, 1)
    axis = ops.any_axis(choose, spec.rank)
    extent = spec.shape[axis]
    sections = 1 if rarely(choose, 2) else choose.integer(1, max(extent, 1))
    if extent > 1 and rarely(choose, 3):
        return Completed([spec], {"axis": axis, "indices": [choose.integer(1, extent - 1)]})
    return Completed([spec], {"axis": axis, "sections": sections})


def strided_slice(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = first_of(choose, known, taste, DTYPES, 1)
    if not rarely(choose, 2):
        return Completed([spec], dict(movement.strided_slice(choose, op, spec).properties))
    axes = list(range(spec.rank))
    strides = [-1 if rarely(choose, 4) else choose.element((1, 1, 2)) for _ in axes]
    begin = [0 if stride > 0 else spec.shape[axis] - 1 for axis, stride in zip(axes, strides, strict=True)]
    end = [
        spec.shape[axis] if stride > 0 else -spec.shape[axis] - 1 for axis, stride in zip(axes, strides, strict=True)
    ]
    return Completed([spec], {"axes": axes, "begin": begin, "end": end, "strides": strides})


def pad(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = first_of(choose, known, taste, DTYPES)
    properties = dict(movement.pad(choose, op, spec).properties)
    if rarely(choose, 3):
        properties["pad_width"] = [0] * (2 * spec.rank)
    return Completed([spec], properties)


def take(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = first_of(choose, known, taste, DTYPES, 1)
    axis = ops.any_axis(choose, spec.rank)
    if spec.shape[axis] == 0:
        raise Impossible
    indices = known[1] or TensorSpec(tuple(min(extent, 2) for extent in small_shape(choose, 0, 2)), "i64")
    return Completed([spec, indices], {"axis": axis}, {1: f"index:{spec.shape[axis]}"})


def quantised(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    """Conversions of quantised tensors, with one scale, one for each index of an axis, or one for each block of it."""
    x, scale, zero = known
    real = next((each.dtype for each in (known[0] if op == "quantize" else None, scale) if each), None)
    whole = next((each.dtype for each in (known[0] if op == "dequantize" else None, zero) if each), None)
    real, whole = real or choose.element(ops.FLOATS), whole or choose.element(("i8", "ui8", "i16", "i32"))
    x = x or TensorSpec(taste.shape, real if op == "quantize" else whole)
    properties: dict[str, Any] = {}
    shape: tuple[int, ...] = ()
    if x.rank and choose.integer(0, 1):
        axis = ops.any_axis(choose, x.rank)
        shape, properties["axis"] = (x.shape[axis],), axis
        if rarely(choose, 3):
            place = axis % x.rank
            shape = (*x.shape[:place], -(-x.shape[place] // 2), *x.shape[place + 1 :])
            properties["block_size"] = 2
    completed = [x, scale or TensorSpec(shape, real), zero or TensorSpec(shape, whole)]
    return Completed(completed, properties, {1: "positive"})


def requantised(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    """Sums or floats as integers, with one multiplier or one for each index of an axis."""
    x, multiplier, zero = known
    real = multiplier.dtype if multiplier else x.dtype if x and x.dtype in ops.FLOATS else choose.element(ops.FLOATS)
    x = x or TensorSpec(taste.shape, choose.element(("i32", real)))
    properties: dict[str, Any] = {}
    if x.rank and (multiplier.rank if multiplier else choose.integer(0, 1)):
        properties["axis"] = ops.any_axis(choose, x.rank)
    shape = (x.shape[properties["axis"]],) if properties else ()
    zero = zero or TensorSpec((), choose.element(("i8", "ui8", "i16")))
    return Completed([x, multiplier or TensorSpec(shape, real), zero], properties)


COMPLETIONS: Final[dict[str, Completion]] = {
    **dict.fromkeys(ops.UNARY, unary),
    **dict.fromkeys(ops.BINARY, binary),
    **dict.fromkeys(ops.REDUCTIONS, reduction),
    **dict.fromkeys(("batch_norm", "instance_norm", "group_norm", "bias_add"), norm),
    **dict.fromkeys(("layer_norm", "l2_normalize", "rms_norm"), axes_norm),
    **dict.fromkeys(("max_pool2d", "avg_pool2d"), pool),
    "matmul": matmul,
    "conv2d": conv2d,
    "dropout": dropout,
    "quantize": quantised,
    "dequantize": quantised,
    "requantize": requantised,
    "permute_dims": permute_dims,
    "reshape": reshape,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "broadcast_to": broadcast_to,
    "concat": concat,
    "split": split,
    "strided_slice": strided_slice,
    "pad": pad,
    "take": take,
}
"""The ways to complete the graph ops, by name without `graph.`. Other packages may add theirs under the full name."""


def completion(name: str) -> Completion:
    """Returns the completion of an op. One that nothing is known about gets operands of one type and no properties."""
    short = name.removeprefix("graph.") if name.startswith("graph.") else name
    return COMPLETIONS.get(short, COMPLETIONS.get(name, same_types))


def same_types(choose: Chooser, op: str, known: Known, taste: Taste) -> Completed:
    spec = next((each for each in known if each is not None), taste.spec)
    return Completed([each or spec for each in known])


ARITIES: Final[Mapping[str, int]] = {
    "where": 3,
    "ewise_fma": 3,
    "batch_norm": 5,
    "rms_norm": 2,
    "take": 2,
} | {
    **dict.fromkeys(("layer_norm", "instance_norm", "group_norm", "quantize", "dequantize", "requantize"), 3),
    **dict.fromkeys(("matmul", "conv2d", "bias_add"), 2),
}


def arity(name: str) -> int:
    """Returns how many operands an op is given where the pattern says nothing."""
    short = name.removeprefix("graph.")
    return ARITIES.get(short, 2 if short in ops.BINARY or short == "concat" else 1)


def any_op(choose: Chooser) -> str:
    """The name of any graph op."""
    return f"graph.{choose.element(sorted(COMPLETIONS))}"


__all__ = ["COMPLETIONS", "any_op", "arity", "completion"]
