"""Bodies of requests and answers: JSON, arrays of NumPy (`.npy`, `.npz`), and plain bytes."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from engines import Array, Tensor
from model import BadInput

JSON, NPY, NPZ, RAW = "application/json", "application/x-npy", "application/x-npz", "application/octet-stream"
TYPES = (JSON, NPY, NPZ, RAW)
NOT_IN_JSON = ("NaN", "Infinity", "-Infinity")
"""The texts that stand for the floats that JSON does not have. Of floats, `null` is NaN too."""
MOST_DIGITS = 19
"""A size with as many digits is none."""


class BadType(ValueError):
    """Raised for a media type that the server does not read, or cannot write these outputs as."""


def read_arrays(body: bytes, headers: Mapping[str, str], inputs: Sequence[Tensor], limit: int) -> list[Array]:
    """
    Returns the inputs in a body, in the order of the model. `limit` bounds the bytes of what is compressed.

    Raises BadInput for a body that cannot be read, BadType for another media type.
    """
    media = media_type(headers.get("content-type", JSON))
    if media == JSON:
        return _ordered(_json_values(body, inputs), inputs)
    if media == NPZ:
        return _ordered(_read_npz(body, limit), inputs)
    if media not in TYPES:
        raise BadType(f"media type '{media}', expected one of {', '.join(TYPES)}")
    if len(inputs) != 1:
        raise BadInput(f"{media} holds one array, and the model takes {len(inputs)}: send {NPZ}")
    return [read_npy(body)] if media == NPY else [_read_raw(body, headers.get("x-shape", ""), inputs[0])]


def write_arrays(media: str, arrays: Sequence[Array], outputs: Sequence[Tensor]) -> tuple[bytes, dict[str, str]]:
    """Returns the body of an answer, and its headers. Raises BadType where one array is not enough."""
    headers = {"content-type": media}
    if media == JSON:
        named = {each.name: _plain(array) for each, array in zip(outputs, arrays, strict=True)}
        return json.dumps({"outputs": named}, allow_nan=False).encode(), headers
    out = io.BytesIO()
    if media == NPZ:
        with zipfile.ZipFile(out, "w") as file:
            for each, array in zip(outputs, arrays, strict=True):
                with file.open(f"{each.name}.npy", "w", force_zip64=True) as part:
                    np.lib.format.write_array(part, array, allow_pickle=False)
        return out.getvalue(), headers
    if len(arrays) != 1:
        raise BadType(f"{media} holds one array, and the model returns {len(arrays)}: accept {NPZ} or {JSON}")
    if media == RAW:
        return arrays[0].tobytes(), {**headers, "x-shape": "x".join(map(str, arrays[0].shape))}
    np.save(out, arrays[0], allow_pickle=False)
    return out.getvalue(), headers


def answer_type(headers: Mapping[str, str], outputs: int) -> str:
    """Returns the media type of the answer: the first accepted one that can be written, else that of the request."""
    for each in headers.get("accept", "").split(","):
        if media_type(each) in TYPES:
            return media_type(each)
    asked = media_type(headers.get("content-type", JSON))
    return NPZ if asked != JSON and outputs != 1 else asked


def media_type(header: str) -> str:
    """Returns the media type of a header without its parameters."""
    return header.partition(";")[0].strip().lower()


def read_npy(body: bytes) -> Array:
    """
    Returns the array in the bytes of a `.npy` file, over the same memory.

    The header is compared with the bytes that are there before anything is allocated. Raises BadInput.
    """
    file = io.BytesIO(body)
    try:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(file)
    except Exception as error:  # Damaged headers raise errors of Python's tokenizer too.
        raise BadInput(f"the body is no .npy file: {error}") from None
    if dtype.hasobject:
        raise BadInput("the array holds Python objects, expected numbers")
    return _over(body, file.tell(), shape, dtype, "F" if fortran else "C")


def _over(body: bytes, start: int, shape: tuple[int, ...], dtype: np.dtype[Any], order: Any = "C") -> Array:
    wanted, found = math.prod(shape) * dtype.itemsize, len(body) - start
    if wanted != found or any(size < 0 for size in shape):
        raise BadInput(f"there are {found} bytes of elements, expected {wanted} for shape {shape} of {dtype}")
    try:
        return np.frombuffer(body, dtype, offset=start).reshape(shape, order=order)
    except (ValueError, OverflowError) as error:
        raise BadInput(f"there is no array of shape {shape} of {dtype}: {error}") from None


def _read_npz(body: bytes, limit: int) -> dict[str, Array]:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as file:
            parts = file.infolist()
            if (size := sum(each.file_size for each in parts)) > limit:
                raise BadInput(f"the arrays have {size} bytes, expected at most {limit}")
            return {each.filename.removesuffix(".npy"): read_npy(_unpacked(file, each)) for each in parts}
    except BadInput:
        raise
    except Exception as error:  # Damaged files raise errors of zlib, struct and others too.
        raise BadInput(f"the body is no .npz file: {error}") from None


def _unpacked(file: zipfile.ZipFile, each: zipfile.ZipInfo) -> bytes:
    """
    Returns the bytes of a part, at most as many as the file says.

    A few bytes may stand for very many, and a file may say less than is there. Only `read` with a size stops in time,
    and only for these two methods.
    """
    if each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BadInput(f"'{each.filename}' is packed by method {each.compress_type}, expected stored or deflated")
    with file.open(each) as part:
        return part.read(each.file_size)


def _read_raw(body: bytes, header: str, each: Tensor) -> Array:
    sizes = header.split("x")
    if not all(size.isascii() and size.isdecimal() and len(size) < MOST_DIGITS for size in sizes):
        raise BadInput(f"the header X-Shape is '{header}', expected sizes as in 2x784")
    return _over(body, 0, tuple(map(int, sizes)), each.dtype)


def _json_values(body: bytes, inputs: Sequence[Tensor]) -> dict[str, Array]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the body is no JSON: {error}") from None
    values = found.get("inputs") if isinstance(found, dict) else None
    if isinstance(values, list) and len(inputs) == 1:
        values = {inputs[0].name: values}
    if not isinstance(values, dict):
        raise BadInput('the body has no inputs, expected {"inputs": {"name": [numbers]}}')
    types = {each.name: each for each in inputs}
    return {name: _numbers(value, types[name]) if name in types else value for name, value in values.items()}


def _numbers(value: Any, each: Tensor) -> Array:
    """Returns lists of numbers as an array. Floats are rounded to the element type, and nothing else changes."""
    floats = each.dtype.kind not in "biu"  # The kind of bfloat16 is V.
    _refuse_others(value, each)  # NumPy would take texts such as "1_0" and truth values for numbers.
    try:
        found = np.asarray(value, np.float64) if floats else np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise BadInput(f"input '{each.name}' holds no numbers, or rows of different lengths, expected {each}") from None
    if floats:
        with np.errstate(over="ignore"):  # What is too large becomes infinite, as rounding says.
            return found.astype(each.dtype)
    kinds = "b" if each.dtype.kind == "b" else "iu"
    if found.size and found.dtype.kind not in kinds:
        raise BadInput(f"input '{each.name}' holds {found.dtype}, expected {each}")
    cast = found.astype(each.dtype)
    if not np.array_equal(cast, found):
        raise BadInput(f"input '{each.name}' holds {found[cast != found].flat[0]}, which {each} does not have")
    return cast


def _refuse_others(value: Any, each: Tensor) -> None:
    """Raises BadInput for texts, truth values and objects that are no elements."""
    allowed = {bool} if each.dtype.kind == "b" else {int, float}
    others = (*NOT_IN_JSON, None) if each.dtype.kind not in "biu" else ()
    pending = [[value]]
    while pending:
        row = pending.pop()
        if allowed.issuperset(map(type, row)):
            continue
        for found in row:
            if isinstance(found, list):
                pending.append(found)
            elif type(found) not in allowed and found not in others:
                raise BadInput(f"input '{each.name}' holds {json.dumps(found)[:100]}, expected {each}")


def _ordered(values: Mapping[str, Array], inputs: Sequence[Tensor]) -> list[Array]:
    names = [each.name for each in inputs]
    if unknown := [name for name in values if name not in names]:
        raise BadInput(f"there is no input '{unknown[0]}', expected {', '.join(names)}")
    if missing := [name for name in names if name not in values]:
        raise BadInput(f"input '{missing[0]}' is missing")
    return [values[name] for name in names]


def _plain(array: Array) -> Any:
    """Returns an array as lists. NaN and infinities, which JSON does not have, become text."""
    if array.dtype.kind in "biu":
        return array.tolist()
    wide = array.astype(np.float64)
    if (finite := np.isfinite(wide)).all():
        return wide.tolist()
    texts = np.where(np.isnan(wide), "NaN", np.where(wide > 0, "Infinity", "-Infinity"))
    return np.where(finite, wide.astype(object), texts).tolist()
