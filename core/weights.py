"""
Side-car files for weights: the safetensors format, mapped into memory without a copy.

Layout of a file: 8 bytes, the length N of the header (little endian); N bytes of JSON, the header, padded with spaces;
then the data. The header maps each key to `{"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}`, offsets
counted from the start of the data; `__metadata__` maps strings to strings.

Source: the safetensors format, <https://github.com/huggingface/safetensors#format>.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from math import prod
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn

from ..te.dtypes import TABLE, numpy_dtype, of_numpy
from .messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from .messages.files import reason_of
from .messages.texts import IS_A_DIRECTORY
from .roles import BUFFER_ALIGNMENT

if TYPE_CHECKING:
    import numpy as np

LARGEST_HEADER: Final = 100_000_000
"""Most bytes of a header, the limit of the format."""

METADATA_KEY: Final = "__metadata__"
HASH_KEY: Final = "stepwell.sha256"
"""Key of the metadata under which `write_weights` keeps the SHA-256 of the data."""

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

REPLACE_WHOLE: Final = "write a new file and rename it over the old one, as a program keeps the old one mapped"

_FORMAT_NAMES: Final = {name: format_name for format_name, name in DTYPES.items()}


class WeightsError(StepwellError):
    """A side-car that cannot be read, or does not hold what a program expects."""


def _fail(path: Path, message: str, hint: str | None = None) -> NoReturn:
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


@dataclass
class WeightFile:
    """An open side-car. Nothing of the data is read before `array`."""

    path: Path
    entries: dict[str, WeightEntry]
    metadata: dict[str, str]
    data_start: int
    """Bytes before the data."""
    _bytes: np.ndarray[Any, Any] | None = field(default=None, repr=False)

    def keys(self) -> list[str]:
        """Every key, in the order of the header."""
        return list(self.entries)

    def __contains__(self, key: object) -> bool:
        return key in self.entries

    def entry(self, key: str) -> WeightEntry:
        """Returns type and place of a tensor. Raises `WeightsError` for a key that the file lacks."""
        found = self.entries.get(key)
        if found is None:
            hint = did_you_mean(key, self.entries) or _some_keys(self.keys())
            _fail(self.path, f"there is no tensor '{key}'", hint)
        return found

    def require(self, key: str, dtype: str, shape: tuple[int, ...]) -> WeightEntry:
        """Returns the entry of `key`. Raises `WeightsError` unless it has this element type and shape."""
        found = self.entry(key)
        if (found.dtype, found.shape) != (dtype, shape):
            _fail(self.path, f"tensor '{key}' is {found}, expected {WeightEntry(dtype, shape, 0, 0)}")
        return found

    def array(self, key: str) -> np.ndarray[Any, Any]:
        """The tensor as a read-only view of the mapped file."""
        import numpy as np

        found = self.entry(key)
        if found.dtype not in _FORMAT_NAMES:
            known = ", ".join(DTYPES)
            _fail(self.path, f"tensor '{key}' has element type {found.dtype}", f"known are {known}")
        mapped = self._mapped()
        if found.end > mapped.size:
            _fail(
                self.path,
                f"tensor '{key}' ends at byte {found.end}, but the file has {mapped.size} now: it has been cut",
                REPLACE_WHOLE,
            )
        data = mapped[found.begin : found.end]
        if found.dtype == "i1" and data.size and int(data.max()) > 1:
            _fail(self.path, f"tensor '{key}' of type BOOL holds a byte {int(data.max())}, expected 0 or 1")
        # A view of a memmap is a memmap, which costs more at every use; a plain array keeps the mapping alive as well.
        return np.asarray(data).view(numpy_dtype(found.dtype)).reshape(found.shape)

    def _mapped(self) -> np.ndarray[Any, Any]:
        if self._bytes is None:
            import numpy as np

            self._bytes = np.asarray(np.memmap(self.path, np.uint8, mode="r"))
        return self._bytes

    def data_hash(self) -> str:
        """Returns the SHA-256 of the data, in hexadecimal. It reads the whole file."""
        with open(self.path, "rb") as file:
            file.seek(self.data_start)
            digest = sha256()
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        return digest.hexdigest()

    def verify(self) -> None:
        """Raises `WeightsError` unless the data has the hash that the file was written with."""
        wanted = self.metadata.get(HASH_KEY)
        if wanted is None:
            _fail(self.path, "there is no hash to verify", f"'{HASH_KEY}' in its metadata would hold it")
        found = self.data_hash()
        if found != wanted:
            _fail(self.path, f"the data has the hash {found[:16]}…, expected {wanted[:16]}…: the file is damaged")


def _some_keys(keys: list[str]) -> str:
    if not keys:
        return "it holds no tensors"
    shown = ", ".join(f"'{key}'" for key in keys[:5])
    return f"it holds {shown}" + (f" and {len(keys) - 5} more" if len(keys) > 5 else "")


# Reading


def open_weights(path: str | Path) -> WeightFile:
    """
    Reads the header of a safetensors file and checks it all.

    Every tensor must lie within the file, be as long as its type says, and overlap no other. Bytes that belong to no
    tensor are tolerated. Raises `WeightsError`.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            file_size = os.fstat(file.fileno()).st_size
            header, data_start = _read_header(path, file, file_size)
    except IsADirectoryError:
        _fail(path, IS_A_DIRECTORY)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        _fail(path, reason_of(error))
    return _weight_file(path, header, data_start, file_size)


def weights_in(path: str | Path, data: memoryview) -> WeightFile:
    """
    Returns the tensors of a safetensors file that lies in memory. `path` is what messages call it.

    The arrays are views of `data`. Raises `WeightsError` as `open_weights` does.
    """
    import numpy as np

    path = Path(path)
    header, data_start = _read_header(path, _Reader(data), len(data))
    found = _weight_file(path, header, data_start, len(data))
    found._bytes = np.frombuffer(data, np.uint8)
    return found


class _Reader:
    """Reads memory as a file is read."""

    def __init__(self, data: memoryview):
        self._data = data
        self._at = 0

    def read(self, count: int) -> bytes:
        self._at += count
        return bytes(self._data[self._at - count : self._at])


def _weight_file(path: Path, header: dict[str, Any], data_start: int, file_size: int) -> WeightFile:
    metadata = _metadata(path, header.pop(METADATA_KEY, {}))
    entries = {key: _entry(path, key, value, data_start, file_size) for key, value in header.items()}
    _reject_overlaps(path, entries)
    return WeightFile(path, entries, metadata, data_start)


def _read_header(path: Path, file: IO[bytes] | _Reader, file_size: int) -> tuple[dict[str, Any], int]:
    prefix = file.read(8)
    if len(prefix) < 8:
        _fail(path, f"it has {len(prefix)} bytes, expected a safetensors file of at least 10")
    length = int.from_bytes(prefix, "little")
    if length > LARGEST_HEADER or 8 + length > file_size:
        _fail(path, f"its header claims {length} bytes but the file has {file_size}: not a safetensors file")
    text = file.read(length)
    if not text.startswith(b"{"):
        _fail(path, "its header does not begin with '{': not a safetensors file")
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        _fail(path, f"its header is not valid JSON: {error}")
    return header, 8 + length


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"key '{repeated}' is repeated")
    return result


def _metadata(path: Path, value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        _fail(path, f"{METADATA_KEY} is not a map from strings to strings")
    return value


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _entry(path: Path, key: str, value: Any, data_start: int, file_size: int) -> WeightEntry:
    fields = value if isinstance(value, dict) else {}
    dtype, shape, offsets = fields.get("dtype"), fields.get("shape"), fields.get("data_offsets")
    if not isinstance(dtype, str):
        _fail(path, f"tensor '{key}' has no dtype")
    if not isinstance(shape, list) or not all(map(_is_size, shape)):
        _fail(path, f"tensor '{key}' has shape {shape}, expected a list of extents")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_size, offsets)):
        _fail(path, f"tensor '{key}' has data_offsets {offsets}, expected a begin and an end")
    begin, end = (data_start + offset for offset in offsets)
    if end < begin or end > file_size:
        _fail(
            path,
            f"tensor '{key}' lies at bytes {offsets[0]} to {offsets[1]}, but the data has {file_size - data_start}",
        )
    name = DTYPES.get(dtype, dtype)
    element_bytes = TABLE[name].storage_bytes if dtype in DTYPES else None
    if element_bytes is not None and end - begin != prod(shape) * element_bytes:
        _fail(
            path,
            f"tensor '{key}' takes {end - begin} bytes, expected {prod(shape) * element_bytes} for "
            f"{'x'.join(map(str, [*shape, name]))}",
        )
    return WeightEntry(name, tuple(shape), begin, end)


def _reject_overlaps(path: Path, entries: Mapping[str, WeightEntry]) -> None:
    placed = sorted((entry.begin, entry.end, key) for key, entry in entries.items() if entry.end > entry.begin)
    for (_, end, key), (begin, _, other) in zip(placed, placed[1:], strict=False):
        if begin < end:
            _fail(path, f"tensors '{key}' and '{other}' overlap")


# Writing


@dataclass(frozen=True)
class RawTensor:
    """Elements as they lie in memory: row-major, little endian, an i1 a byte 0 or 1."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | memoryview


def raw_tensor(array: Any) -> RawTensor:
    """The elements of a NumPy array, without a copy where it is contiguous."""
    import numpy as np

    dtype = of_numpy(array.dtype.name)
    if dtype not in _FORMAT_NAMES:
        raise TypeError(f"array has dtype {array.dtype.name}, expected one of {', '.join(_FORMAT_NAMES)}")
    flat = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).reshape(-1)
    data = memoryview(flat.view(np.uint8))  # pyright: ignore[reportArgumentType]
    return RawTensor(dtype, tuple(array.shape), data)


def weight_pieces(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> list[bytes | memoryview]:
    """
    Returns what a safetensors file of NumPy arrays or `RawTensor`s by key consists of, its header first.

    The data starts at a multiple of 64 bytes. Tensors whose size is a multiple of that come first, so that all of those
    are aligned too, then the others by falling element size: the format has no gaps.
    """
    raw = _in_order(tensors)
    data = [tensor.data for tensor in raw.values()]
    return [_header(raw, metadata, _hash_of(data)), *data]


def _in_order(tensors: Mapping[str, Any]) -> dict[str, RawTensor]:
    """Returns the tensors in the order of a file. Raises ValueError for one that cannot be in a file."""
    raw = {key: value if isinstance(value, RawTensor) else raw_tensor(value) for key, value in tensors.items()}
    for key, tensor in raw.items():
        expected = prod(tensor.shape) * TABLE[tensor.dtype].storage_bytes
        if len(tensor.data) != expected:
            raise ValueError(f"tensor '{key}' has {len(tensor.data)} bytes, expected {expected}")
        if key == METADATA_KEY:
            raise ValueError(f"'{METADATA_KEY}' cannot be the key of a tensor")
    return {key: raw[key] for key in sorted(raw, key=lambda key: _place(raw[key]))}


def write_weights(path: str | Path, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> None:
    """Writes a safetensors file, as `weight_pieces` gives it. A reader sees the old file or the new one."""
    raw = _in_order(tensors)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            _write(file, raw, metadata)
        os.replace(temporary, target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        _fail(Path(path), f"cannot write it: {reason_of(error)}")
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write(file: IO[bytes], raw: Mapping[str, RawTensor], metadata: Mapping[str, str] | None) -> None:
    """Writes tensors in this order. Another thread has the hash by the time they are written, and it goes in last."""
    data = [tensor.data for tensor in raw.values()]
    found: list[str] = []
    hashing = Thread(target=lambda: found.append(_hash_of(data)))
    hashing.start()
    file.write(_header(raw, metadata, _hash_of([])))  # as long as the one with the hash
    file.writelines(data)
    hashing.join()
    file.seek(0)
    file.write(_header(raw, metadata, found[0]))


def _place(tensor: RawTensor) -> tuple[bool, int]:
    return len(tensor.data) % BUFFER_ALIGNMENT != 0, -TABLE[tensor.dtype].storage_bytes


def _hash_of(pieces: Iterable[bytes | memoryview]) -> str:
    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _header(raw: Mapping[str, RawTensor], metadata: Mapping[str, str] | None, data_hash: str) -> bytes:
    """Length and header, padded with spaces so that the data after it is aligned."""
    header: dict[str, Any] = {METADATA_KEY: {**(metadata or {}), HASH_KEY: data_hash}}
    offset = 0
    for key, tensor in raw.items():
        header[key] = {
            "dtype": _FORMAT_NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(tensor.data)],
        }
        offset += len(tensor.data)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-(8 + len(text)) % BUFFER_ALIGNMENT)
    return len(text).to_bytes(8, "little") + text
