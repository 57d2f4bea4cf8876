"""
Tensor expressions: immutable data that says what each element of a tensor is.

    A = te.placeholder((n, m), "f32", "A")
    k = te.reduce_axis(m, "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")

`te.library` holds ready tensor functions in the manner of NumPy. `te.evaluate` runs expressions on NumPy arrays.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
