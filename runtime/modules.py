"""Modules of our own: verified, and copies of what the caller holds."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import SymbolOpInterface

from ..core.ir.cloning import clone_op
from ..core.ir.verification import verify_module
from ..core.messages.articles import quoted
from ..core.text.parsing import make_context, named_text, parse_text
from .errors import CompileError


def verified_module(module_or_path: Operation | str | Path) -> tuple[ModuleOp, tuple[str, str] | None]:
    """Returns a verified module of our own, and the name and text that it was read from, if it was."""
    if not isinstance(module_or_path, Operation):
        name, text = named_text(module_or_path)
        module = parse_text(make_context(), text, name)
        verify_module(module, sources={name: text})
        return module, (name, text)
    module = copy_of(module_or_path) if isinstance(module_or_path, ModuleOp) else _module_of(module_or_path)
    verify_module(module)
    return module, None


def _module_of(function: Operation) -> ModuleOp:
    """Returns a module of a copy of one function. Raises CompileError for an op of another kind."""
    if not function.has_trait(SymbolOpInterface, value_if_unregistered=False):
        raise CompileError(f"found {quoted(function.name)}, expected a module, a function, a path or program text")
    copy = clone_op(function)
    copy.location = function.location
    return ModuleOp([copy])


def copy_of(module: ModuleOp) -> ModuleOp:
    """Returns a clone that has the location of `module`, which `clone` leaves out."""
    copy = clone_op(module)
    copy.location = module.location
    return copy
