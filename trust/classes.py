"""The class of numerics of each pass: which results it may change, and by how much."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

from xdsl.passes import ModulePass

NumericsClass = Literal["exact", "rounding", "quantised", "fast"]

ORDER: Final[tuple[NumericsClass, ...]] = ("exact", "rounding", "quantised", "fast")
"""The classes, from the strictest to the most lenient one."""

CLASSES: Final[dict[str, NumericsClass]] = {
    "simplify-inference": "rounding",
    "fold-scale-axis": "rounding",
    "fold-constant": "rounding",  # Constants are computed by the formulas of te, not by the reference.
    "optimize-layouts": "rounding",  # Sums take their terms in another order.
    "combine-parallel-conv2d": "rounding",
    "combine-parallel-dense": "rounding",
    "combine-parallel-batch-matmul": "rounding",
    "fuse-ewise-fma": "rounding",
    "zero-subnormals": "fast",
    "legalize": "rounding",
    "lower-external-functions": "rounding",
    "lower-graph-to-loops": "rounding",  # The reference sums in f64.
    "join-reductions": "rounding",
    "scale-after-products": "fast",
    "relax-exponentials": "fast",
    "widen-left-operands": "rounding",
    "apply-tuning": "fast",
    "plan-schedules": "rounding",
    "prepack-weights": "fast",  # Filters of Winograd, and subnormal weights that become zeros.
    "apply-schedule-plan": "fast",  # Winograd, and products of fma.
    "apply-schedule": "rounding",
    "vectorize-loops": "rounding",
    "expand-math": "rounding",
    "lower-to-llvm-dialect": "rounding",
    "finish-native": "rounding",
}
"""The classes of passes. A pass that is not here is exact, or of the class of the rules that it applied."""


def class_of(pass_: ModulePass, applied: Iterable[str] = ()) -> NumericsClass:
    """
    Returns the class of what a pass has done: its own, or that of the rules it applied if that is more lenient.

    With the option `numerics="strict"` only rules of class `exact` run. A pass of another package may say its class by
    an attribute `numerics_class`.
    """
    own: Any = getattr(type(pass_), "numerics_class", None) or CLASSES.get(pass_.name, "exact")
    if getattr(pass_, "numerics", None) == "strict":
        own = "exact"
    return weakest((own, *applied))


def weakest(classes: Iterable[str]) -> NumericsClass:
    """Returns the most lenient of some classes, `exact` of none."""
    return ORDER[max((ORDER.index(each) for each in classes if each in ORDER), default=0)]  # pyright: ignore
