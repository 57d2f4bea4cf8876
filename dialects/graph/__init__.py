"""
The graph dialect: pure operations on whole tensors.

| file | ops |
|---|---|
| `elementwise.py` | one operand: `negative exp relu clip astype` … |
| `binary.py` | two or three, broadcasting: `add divide less logical_and where ewise_fma` … |
| `contraction.py` | `matmul conv2d` |
| `reduction.py` | `sum mean max argmax softmax` … |
| `movement.py` | `permute_dims reshape concat split strided_slice pad take` … |
| `normalisation.py` | `batch_norm layer_norm` |
| `pooling.py` | `max_pool2d avg_pool2d` |
| `constants.py` | `constant full weight` |
| `calls.py` | `call_kernel` |

`base.py` holds what they share, `shapes.py` the shape algebra, `properties.py` the kinds of properties,
`element_types.py` the element types, `literals.py` the text of constants.
"""

from __future__ import annotations

from types import ModuleType

from xdsl.ir import Dialect, Operation

from . import binary, calls, constants, contraction, elementwise, movement, normalisation, pooling, reduction

FAMILIES: tuple[ModuleType, ...] = (
    elementwise,
    binary,
    contraction,
    reduction,
    movement,
    normalisation,
    pooling,
    constants,
    calls,
)
"""The modules that define ops, in the order of docs/semantics.md."""


def ops_of(family: ModuleType) -> list[type[Operation]]:
    """The ops that a module defines, in the order of its text."""
    return [
        item
        for item in vars(family).values()
        if isinstance(item, type)
        and issubclass(item, Operation)
        and item.__module__ == family.__name__
        and "name" in vars(item)
    ]


Graph = Dialect("graph", [op for family in FAMILIES for op in ops_of(family)], [])
