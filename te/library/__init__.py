"""
The operator library: functions of tensors in the manner of NumPy. There is one for each op of docs/semantics.md, named
like it.

    y = te.library.softmax(te.library.matmul(x, w), axis=-1)

Keyword arguments are the properties of the op, as plain Python values. The functions raise TEError for operands that do
not fit, and for what is no tensor.
"""

from typing import Any

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    from .operands import takes_tensors

    found = takes_tensors(_load(name)) if name in __all__ else _load(name)
    globals()[name] = found
    return found
