"""
Stepwell: stairs from tensor graphs down to native code.

The names below are loaded on first use, so that `import stepwell` and parsing or printing IR load neither
numpy nor llvmlite.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core.parsing import parse as parse
    from .core.pass_context import PassContext as PassContext
    from .core.sequential import Sequential as Sequential
    from .frontends.onnx import from_onnx as from_onnx
    from .frontends.onnx.compiled import compile_onnx as compile_onnx
    from .lowering.convert_te_to_tensor_loop import create_prim_func as create_prim_func
    from .runtime.calibrate import calibrate as calibrate
    from .runtime.compile import compile as compile
    from .runtime.executable import Executable as Executable
    from .runtime.tuning.tune import tune as tune

_LAZY = {
    "PassContext": "core.pass_context",
    "Sequential": "core.sequential",
    "parse": "core.parsing",
    "calibrate": "runtime.calibrate",
    "compile": "runtime.compile",
    "from_onnx": "frontends.onnx",
    "compile_onnx": "frontends.onnx.compiled",
    "create_prim_func": "lowering.convert_te_to_tensor_loop",
    "Executable": "runtime.executable",
    "tune": "runtime.tuning.tune",
}

__all__ = sorted(_LAZY)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'stepwell' has no attribute {name!r}")
    value = getattr(import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value
