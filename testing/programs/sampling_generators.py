"""One random instance of an op that takes elements from between those of a grid."""

from __future__ import annotations

from typing import Final

from .ir_generators import Chooser, OpCase, TensorSpec, rarely
from .op_generators import FLOATS, SIGNED, Generator, any_axis, any_dtype, any_shape, case


def _weights_dtype(choose: Chooser, dtype: str) -> str:
    return dtype if rarely(choose, 2) else any_dtype(choose, FLOATS)


def resample(choose: Chooser, op: str) -> OpCase:
    spec = TensorSpec(any_shape(choose, 1, 3, empty=False), any_dtype(choose, FLOATS))
    axis = any_axis(choose, spec.rank)
    places = (choose.integer(0 if rarely(choose) else 1, 6), choose.integer(0 if rarely(choose) else 1, 6))
    indices = TensorSpec(places, any_dtype(choose, SIGNED))
    weights = TensorSpec(places, _weights_dtype(choose, spec.dtype))
    flavours = ["moderate", "small", "finite"]
    return case(choose, op, [spec, indices, weights], flavours, axis=axis)


def sample(choose: Chooser, op: str) -> OpCase:
    rank = choose.integer(1, 3)
    spec = TensorSpec(any_shape(choose, rank + 2, rank + 2, empty=False), any_dtype(choose, FLOATS))
    places = any_shape(choose, 0, 2)
    points = TensorSpec((spec.shape[0], *places, rank), _weights_dtype(choose, spec.dtype))
    exact = rarely(choose, 2)
    return case(
        choose,
        op,
        [spec, points],
        ["moderate", "small"] if exact else ["finite", "finite"],
        mode=choose.element((None, "nearest", "linear", "cubic")),
        padding=choose.element((None, "zeros", "edge", "reflect", "symmetric")),
    )


def pool_regions(choose: Chooser, op: str) -> OpCase:
    dtype = any_dtype(choose, ("f32", "f64"))
    images, height, width, channels = any_shape(choose, 4, 4, empty=False)
    regions, tall, wide = any_shape(choose, 3, 3, empty=False)
    operands = [
        TensorSpec((images, height, width, channels), dtype),
        TensorSpec((regions,), any_dtype(choose, ("i64", "i32", "ui8"))),
        TensorSpec((regions, tall, height), dtype),
        TensorSpec((regions, wide, width), dtype),
    ]
    reduction = choose.element((None, "sum", "max"))
    return case(choose, op, operands, ["small", f"index:{images}", "small", "small"], reduction=reduction)


SAMPLING: Final[dict[str, Generator]] = {"resample": resample, "sample": sample, "pool_regions": pool_regions}
