"""Features and linear models of ai.onnx.ml: operators of classic machine learning on rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ....te.dtypes import numpy_dtype
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value

DOMAIN: Final = "ai.onnx.ml"

Floats = tuple[float, ...] | None
Ints = tuple[int, ...] | None


def as_floats(b: GraphBuilder, x: Value) -> Value:
    """Casts integers to f32. Floats stay as they are."""
    return x if x.dtype in ("f32", "f64") else b.astype(x, dtype="f32")


def like(x: Value, numbers: Any) -> np.ndarray[Any, Any]:
    """Numbers of the element type of `x`."""
    return np.array(numbers, numpy_dtype(x.dtype))


@converter("Scaler", domain=DOMAIN)
def scaler(b: GraphBuilder, x: Value, *, offset: Floats = None, scale: Floats = None) -> Value:
    """`(x - offset) * scale` of f32, column by column."""
    x = b.astype(x, dtype="f32") if x.dtype != "f32" else x
    for what, numbers in (("offset", offset), ("scale", scale)):
        if numbers is not None and len(numbers) not in (1, x.shape[-1]):
            raise ConversionError(f"{what} has {len(numbers)} entries, expected one for each column of {x.shaped}")
    moved = x if offset is None else b.subtract(x, like(x, offset))
    return moved if scale is None else b.multiply(moved, like(x, scale))


@converter("Normalizer", domain=DOMAIN)
def normalizer(b: GraphBuilder, x: Value, *, norm: str = "MAX") -> Value:
    """
    Divides each row by its largest magnitude, the sum of magnitudes, or the root of the sum of squares. Rows of zeros
    stay.
    """
    x = b.astype(x, dtype="f32") if x.dtype != "f32" else x
    match norm:
        case "MAX":
            length = b.max(b.abs(x), axis=(-1,), keepdims=True)
        case "L1":
            length = b.sum(b.abs(x), axis=(-1,), keepdims=True)
        case "L2":
            length = b.sqrt(b.sum(b.square(x), axis=(-1,), keepdims=True))
        case _:
            raise ConversionError(f"norm is '{norm}', expected MAX, L1 or L2")
    return b.divide(x, b.maximum(length, 1e-30))


@converter("Imputer", domain=DOMAIN)
def imputer(
    b: GraphBuilder,
    x: Value,
    *,
    imputed_value_floats: Floats = None,
    imputed_value_int64s: Ints = None,
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> Value:
    """Elements that are `replaced_value`, which may be NaN, become that of their column."""
    floats = x.dtype.startswith("f")
    values = imputed_value_floats if floats else imputed_value_int64s
    if not values or len(values) not in (1, x.shape[-1]):
        raise ConversionError(
            f"there are {len(values or ())} values, expected one, or one for each column of {x.shaped}"
        )
    replaced = replaced_value_float if floats else replaced_value_int64
    missing = b.isnan(x) if replaced != replaced else b.equal(x, like(x, replaced))
    return b.where(missing, like(x, values), x)


@converter("FeatureVectorizer", domain=DOMAIN)
def feature_vectorizer(b: GraphBuilder, *xs: Value, inputdimensions: Ints = None) -> Value:
    """
    Columns side by side, of each input as many as `inputdimensions` says: the rest is cut off, or filled up with zeros.
    """
    if inputdimensions is None or len(inputdimensions) != len(xs):
        raise ConversionError(f"inputdimensions is {inputdimensions}, expected {len(xs)} entries")
    parts: list[Value] = []
    for x, width in zip(xs, inputdimensions, strict=True):
        rows = as_floats(b, b.reshape(x, shape=(-1, 1)) if x.rank == 1 else x)
        found = b.extent(rows, 1, "an input")
        if width < found:
            rows = b.strided_slice(rows, axes=(1,), begin=(0,), end=(width,))
        elif width > found:
            rows = b.pad(rows, pad_width=(0, 0, 0, width - found))
        parts.append(rows if rows.dtype == "f32" else b.astype(rows, dtype="f32"))
    return parts[0] if len(parts) == 1 else b.concat(*parts, axis=1)


@converter("OneHotEncoder", domain=DOMAIN)
def one_hot_encoder(
    b: GraphBuilder, x: Value, *, cats_int64s: Ints = None, cats_strings: Any = None, zeros: int = 1
) -> Value:
    """Returns 1 along a new last dimension for the category that an element is, and zeros where it is none."""
    if not cats_int64s:
        raise ConversionError("the categories are strings, expected cats_int64s")
    if not zeros:
        hint = "with zeros = 1 the row of an element that is no category is zero"
        raise ConversionError("zeros is 0: an element that is no category is an error, which is not supported", hint)
    hits = b.equal(b.expand_dims(x, axis=(x.rank,)), like(x, cats_int64s))
    return b.astype(hits, dtype="f32")


@converter("LabelEncoder", domain=DOMAIN, since=2)
def label_encoder(
    b: GraphBuilder,
    x: Value,
    *,
    keys_int64s: Ints = None,
    keys_floats: Floats = None,
    keys_strings: Any = None,
    keys_tensor: Any = None,
    values_int64s: Ints = None,
    values_floats: Floats = None,
    values_strings: Any = None,
    values_tensor: Any = None,
    default_int64: int = -1,
    default_float: float = -0.0,
    default_string: Any = None,
    default_tensor: Any = None,
) -> Value:
    """
    Returns the value whose key an element is, else the default.

    Of keys that are equal the last one counts. NaN is a key as well.
    """
    if keys_strings or values_strings:
        raise ConversionError("keys or values are strings, expected numbers")
    keys = next((np.asarray(each) for each in (keys_int64s, keys_floats, keys_tensor) if each is not None), None)
    if values_tensor is not None:
        values, default = (
            np.asarray(values_tensor),
            np.asarray(0 if default_tensor is None else default_tensor),
        )
    elif values_int64s is not None:
        values, default = np.array(values_int64s, np.int64), np.asarray(default_int64)
    else:
        values, default = np.array(values_floats or (), np.float32), np.asarray(default_float)
    if keys is None or keys.dtype.kind not in "iuf" or values.dtype.kind not in "iuf" or len(keys) != len(values):
        raise ConversionError(f"there are {0 if keys is None else len(keys)} keys and {len(values)} values")
    table = dict(zip(keys.tolist(), values.tolist(), strict=True))
    known = [key for key in table if key == key]
    own = np.array([table[key] for key in known], values.dtype)
    hits = b.equal(b.expand_dims(x, axis=(x.rank,)), like(x, known))
    result = b.take(b.constant(own), b.argmax(b.astype(hits, dtype="i64"), axis=-1), axis=0)
    fallback = b.constant(default.reshape(()).astype(values.dtype))
    result = b.where(b.any(hits, axis=(-1,)), result, fallback)
    unknown = [value for key, value in zip(keys.tolist(), values, strict=True) if key != key]
    if unknown and x.dtype.startswith("f"):
        result = b.where(b.isnan(x), b.constant(np.asarray(unknown[-1])), result)
    return result


# Linear models


@converter("LinearRegressor", domain=DOMAIN)
def linear_regressor(
    b: GraphBuilder,
    x: Value,
    *,
    coefficients: tuple[float, ...],
    intercepts: Floats = None,
    targets: int = 1,
    post_transform: str = "NONE",
) -> Value:
    """`x @ coefficients^T + intercepts`, of f32."""
    return transformed(b, _scores(b, x, coefficients, intercepts, targets), post_transform)


@converter("LinearClassifier", domain=DOMAIN)
def linear_classifier(
    b: GraphBuilder,
    x: Value,
    *,
    coefficients: tuple[float, ...],
    intercepts: Floats = None,
    classlabels_ints: Ints = None,
    classlabels_strings: Any = None,
    multi_class: int = 0,
    post_transform: str = "NONE",
) -> Any:
    """
    The label of the largest score, and the scores. One line of coefficients for two labels are scores of both signs.
    """
    count = len(classlabels_ints or classlabels_strings or ())
    lines = len(coefficients) // max(b.extent(x, x.rank - 1, "the input"), 1)
    scores = _scores(b, x, coefficients, intercepts, lines)
    if lines == 1 and count == 2:
        scores = b.concat(b.negative(scores), scores, axis=1)
    elif lines != count or count < 2:
        raise ConversionError(
            f"there are {lines} lines of coefficients for {count} labels, expected one for each of several"
        )
    scores = transformed(b, scores, post_transform)
    return labels_of(b, scores, classlabels_ints, count), scores


def _scores(b: GraphBuilder, x: Value, coefficients: Sequence[float], intercepts: Floats, lines: int) -> Value:
    width = b.extent(x, x.rank - 1, "the input")
    if x.rank != 2 or len(coefficients) != lines * width or (intercepts and len(intercepts) != lines):
        counts = f"{len(coefficients)} coefficients and {len(intercepts or ())} intercepts"
        raise ConversionError(f"{counts} do not fit {x.shaped} and {lines} lines")
    table = np.array(coefficients, np.float32).reshape(lines, width).T
    rows = x if x.dtype == "f32" else b.astype(x, dtype="f32")
    product = b.matmul(rows, b.constant(np.ascontiguousarray(table)))
    return b.add(product, b.constant(np.array(intercepts, np.float32))) if intercepts else product


def transformed(b: GraphBuilder, scores: Value, how: str) -> Value:
    """Scores after `post_transform`."""
    match how:
        case "NONE":
            return scores
        case "LOGISTIC":
            return b.sigmoid(scores)
        case "SOFTMAX":
            return b.softmax(scores, axis=-1)
    raise ConversionError(f"post_transform is {how}, expected NONE, LOGISTIC or SOFTMAX")


def labels_of(b: GraphBuilder, scores: Value, labels: Ints, count: int) -> Value:
    """
    Returns the labels of the largest scores. Strings cannot be an output. Where nothing takes them, their numbers are.
    """
    if labels is None and b.wanted[0]:
        raise ConversionError(
            "the labels are strings, expected classlabels_ints",
            hint="leave the first output of the node without a name",
        )
    best = b.argmax(scores, axis=-1)
    return b.take(b.constant(np.array(labels if labels is not None else range(count), np.int64)), best, axis=0)
