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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn

from ..lazy_dataclass import dataclass
from ..te.dtypes import SMALL_INTEGERS, TABLE, numpy_dtype, of_numpy
from .derived_weights import BYTES, PACKED_SUFFIX, source_key, summed, sums_of
from .mapped import ChangedError, Stamp, map_file, place_of
from .messages.diagnostics import did_you_mean
from .messages.files import new_content, reason_of
from .messages.texts import IS_A_DIRECTORY
from .packing import file_bytes, pack, unpack
from .roles import BUFFER_ALIGNMENT
from .safetensors import (
    DTYPES,
    METADATA_KEY,
    TYPE_KEY,
    Reader,
    WeightEntry,
    entry_of,
    fail,
    metadata_of,
    read_header,
    reject_overlaps,
    with_type,
)
from .safetensors import WeightsError as WeightsError

if TYPE_CHECKING:
    import numpy as np

HASH_KEY: Final = "stepwell.sha256"
"""Key of the metadata under which `write_weights` keeps the SHA-256 of the data."""

REPLACE_WHOLE: Final = "write a new file and rename it over the old one, as a program keeps the old one mapped"

_FORMAT_NAMES: Final = {name: format_name for format_name, name in DTYPES.items()}


@dataclass
class WeightFile:
    """An open side-car. Nothing of the data is read before `array`."""

    path: Path
    entries: dict[str, WeightEntry]
    metadata: dict[str, str]
    data_start: int
    """Bytes before the data."""
    _bytes: np.ndarray[Any, Any] | None = field(default=None, repr=False)
    _elsewhere: Mapping[str, Stamp] = field(default_factory=dict, repr=False)
    """The files of tensors that are in another one."""

    def keys(self) -> list[str]:
        """Every key, in the order of the header."""
        return list(self.entries)

    def __contains__(self, key: object) -> bool:
        return key in self.entries or (isinstance(key, str) and self._derived(key) is not None)

    def _derived(self, key: str) -> WeightEntry | None:
        """Returns the type of what a key names of a tensor, and the place of that tensor (`derived_weights`)."""
        found = self.entries.get(source_key(key))
        if found is None:
            return None
        if (sums := sums_of(key)) is not None:
            fits = found.dtype in BYTES and sums[1] < len(found.shape)
            return WeightEntry("i32", (found.shape[sums[1]],), found.begin, found.end) if fits else None
        if not key.endswith(PACKED_SUFFIX) or found.dtype not in SMALL_INTEGERS:
            return None
        return WeightEntry("ui8", (found.end - found.begin,), found.begin, found.end)

    def entry(self, key: str) -> WeightEntry:
        """Returns type and place of a tensor. Raises `WeightsError` for a key that the file lacks."""
        found = self.entries.get(key) or self._derived(key)
        if found is None:
            refuse_missing(self, [key])
        return found

    def require(self, key: str, dtype: str, shape: tuple[int, ...]) -> WeightEntry:
        """Returns the entry of `key`. Raises `WeightsError` unless it has this element type and shape."""
        found = self.entry(key)
        if (found.dtype, found.shape) != (dtype, shape):
            fail(self.path, f"tensor '{key}' is {found}, expected {WeightEntry(dtype, shape, 0, 0)}")
        return found

    def array(self, key: str) -> np.ndarray[Any, Any]:
        """The tensor as a read-only view of the mapped file. Integers that share bytes there are copied."""
        found = self.entry(key)
        if key not in self.entries and (sums := sums_of(key)) is not None:
            return summed(self.array(sums[0]), *sums[1:])
        if found.dtype not in (*_FORMAT_NAMES, *SMALL_INTEGERS):
            known = ", ".join(DTYPES)
            fail(self.path, f"tensor '{key}' has element type {found.dtype}", f"known are {known}")
        elsewhere = self._elsewhere.get(key) or self._elsewhere.get(source_key(key))
        mapped = self._mapped() if elsewhere is None else self._in(elsewhere)
        if found.end > mapped.size:
            fail(
                self.path,
                f"tensor '{key}' ends at byte {found.end}, but the file has {mapped.size} now: it has been cut",
                REPLACE_WHOLE,
            )
        data = mapped[found.begin : found.end]
        if found.dtype == "i1" and data.size and int(data.max()) > 1:
            fail(self.path, f"tensor '{key}' of type BOOL holds a byte {int(data.max())}, expected 0 or 1")
        if found.dtype in SMALL_INTEGERS:
            return unpack(data, found.dtype, found.shape)
        return data.view(numpy_dtype(found.dtype)).reshape(found.shape)

    def _mapped(self) -> np.ndarray[Any, Any]:
        if self._bytes is None:
            self._bytes = map_file(self.path).bytes()
        return self._bytes

    def _in(self, other: Stamp) -> np.ndarray[Any, Any]:
        """Returns the bytes of another file."""
        try:
            return map_file(other.path, other).bytes()
        except ChangedError:
            fail(self.path, f"'{other.path}', which holds its tensors, has changed since the model was imported")
        except (OSError, ValueError) as error:
            fail(self.path, f"'{other.path}', which holds its tensors: {reason_of(error)}")

    def data_hash(self) -> str:
        """Returns the SHA-256 of the data, in hexadecimal. It reads the whole file."""
        with open(self.path, "rb") as file:
            file.seek(self.data_start)
            digest = sha256()
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        return digest.hexdigest()

    def verify(self) -> None:
        """Raises `WeightsError` unless the data has the hash it was written with, and other files are as they were."""
        for stamp in set(self._elsewhere.values()):
            self._in(stamp)
        if self._elsewhere.keys() == self.entries.keys():
            return
        wanted = self.metadata.get(HASH_KEY)
        if wanted is None:
            fail(self.path, "there is no hash to verify", f"'{HASH_KEY}' in its metadata would hold it")
        found = self.data_hash()
        if found != wanted:
            fail(self.path, f"the data has the hash {found[:16]}…, expected {wanted[:16]}…: the file is damaged")


def identity_of(file: WeightFile) -> str | None:
    """
    Returns a text that is another one for other data, or `None` where there is no cheap one.

    It is the hash that the file was written with. For tensors in other files it is made of size and time of these.
    """
    own = file.metadata.get(HASH_KEY)
    if not file._elsewhere:
        return own
    others = [(key, file.entries[key], stamp.size, stamp.modified) for key, stamp in sorted(file._elsewhere.items())]
    return sha256(repr((own, others)).encode()).hexdigest()


def refuse_missing(file: WeightFile, missing: Sequence[str]) -> NoReturn:
    """Raises `WeightsError` for keys that a file lacks."""
    near = next((hint for key in missing if (hint := did_you_mean(key, file.entries))), None)
    shown = ", ".join(f"'{key}'" for key in missing[:5]) + (f" and {len(missing) - 5} more" if missing[5:] else "")
    which = f"is no tensor {shown}" if len(missing) == 1 else f"are no tensors {shown}"
    fail(file.path, f"there {which}", near or _some_keys(file.keys()))


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
    if (held := _held.get(str(path))) is not None:
        return _with_held(path, held)
    return _opened(path)


def _opened(path: Path) -> WeightFile:
    try:
        with open(path, "rb") as file:
            file_size = os.fstat(file.fileno()).st_size
            header, data_start = read_header(path, file, file_size)
    except IsADirectoryError:
        fail(path, IS_A_DIRECTORY)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        fail(path, reason_of(error))
    return _weight_file(path, header, data_start, file_size)


def weights_in(path: str | Path, data: memoryview) -> WeightFile:
    """
    Returns the tensors of a safetensors file that lies in memory. `path` is what messages call it.

    The arrays are views of `data`. Raises `WeightsError` as `open_weights` does.
    """
    import numpy as np

    path = Path(path)
    header, data_start = read_header(path, Reader(data), len(data))
    found = _weight_file(path, header, data_start, len(data))
    found._bytes = np.frombuffer(data, np.uint8)
    return found


def _weight_file(path: Path, header: dict[str, Any], data_start: int, file_size: int) -> WeightFile:
    metadata = metadata_of(path, header.pop(METADATA_KEY, {}))
    entries = {key: entry_of(path, key, value, data_start, file_size) for key, value in header.items()}
    for key, entry in entries.items():
        if (text := metadata.get(f"{TYPE_KEY}{key}")) is not None:
            entries[key] = with_type(path, key, entry, text)
    reject_overlaps(path, entries)
    return WeightFile(path, entries, metadata, data_start)


# Tensors in files of other formats

_held: Final[dict[str, Mapping[str, tuple[Stamp, WeightEntry]]]] = {}
"""
What `hold_weights` has been told, by path. Only this process knows it: a file that said it to others could name any
file that they may read.
"""


def hold_weights(path: Path, arrays: Mapping[str, Any]) -> None:
    """
    Makes `path` a side-car of NumPy arrays or `RawTensor`s for this process.

    Those that are views of mapped files stay there. The others are written to `path`, where there are any.
    """
    held: dict[str, tuple[Stamp, WeightEntry]] = {}
    rest: dict[str, Any] = {}
    for key, array in arrays.items():
        is_raw = isinstance(array, RawTensor)
        data = array.bytes() if is_raw else array
        place = place_of(data) if data.flags.c_contiguous and data.size else None
        if place is None:
            rest[key] = array
            continue
        mapping, begin = place
        dtype = array.dtype if is_raw else of_numpy(array.dtype.name)
        assert dtype is not None
        held[key] = mapping.stamp, WeightEntry(dtype, tuple(array.shape), begin, begin + data.nbytes)
    if rest:
        write_weights(path, rest)
    _held[str(path)] = held


def _with_held(path: Path, held: Mapping[str, tuple[Stamp, WeightEntry]]) -> WeightFile:
    file = _opened(path) if path.exists() else WeightFile(path, {}, {}, 0)
    file.entries |= {key: entry for key, (_, entry) in held.items()}
    return replace(file, _elsewhere={key: stamp for key, (stamp, _) in held.items()})


# Writing


@dataclass(frozen=True)
class RawTensor:
    """Elements as they lie in memory: row-major, little endian, an i1 a byte 0 or 1. Small integers share bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | memoryview

    def array(self) -> np.ndarray[Any, Any]:
        """Returns the elements as an array, a copy where they share bytes."""
        data = self.bytes()
        if self.dtype in SMALL_INTEGERS:
            return unpack(data, self.dtype, self.shape)
        return data.view(numpy_dtype(self.dtype)).reshape(self.shape)

    def bytes(self) -> np.ndarray[Any, Any]:
        """Returns the bytes as an array, without a copy."""
        import numpy as np

        return np.frombuffer(self.data, np.uint8)


def raw_tensor(array: Any) -> RawTensor:
    """The elements of a NumPy array, without a copy where it is contiguous."""
    import numpy as np

    dtype = of_numpy(array.dtype.name)
    if dtype in SMALL_INTEGERS:
        return RawTensor(dtype, tuple(array.shape), memoryview(pack(array)))  # pyright: ignore[reportArgumentType]
    if dtype not in _FORMAT_NAMES:
        raise TypeError(f"array has dtype {array.dtype.name}, expected one of {', '.join(_FORMAT_NAMES)}")
    flat = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).reshape(-1)
    data = memoryview(flat.view(np.uint8))  # pyright: ignore[reportArgumentType]
    return RawTensor(dtype, tuple(array.shape), data)


def raw_of_memory(data: bytes, dtype: str, shape: tuple[int, ...]) -> RawTensor:
    """Returns the tensor of elements as they lie in memory, where a small integer takes a byte."""
    import numpy as np

    if dtype not in SMALL_INTEGERS:
        return RawTensor(dtype, shape, data)
    return raw_tensor(np.frombuffer(data, numpy_dtype(dtype)).reshape(shape))


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
        expected = file_bytes(tensor.shape, tensor.dtype)
        if len(tensor.data) != expected:
            raise ValueError(f"tensor '{key}' has {len(tensor.data)} bytes, expected {expected}")
        if key == METADATA_KEY:
            raise ValueError(f"'{METADATA_KEY}' cannot be the key of a tensor")
    return {key: raw[key] for key in sorted(raw, key=lambda key: _place(raw[key]))}


def write_weights(path: str | Path, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> None:
    """
    Writes a safetensors file, as `weight_pieces` gives it. A reader sees the old file or the new one.

    What is not a regular file (a pipe) is written directly.
    """
    raw = _in_order(tensors)
    try:
        with new_content(path) as file:
            if file.seekable():
                _write(file, raw, metadata)
            else:
                file.writelines(weight_pieces(raw, metadata))
    except OSError as error:
        fail(Path(path), f"cannot write it: {reason_of(error)}")


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
    small = {key: tensor for key, tensor in raw.items() if tensor.dtype in SMALL_INTEGERS}
    types = {f"{TYPE_KEY}{key}": "x".join([*map(str, tensor.shape), tensor.dtype]) for key, tensor in small.items()}
    header: dict[str, Any] = {METADATA_KEY: {**(metadata or {}), **types, HASH_KEY: data_hash}}
    offset = 0
    for key, tensor in raw.items():
        header[key] = {
            "dtype": "U8" if key in small else _FORMAT_NAMES[tensor.dtype],
            "shape": [len(tensor.data)] if key in small else list(tensor.shape),
            "data_offsets": [offset, offset + len(tensor.data)],
        }
        offset += len(tensor.data)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-(8 + len(text)) % BUFFER_ALIGNMENT)
    return len(text).to_bytes(8, "little") + text
