"""Tensors as arrays, and arrays as tensors: both share one piece of memory."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from ...core.messages.articles import with_article
from ...runtime.errors import ArgumentError
from .errors import package

Array = np.ndarray[Any, Any]

OF_ML_DTYPES: Final = {
    "bfloat16": ("int16", np.dtype(ml_dtypes.bfloat16)),
    "float8_e4m3fn": ("uint8", np.dtype(ml_dtypes.float8_e4m3fn)),
    "float8_e5m2": ("uint8", np.dtype(ml_dtypes.float8_e5m2)),
}
"""Element types that PyTorch and NumPy do not exchange, and the integers as which they cross."""


def array_of(tensor: Any, name: str) -> Array:
    """
    Returns a tensor as an array on the same memory, with the same strides.

    Raises ArgumentError for what is no dense tensor in the memory of the processor.
    """
    torch = package()
    if not isinstance(tensor, torch.Tensor):
        raise ArgumentError(f"'{name}' is {with_article(type(tensor).__name__)}, expected a tensor")
    if tensor.device.type != "cpu":
        raise ArgumentError(f"'{name}' is on the device '{tensor.device}', expected one on 'cpu'; call .cpu() on it")
    if tensor.layout is not torch.strided or tensor.is_quantized:
        kind = "quantised" if tensor.is_quantized else str(tensor.layout).removeprefix("torch.")
        raise ArgumentError(f"'{name}' is a tensor that is {kind}, expected a dense one")
    dtype = str(tensor.dtype).removeprefix("torch.")
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if dtype in OF_ML_DTYPES:
        bits, own = OF_ML_DTYPES[dtype]
        return tensor.view(getattr(torch, bits)).numpy().view(own)
    try:
        return tensor.numpy()
    except (TypeError, RuntimeError):
        raise ArgumentError(f"'{name}' has elements of type '{dtype}', which are not supported") from None


def tensor_of(array: Array) -> Any:
    """Returns an array that nobody else holds as a tensor on the same memory."""
    torch = package()
    name = array.dtype.name
    if name in OF_ML_DTYPES:
        bits, own = OF_ML_DTYPES[name]
        if array.dtype == own:
            return torch.from_numpy(array.view(bits)).view(getattr(torch, name))
    return torch.from_numpy(array)
