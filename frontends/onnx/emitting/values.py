"""
What the name of an ONNX value stands for during an import: an SSA value, or an array that is known already.

Known arrays are the initialisers of a model and what is computed from them and from shapes. They become constants or
weights only when an op takes them; shape arithmetic never does, and so leaves no trace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ...dialects.graph.shapes import Shape, Shaped
from ...dialects.graph.signature import shaped_of
from .errors import ConversionError
from .types import DTYPES

if TYPE_CHECKING:
    import numpy as np
    from onnx import TensorProto

    from .emitter import Emitter


class Value(ABC):
    """A tensor of the model."""

    @property
    @abstractmethod
    def shaped(self) -> Shaped:
        """Shape (`None` for an extent that is not known) and element type."""

    @property
    def shape(self) -> Shape:
        return self.shaped.shape

    @property
    def dtype(self) -> str:
        """The name of the element type, `f32`."""
        return self.shaped.dtype

    @property
    def rank(self) -> int:
        return len(self.shaped.shape)

    @property
    def known(self) -> np.ndarray[Any, Any] | None:
        """The elements, when they are known at import."""
        return None

    def computed(self, b: Emitter) -> SSAValue:
        """The tensor at the place where `b` adds ops; only for values that are neither known nor an SSA value."""
        raise NotImplementedError(type(self).__name__)


class RuntimeValue(Value):
    """The result of an op, or an argument of the function."""

    def __init__(self, ssa: SSAValue):
        self.ssa = ssa
        self.sizes: tuple[Any, ...] | None = None
        """What each `?` of the shape is known to be made of (`sizes.Size`), `None` for the extents that are not."""

    @property
    def shaped(self) -> Shaped:
        assert isinstance(self.ssa.type, TensorType)
        return shaped_of(self.ssa.type, "the value")


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
    """A tensor stored in the model; its bytes are decoded when they are wanted."""

    def __init__(self, proto: TensorProto, key: str, folder: str):
        self._proto = proto
        self._folder = folder
        self._array: np.ndarray[Any, Any] | None = None
        self._shaped = Shaped(tuple(proto.dims), DTYPES[proto.data_type])
        self.key = key

    @property
    def shaped(self) -> Shaped:
        return self._shaped

    @property
    def known(self) -> np.ndarray[Any, Any]:
        if self._array is None:
            from onnx import numpy_helper

            self._array = numpy_helper.to_array(self._proto, self._folder)
        return self._array


class SequenceValue(Value):
    """A sequence of tensors, whose length is known. It is no tensor: what asks for one gets an error."""

    def __init__(self, parts: list[Value]):
        self.parts = parts

    @property
    def shaped(self) -> Shaped:
        raise ConversionError("a sequence is given where a tensor is expected")

    def computed(self, b: Emitter) -> SSAValue:
        raise ConversionError("a sequence is given where a tensor is expected")


def dtype_of(array: np.ndarray[Any, Any]) -> str:
    """The name of the element type of a NumPy array."""
    name = array.dtype.name
    special = {"bool": "i1", "bfloat16": "bf16"}.get(name)
    return special or name.replace("uint", "ui").replace("int", "i").replace("float", "f")
