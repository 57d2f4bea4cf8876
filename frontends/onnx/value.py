"""A tensor of the model, as converters see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from xdsl.ir import Block, SSAValue

from ...dialects.graph.shapes import Shape, Shaped
from ...dialects.graph.shapes import text as shape_text

if TYPE_CHECKING:
    import numpy as np


class ValueBuilder(Protocol):
    """What a value asks of the `Emitter` to which it adds ops."""

    block: Block
    shapes: dict[tuple[Block, SSAValue], Value]

    def ssa(self, operand: Any, dtype: str | None = None, /) -> SSAValue:
        """Returns the SSA value of an operand."""
        ...

    def __getattr__(self, name: str, /) -> Callable[..., Any]: ...


class Value:
    """A tensor of the model. It is no abstract base class, for which `isinstance` is a call of Python code."""

    def __repr__(self) -> str:
        return f"<stepwell.{type(self).__name__} {shape_text(self.shape)} of {self.dtype}>"

    @property
    def shaped(self) -> Shaped:
        """Shape (`None` for an extent that is not known) and element type. Each class has its own."""
        raise NotImplementedError(type(self).__name__)

    @property
    def shape(self) -> Shape:
        """The extents, `None` for one that is not known."""
        return self.shaped.shape

    @property
    def dtype(self) -> str:
        """The name of the element type, `f32`."""
        return self.shaped.dtype

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shaped.shape)

    @property
    def known(self) -> np.ndarray[Any, Any] | None:
        """The elements, when they are known at import."""
        return None

    def computed(self, b: ValueBuilder) -> SSAValue:
        """
        Returns the tensor at the place where the builder `b` adds ops.

        Only values that are neither known nor an SSA value have it.
        """
        raise NotImplementedError(type(self).__name__)
