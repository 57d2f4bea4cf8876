"""
The tile dialect: register tiles, the innermost level of a scheduled kernel. Grammar and examples are in docs/ir.md.

A tile is a value of type `vector<ROWSxCOLUMNSxT>`. It is carried through `scf.for` by `iter_args` and computed on by
`tile.map`. Only `lower-to-llvm-dialect` takes it apart into vector registers, so a kernel is about ten ops until then.
"""

from xdsl.ir import Dialect

from .elements import LargerOp, LimitOp, LookupOp, ScaleOp, SmallerOp
from .map import MapOp, YieldOp
from .mma import MmaOp
from .multiply_add import MultiplyAddOp
from .ops import LoadOp, StoreOp
from .places import Place
from .prefetch import PrefetchOp
from .reduce import ReduceOp
from .translate import TranslateOp
from .transpose import TransposeOp

Tile = Dialect(
    "tile",
    [
        LargerOp,
        LimitOp,
        LoadOp,
        LookupOp,
        MapOp,
        MmaOp,
        MultiplyAddOp,
        PrefetchOp,
        ReduceOp,
        ScaleOp,
        SmallerOp,
        StoreOp,
        TranslateOp,
        TransposeOp,
        YieldOp,
    ],
    [],
)
"""The dialect as xDSL loads it."""

__all__ = [
    "LargerOp",
    "LimitOp",
    "LoadOp",
    "LookupOp",
    "MapOp",
    "MmaOp",
    "MultiplyAddOp",
    "Place",
    "PrefetchOp",
    "ReduceOp",
    "ScaleOp",
    "SmallerOp",
    "StoreOp",
    "Tile",
    "TranslateOp",
    "TransposeOp",
    "YieldOp",
]
