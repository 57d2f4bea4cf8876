"""Errors of the import: all of them name the model, and the node by the words of its author."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final, NoReturn

from ...core.messages.diagnostics import Diagnostic, StepwellError
from .value import Value

INSTALL_HINT: Final = "install it with: pip install onnx"


class OnnxError(StepwellError):
    """A model that cannot be imported."""

    inputs: tuple[str, ...] = ()
    """
    Inputs of the model whose elements decide what could not be imported.

    With other values, or with known ones, the import may succeed.
    """

    needs: tuple[Value, ...] = ()
    """Values of the enclosing graph that decide it as well."""


class ConversionError(Exception):
    """
    What a converter found wrong with its node. The importer says which node it was.

    `needs` are values that would have to be known at import, or decide whether the node is there at all.
    """

    def __init__(self, message: str, hint: str | None = None, needs: tuple[Value, ...] = ()):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.needs = needs


def fail(model: str, message: str, hint: str | None = None) -> NoReturn:
    """Raises an error of the model as a whole."""
    raise OnnxError(Diagnostic(f"model '{shown(model)}': {message}", hint=hint))


def shown(path: str) -> str:
    """Returns a path as errors show it, which is the last two parts of a long one."""
    return path if len(path) <= 80 else str(PurePath("…", *PurePath(path).parts[-2:]))
