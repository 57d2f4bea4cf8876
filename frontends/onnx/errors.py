"""Errors of the import: all of them name the model, and the node by the words of its author."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NoReturn

from ...core.diagnostics import Diagnostic, StepwellError

if TYPE_CHECKING:
    from .values import Value

INSTALL_HINT: Final = "install it with: pip install 'stepwell[onnx]'"


class OnnxError(StepwellError):
    """A model that cannot be imported."""

    inputs: tuple[str, ...] = ()
    """Inputs of the model whose elements decide what could not be imported: with other values, or known ones, it may be."""

    needs: tuple[Value, ...] = ()
    """Values of the enclosing graph of which the same is true."""


class ConversionError(Exception):
    """
    What a converter found wrong with its node; the importer says which node it was.

    `needs` are values that would have to be known at import, or decide whether the node is there at all.
    """

    def __init__(self, message: str, hint: str | None = None, needs: tuple[Value, ...] = ()):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.needs = needs


def fail(model: str, message: str, hint: str | None = None) -> NoReturn:
    """Raises the error of a whole model."""
    raise OnnxError(Diagnostic(f"model '{shown(model)}': {message}", hint=hint))


def shown(path: str) -> str:
    """A path as errors show it: the last two parts of a long one."""
    return path if len(path) <= 80 else str(PurePath("…", *PurePath(path).parts[-2:]))
