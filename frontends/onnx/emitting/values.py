"""
What the name of an ONNX value stands for during an import: an SSA value, or an array that is known already.

Known arrays are the initialisers of a model and what is computed from them and from shapes. They become constants or
weights only when an op takes them; shape arithmetic never does, and so leaves no trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ....core.weights import RawTensor
from ....dialects.graph.shapes import Shaped
from ....dialects.graph.signature import shaped_of
from ....te.dtypes import is_small_integer, of_numpy
from ..errors import ConversionError
from ..files.model import Model
from ..files.tensors import stored_array, stored_bytes
from ..types import DTYPES
from ..value import Value, ValueBuilder

if TYPE_CHECKING:
    import numpy as np
    from onnx import TensorProto


class RuntimeValue(Value):
    """The result of an op, or an argument of the function."""

    def __init__(self, ssa: SSAValue):
        self.ssa = ssa
        self._shaped: Shaped | None = None
        self.sizes: tuple[Any, ...] | None = None
        """What each `?` of the shape is known to be made of (`sizes.Size`), `None` for the extents that are not."""

    @property
    def shaped(self) -> Shaped:
        if self._shaped is None:
            assert isinstance(self.ssa.type, TensorType)
            self._shaped = shaped_of(self.ssa.type, "the value")
        return self._shaped


class KnownValue(Value):
    """An array: an initialiser, or folded. `key` is its name as a weight."""

    def __init__(self, array: np.ndarray[Any, Any], key: str = "constant"):
        self._array = array
        self.key = key

    @property
    def shaped(self) -> Shaped:
        return Shaped(tuple(self._array.shape), dtype_of(self._array))

    @property
    def known(self) -> np.ndarray[Any, Any]:
        return self._array


class Initialiser(Value):
    """A tensor stored in the model. Its bytes are decoded, or its file is mapped, when they are wanted."""

    def __init__(self, model: Model, proto: TensorProto, raw: np.ndarray[Any, Any] | None = None):
        self._model = model
        self._proto = proto
        self._raw = raw
        self._array: np.ndarray[Any, Any] | None = None
        self._shaped = Shaped(tuple(proto.dims), DTYPES[proto.data_type])
        self.key = proto.name

    @property
    def shaped(self) -> Shaped:
        return self._shaped

    @property
    def known(self) -> np.ndarray[Any, Any]:
        if self._array is None:
            self._array = stored_array(self._model, self._proto, self._raw)
        return self._array

    @property
    def packed(self) -> RawTensor | None:
        """The bytes of small integers as the file holds them, not copied. It is `None` for other elements."""
        dtype, shape = self._shaped.dtype, tuple(self._proto.dims)
        if not is_small_integer(dtype):
            return None
        data = stored_bytes(self._model, self._proto, self._raw)
        return RawTensor(dtype, shape, memoryview(data))  # pyright: ignore[reportArgumentType]


class SequenceValue(Value):
    """A sequence of tensors, whose length is known. An op that takes it as a tensor gets an error."""

    def __init__(self, parts: list[Value]):
        self.parts = parts

    def __repr__(self) -> str:
        return f"<stepwell.SequenceValue of {len(self.parts)} tensors>"

    @property
    def shaped(self) -> Shaped:
        raise ConversionError("a sequence is given where a tensor is expected")

    def computed(self, b: ValueBuilder) -> SSAValue:
        raise ConversionError("a sequence is given where a tensor is expected")


def dtype_of(array: np.ndarray[Any, Any]) -> str:
    """Returns the name of the element type of a NumPy array."""
    return of_numpy(array.dtype.name) or array.dtype.name
