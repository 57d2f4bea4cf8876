"""Errors of the front end, and the packages that it needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, NoReturn

from ...core.messages.diagnostics import Diagnostic, StepwellError

INSTALL_HINT: Final = "install it with: pip install torch onnx onnxscript"


class TorchError(StepwellError):
    """A module of PyTorch that cannot be compiled."""


def fail(what: str, message: str, hint: str | None = None) -> NoReturn:
    """Raises the error of the module, graph or tensor `what`."""
    raise TorchError(Diagnostic(f"{what}: {message}", hint=hint))


def package(name: str = "torch") -> Any:
    """Returns a package, of which nothing is known to the type checker. Raises TorchError where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        root = name.partition(".")[0]
        fail("PyTorch", f"the package '{root}' is not installed ({error})", INSTALL_HINT)
