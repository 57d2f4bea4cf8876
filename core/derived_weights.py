"""
Keys that name what follows from a tensor of a side-car. No file holds it: it is made when a program is loaded.

* `w#packed`: the bytes of a tensor of small integers as files hold them, a vector of ui8.
* `w#sums0*3`: for each index of dimension 0 the sum of the bytes there, times 3, a vector of i32. A byte without sign
  counts less 128, as products of bytes take it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from .packing import pack

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    import numpy as np

    Array = np.ndarray[Any, Any]

PACKED_SUFFIX: Final = "#packed"

BYTES: Final = ("i8", "ui8")
"""The element types of which there are sums."""

_SUMS: Final = re.compile(r"(?P<source>.*)#sums(?P<axis>\d{1,9})\*(?P<factor>-?\d{1,9})", re.DOTALL)


def sums_key(key: str, axis: int, factor: int) -> str:
    """Returns the key of the sums of the bytes of a tensor for each index of dimension `axis`, times `factor`."""
    return f"{key}#sums{axis}*{factor}"


def sums_of(key: str) -> tuple[str, int, int] | None:
    """Returns what `sums_key` makes `key` of, or None for other keys."""
    found = _SUMS.fullmatch(key)
    return found and (found["source"], int(found["axis"]), int(found["factor"]))


def source_key(key: str) -> str:
    """Returns the key of the tensor that `key` follows from. That is itself unless it has one of the endings."""
    found = sums_of(key)
    return key.removesuffix(PACKED_SUFFIX) if found is None else found[0]


def with_sources(keys: Iterable[str]) -> set[str]:
    """Returns keys and those that they follow from."""
    return {found for key in keys for found in (key, source_key(key))}


def sources_first(keys: Iterable[str]) -> list[str]:
    """Returns keys in an order in which those that follow from tensors come last."""
    return sorted(keys, key=lambda key: source_key(key) != key)


def held(keys: Iterable[str], by: Container[str]) -> list[str]:
    """Returns what of `by` a program that asks for `keys` needs: the keys, or the tensors that they follow from."""
    found = {key if key in by else source_key(key) for key in keys}
    return sorted(key for key in found if key in by)


def summed(array: Array, axis: int, factor: int) -> Array:
    """Returns the sums of an array of int8 or uint8 for each index of dimension `axis`, times `factor`, as int32."""
    import numpy as np

    others = tuple(each for each in range(array.ndim) if each != axis)
    sums = array.sum(axis=others, dtype=np.int32)
    if array.dtype == np.uint8:
        sums = sums - np.int32(128 * (array.size // max(array.shape[axis], 1)))
    return sums * np.int32(factor)


def weight_array(arrays: Mapping[str, Array], key: str) -> Array | None:
    """Returns the array of a key, or what the key names of one there. It is `None` where there is none."""
    import numpy as np

    if (own := arrays.get(key)) is not None:
        return np.asarray(own)
    whole = arrays.get(source_key(key))
    if whole is None:
        return None
    found = sums_of(key)
    return pack(np.asarray(whole)) if found is None else summed(np.asarray(whole), *found[1:])


class WithDerived(dict[str, Any]):
    """Arrays by key that also have what keys name of them."""

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or (isinstance(key, str) and super().__contains__(source_key(key)))

    def __missing__(self, key: str) -> Array:
        found = weight_array(self, key)
        if found is None:
            raise KeyError(key)
        return found
