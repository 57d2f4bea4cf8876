"""
The header of a safetensors file: read, and all of it checked.

Source: the safetensors format, <https://github.com/huggingface/safetensors#format>.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import IO, Any, Final, NoReturn

from ..lazy_dataclass import dataclass
from ..te.dtypes import SMALL_INTEGERS, TABLE
from .messages.diagnostics import Diagnostic, StepwellError
from .packing import file_bytes

LARGEST_HEADER: Final = 100_000_000
"""Most bytes of a header, the limit of the format."""

METADATA_KEY: Final = "__metadata__"

DTYPES: Final[dict[str, str]] = {
    "F64": "f64",
    "F32": "f32",
    "F16": "f16",
    "BF16": "bf16",
    "F8_E4M3": "f8E4M3FN",
    "F8_E5M2": "f8E5M2",
    "I64": "i64",
    "I32": "i32",
    "I16": "i16",
    "I8": "i8",
    "U64": "ui64",
    "U32": "ui32",
    "U16": "ui16",
    "U8": "ui8",
    "BOOL": "i1",
}
"""The element type in the IR of each element type of the format that we know."""


TYPE_KEY: Final = "stepwell.type."
"""
What keys of the metadata begin with that tell the type of a tensor of small integers, `4096x4096xi4`. The rest of such
a key is that of the tensor, which the header has as a vector of U8.
"""


class WeightsError(StepwellError):
    """A side-car that cannot be read, or does not hold what a program expects."""


def fail(path: Path, message: str, hint: str | None = None) -> NoReturn:
    """Raises the error of a weights file."""
    raise WeightsError(Diagnostic(f"weights file '{path}': {message}", hint=hint))


@dataclass(frozen=True)
class WeightEntry:
    """
    One tensor of a file: element type by its name in the IR, extents, and place in bytes from the start of the file.
    """

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    def __str__(self) -> str:
        return f"tensor<{'x'.join([*map(str, self.shape), self.dtype])}>"


class Reader:
    """Reads memory as a file is read."""

    def __init__(self, data: memoryview):
        self._data = data
        self._at = 0

    def read(self, count: int) -> bytes:
        self._at += count
        return bytes(self._data[self._at - count : self._at])


_OTHERS = {
    **{b"\x80" + bytes([protocol]): "a pickle" for protocol in range(2, 6)},
    b"PK\x03\x04": "a zip file, as torch.save and numpy.savez write",
    b"\x93NUMPY": "a .npy file",
    b"\x89HDF": "an HDF5 file",
    b"GGUF": "a GGUF file",
}
"""What else people keep weights in, by its first bytes. A short header may begin in the same way."""


def read_header(path: Path, file: IO[bytes] | Reader, file_size: int) -> tuple[dict[str, Any], int]:
    prefix = file.read(8)
    if len(prefix) < 8:
        fail(path, f"it has {len(prefix)} bytes, expected a safetensors file of at least 10")
    length = int.from_bytes(prefix, "little")
    if length > LARGEST_HEADER or 8 + length > file_size:
        if (other := next((name for start, name in _OTHERS.items() if prefix.startswith(start)), None)) is not None:
            fail(path, f"it is {other}, expected a safetensors file", "safetensors.numpy.save_file writes one")
        fail(path, f"its header claims {length} bytes but the file has {file_size}: not a safetensors file")
    text = file.read(length)
    if not text.startswith(b"{"):
        fail(path, "its header does not begin with '{': not a safetensors file")
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        fail(path, f"its header is not valid JSON: {error}")
    return header, 8 + length


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"key '{repeated}' is repeated")
    return result


def metadata_of(path: Path, value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        fail(path, f"{METADATA_KEY} is not a map from strings to strings")
    return value


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def entry_of(path: Path, key: str, value: Any, data_start: int, file_size: int) -> WeightEntry:
    fields = value if isinstance(value, dict) else {}
    dtype, shape, offsets = fields.get("dtype"), fields.get("shape"), fields.get("data_offsets")
    if not isinstance(dtype, str):
        fail(path, f"tensor '{key}' has no dtype")
    if not isinstance(shape, list) or not all(map(_is_size, shape)):
        fail(path, f"tensor '{key}' has shape {shape}, expected a list of extents")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_size, offsets)):
        fail(path, f"tensor '{key}' has data_offsets {offsets}, expected a begin and an end")
    begin, end = (data_start + offset for offset in offsets)
    if end < begin or end > file_size:
        fail(
            path,
            f"tensor '{key}' lies at bytes {offsets[0]} to {offsets[1]}, but the data has {file_size - data_start}",
        )
    name = DTYPES.get(dtype, dtype)
    element_bytes = TABLE[name].storage_bytes if dtype in DTYPES else None
    if element_bytes is not None and end - begin != prod(shape) * element_bytes:
        fail(
            path,
            f"tensor '{key}' takes {end - begin} bytes, expected {prod(shape) * element_bytes} for "
            f"{'x'.join(map(str, [*shape, name]))}",
        )
    return WeightEntry(name, tuple(shape), begin, end)


def with_type(path: Path, key: str, entry: WeightEntry, text: str) -> WeightEntry:
    """Returns the entry of bytes that are packed integers, as the metadata `text` says. Raises `WeightsError`."""
    *sizes, dtype = text.split("x")
    if dtype not in SMALL_INTEGERS or not all(size.isascii() and size.isdecimal() for size in sizes):
        known = ", ".join(SMALL_INTEGERS)
        fail(path, f"'{TYPE_KEY}{key}' is '{text}', expected extents and one of {known}, such as 4096x4096xi4")
    shape = tuple(map(int, sizes))
    packed = file_bytes(shape, dtype)
    if (entry.dtype, entry.shape) != ("ui8", (packed,)):
        fail(path, f"tensor '{key}' is {entry}, expected tensor<{packed}xui8>, the bytes of {text}")
    return WeightEntry(dtype, shape, entry.begin, entry.end)


def reject_overlaps(path: Path, entries: Mapping[str, WeightEntry]) -> None:
    placed = sorted((entry.begin, entry.end, key) for key, entry in entries.items() if entry.end > entry.begin)
    for (_, end, key), (begin, _, other) in zip(placed, placed[1:], strict=False):
        if begin < end:
            fail(path, f"tensors '{key}' and '{other}' overlap")
