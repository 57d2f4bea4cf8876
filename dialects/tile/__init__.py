"""
The tile dialect: register tiles, the innermost level of a scheduled kernel. Grammar and examples are in docs/ir.md.

A tile is a value of type `vector<ROWSxCOLUMNSxT>`. It is carried through `scf.for` by `iter_args`, computed on by
`tile.map`, and taken apart into vector registers only by `lower-to-llvm-dialect`, so a kernel is about ten ops until then.
"""

from xdsl.ir import Dialect

from .elements import LimitOp as LimitOp
from .elements import LookupOp as LookupOp
from .elements import ScaleOp as ScaleOp
from .map import MapOp as MapOp
from .map import YieldOp as YieldOp
from .mma import MmaOp as MmaOp
from .ops import LoadOp as LoadOp
from .ops import StoreOp as StoreOp
from .places import Place as Place
from .prefetch import PrefetchOp as PrefetchOp
from .reduce import ReduceOp as ReduceOp
from .transpose import TransposeOp as TransposeOp

Tile = Dialect(
    "tile",
    [LimitOp, LoadOp, LookupOp, MapOp, MmaOp, PrefetchOp, ReduceOp, ScaleOp, StoreOp, TransposeOp, YieldOp],
    [],
)
