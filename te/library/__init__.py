"""
The operator library: functions of tensors in the manner of NumPy. There is one for each op of docs/semantics.md, named
like it.

    y = te.library.softmax(te.library.matmul(x, w), axis=-1)

Keyword arguments are the properties of the op, as plain Python values. The functions raise TEError for operands that do
not fit.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
