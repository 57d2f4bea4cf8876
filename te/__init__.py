"""
Tensor expressions: immutable data that says what each element of a tensor is.

    A = te.placeholder((n, m), "f32", "A")
    k = te.reduce_axis(m, "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")

`te.library` holds ready tensor functions in the manner of NumPy. `te.evaluate` runs expressions on NumPy arrays.
"""

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_ELSEWHERE = {
    "create_schedule": "a schedule is of loops: Schedule(module) of stepwell.schedule, where the module holds"
    " stepwell.create_prim_func([A, B]), or compile(…).schedule()",
    "lower": "stepwell.create_prim_func([A, B]) returns the loop function of placeholders and computed tensors",
    "build": "stepwell.compile(stepwell.create_prim_func([A, B])) returns a program that runs",
    "create_prim_func": "it is stepwell.create_prim_func",
    "extern": "stepwell.core.codegen registers code of your own",
    "scan": "a scan is a graph op, cumulative_sum, or a loop function",
    "size_var": "te.var makes a size",
    "tensor": "te.placeholder makes an input, te.compute a tensor that is computed",
}
"""What other systems keep beside tensor expressions, and what does it here."""


def __getattr__(name: str) -> object:
    if name in _ELSEWHERE:
        raise AttributeError(f"te has no '{name}': {_ELSEWHERE[name]}")
    return _load(name)
