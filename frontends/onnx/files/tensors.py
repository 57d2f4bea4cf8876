"""Checks that the tensors of a model hold what their types and shapes say."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ....core.mapped import map_file, stamp_of
from ....core.messages.files import reason_of
from ....core.packing import file_bytes, unpack
from ....te import dtypes
from ..errors import fail
from ..types import DTYPES, FIELDS, small_bytes, type_text
from .model import Model, all_nodes

if TYPE_CHECKING:
    from onnx import GraphProto, TensorProto

IN_MEMORY: Final = "<model>"
"""The name of a model that comes from no file."""

LEAST_MAPPED: Final = 1 << 20
"""Bytes of a file that is worth a mapping. A smaller one is read, so that it may be written anew at any time."""

LARGEST_EXTENT: Final = 1 << 40

LARGEST_SIZE: Final = 1 << 60
"""The most elements of a tensor. Its size in bytes is an i64."""

MOST_DIGITS: Final = 18
"""The most digits of an offset or length of external data, which is an i64."""


def check_tensor(model: Model, tensor: TensorProto, what: str, raw: np.ndarray[Any, Any] | None = None) -> None:
    """
    Fails unless a tensor holds as many elements as its shape says, where its element type has them.

    `raw` are its bytes where they have stayed in the file of the model.
    """
    if tensor.data_type not in DTYPES:
        fail(model.name, f"{what} has element type {type_text(tensor.data_type)}, which is not supported")
    check_extents(model.name, what, tensor.dims)
    dtype = DTYPES[tensor.data_type]
    count = prod(tensor.dims)
    expected = file_bytes(tensor.dims, dtype)
    text = f"{'x'.join(map(str, tensor.dims))}{'x' if tensor.dims else ''}{dtype}"
    if tensor.data_location == tensor.EXTERNAL:
        _check_external(model, tensor, what, expected, text)
    elif raw is not None or tensor.HasField("raw_data"):
        held = len(tensor.raw_data if raw is None else raw)
        if held != expected:
            fail(model.name, f"{what} holds {held} bytes, expected {expected} for {text}")
    else:
        found = len(getattr(tensor, FIELDS[dtype]))
        if dtypes.is_small_integer(dtype):
            if found != expected:
                fail(model.name, f"{what} holds {found} bytes in {FIELDS[dtype]}, expected {expected} for {text}")
        elif found != count:
            fail(model.name, f"{what} holds {found} elements in {FIELDS[dtype]}, expected {count} for {text}")


def check_extents(model: str, what: str, extents: Iterable[int | None]) -> None:
    """
    Fails for an extent that cannot be, and for more elements than memory can have.

    An extent that is not known is `None`.
    """
    known: list[int] = []
    for number, extent in enumerate(extents):
        if extent is None:
            continue
        if not 0 <= extent < LARGEST_EXTENT:
            fail(model, f"{what} has extent {extent} in dimension {number}, expected 0 to 2^40")
        known.append(extent)
    if prod(known) > LARGEST_SIZE:
        fail(model, f"{what} has {'x'.join(map(str, known))} elements, expected at most 2^60")


def _check_external(model: Model, tensor: TensorProto, what: str, expected: int, text: str) -> None:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    inside = Path(location)
    if not location or "\0" in location or inside.is_absolute() or ".." in inside.parts:
        fail(model.name, f"{what} is in the file {location!r}, expected a path inside the folder of the model")
    path = Path(model.folder) / inside
    try:
        size = path.stat().st_size
    except OSError as error:
        beside = "external data belongs beside the model"
        missing = isinstance(error, FileNotFoundError)
        why = "which is missing" if missing else f"which cannot be read: {(error.strerror or '').lower()}"
        hint = beside if model.name != IN_MEMORY else "give the path of the model"
        fail(model.name, f"{what} is in the file '{location}', {why}", hint)
    if (stamp := stamp_of(path)) is not None:
        model.stamps.setdefault(path, stamp)
    if path.is_symlink() or not path.is_file():
        kind = "a symbolic link" if path.is_symlink() else "no regular file"
        fail(model.name, f"{what} is in '{location}', which is {kind}, expected a file")
    if not path.resolve().is_relative_to(Path(model.folder).resolve()):
        fail(model.name, f"{what} is in the file {location!r}, which a link leads out of the folder of the model")
    offset, length = entries.get("offset", "0"), entries.get("length", str(expected))
    if not all(word.isascii() and word.isdecimal() and len(word) <= MOST_DIGITS for word in (offset, length)):
        shown = f"offset '{offset[:40]}' with length '{length[:40]}'"
        fail(model.name, f"{what} lies at {shown}, expected numbers of bytes")
    if int(length) != expected:
        fail(model.name, f"{what} holds {length} bytes, expected {expected} for {text}")
    if int(offset) + int(length) > size:
        fail(model.name, f"{what} ends at byte {int(offset) + int(length)} of '{location}', which has {size}")


def stored_array(model: Model, tensor: TensorProto, raw: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
    """
    Returns the elements of an initialiser that has been checked, without a copy where they are in a file as they are in
    memory. `raw` are its bytes where they have stayed in the file of the model.
    """
    from onnx import numpy_helper

    dtype = DTYPES[tensor.data_type]
    if dtypes.is_small_integer(dtype):
        return unpack(stored_bytes(model, tensor, raw), dtype, tensor.dims)
    if raw is None and tensor.data_location == tensor.EXTERNAL:
        raw = _external_bytes(model, tensor)
    if raw is None:
        return numpy_helper.to_array(tensor)
    if dtype == "i1" and raw.size and raw.max() > 1:
        return (raw != 0).reshape(tensor.dims)
    return raw.view(dtypes.numpy_dtype(dtype)).reshape(tensor.dims)


def stored_bytes(model: Model, tensor: TensorProto, raw: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
    """Returns the bytes of an initialiser of small integers that has been checked, as `stored_array` its elements."""
    if raw is not None:
        return raw
    if tensor.data_location == tensor.EXTERNAL:
        return _external_bytes(model, tensor)
    return small_bytes(tensor)


def _external_bytes(model: Model, tensor: TensorProto) -> np.ndarray[Any, Any]:
    """Returns the bytes of a tensor in a file of its own, which has been checked."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    path = Path(model.folder) / entries["location"]
    length = file_bytes(tensor.dims, DTYPES[tensor.data_type])
    offset = int(entries.get("offset", "0"))
    model.check_unchanged(path)
    try:
        if path.stat().st_size >= LEAST_MAPPED:
            found = map_file(path).bytes()[offset : offset + length]
        else:
            found = np.frombuffer(path.read_bytes()[offset : offset + length], np.uint8)
    except OSError as error:
        fail(model.name, f"'{entries['location']}', which holds '{tensor.name}': {reason_of(error)}")
    if found.size != length:
        fail(model.name, f"'{entries['location']}', which holds '{tensor.name}', has been cut")
    return found


def check_attribute_tensors(model: Model, graph: GraphProto) -> None:
    """Checks the tensors in attributes, and reads their data from other files."""
    from onnx import external_data_helper

    for node in all_nodes(graph):
        for attribute in node.attribute:
            held = [attribute.t] if attribute.HasField("t") else []
            for tensor in [*held, *attribute.tensors]:
                if tensor.data_type not in DTYPES:
                    continue  # the converter may do without it
                where = f" of node '{node.name}'" if node.name else ""
                check_tensor(model, tensor, f"attribute '{attribute.name}'{where} ({node.op_type})")
                if tensor.data_location == tensor.EXTERNAL:
                    external_data_helper.load_external_data_for_tensor(tensor, model.folder)
                    tensor.data_location = tensor.DEFAULT
