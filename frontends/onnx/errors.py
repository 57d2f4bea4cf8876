"""Errors of the import: all of them name the model, and the node by the words of its author."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final, NoReturn

from ...core.diagnostics import Diagnostic, StepwellError

INSTALL_HINT: Final = "install it with: pip install 'stepwell[onnx]'"


class OnnxError(StepwellError):
    """A model that cannot be imported."""


class ConversionError(Exception):
    """What a converter found wrong with its node; the importer says which node it was."""

    def __init__(self, message: str, hint: str | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint


def fail(model: str, message: str, hint: str | None = None) -> NoReturn:
    """Raises the error of a whole model."""
    raise OnnxError(Diagnostic(f"model '{shown(model)}': {message}", hint=hint))


def shown(path: str) -> str:
    """A path as errors show it: the last two parts of a long one."""
    return path if len(path) <= 80 else str(PurePath("…", *PurePath(path).parts[-2:]))
