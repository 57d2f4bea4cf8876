"""
The graph dialect: pure operations on whole tensors.

| file | ops |
|---|---|
| `elementwise.py` | one operand: `negative floor isnan clip astype` … |
| `functions.py` | one operand: `exp sqrt tanh sigmoid relu` … |
| `trigonometry.py` | one operand: `sinh asin atanh` … |
| `binary.py` | two or three, broadcasting: `add divide power maximum ewise_fma` … |
| `comparison.py` | likewise: `less logical_and bitwise_or left_shift where` … |
| `contraction.py` | `matmul conv2d` |
| `reduction.py` | `sum mean max argmax softmax` … |
| `movement.py` | `permute_dims reshape concat split strided_slice pad take` … |
| `indexing.py` | `take_along_axis gather_nd scatter_elements scatter_nd` |
| `sorting.py` | `top_k` |
| `scans.py` | `cumulative_sum cumulative_prod` |
| `normalisation.py` | `batch_norm layer_norm bias_add instance_norm group_norm l2_normalize rms_norm dropout` |
| `pooling.py` | `max_pool2d avg_pool2d` |
| `sampling.py` | `resample sample` |
| `constants.py` | `constant full weight` |
| `dynamic.py` | `shape_of dynamic_reshape dynamic_broadcast_to dynamic_slice dynamic_pad arange` |
| `calls.py` | `call_kernel` |

`base.py` holds what they share (`signature.py` operands and results, `properties.py` the kinds of properties, `syntax.py` the printed
form); `shapes.py` is the shape algebra, `element_types.py` the element types, `numerals.py` and `literals.py` the text of numbers and
constants, `documentation.py` makes docs/graph.md.
"""

from __future__ import annotations

from types import ModuleType

from xdsl.ir import Dialect, Operation

from . import (
    binary,
    calls,
    comparison,
    constants,
    contraction,
    dynamic,
    elementwise,
    functions,
    indexing,
    movement,
    normalisation,
    pooling,
    reduction,
    sampling,
    scans,
    sorting,
    trigonometry,
)
from .base import GraphOp as GraphOp
from .base import TemplateOp as TemplateOp
from .base import TensorOp as TensorOp
from .base import infer_result_types as infer_result_types
from .base import plain_properties as plain_properties
from .base import te_operands as te_operands
from .binary import AddOp as AddOp
from .binary import DivideOp as DivideOp
from .binary import EwiseFmaOp as EwiseFmaOp
from .binary import FloorDivideOp as FloorDivideOp
from .binary import MaximumOp as MaximumOp
from .binary import MinimumOp as MinimumOp
from .binary import ModOp as ModOp
from .binary import MultiplyOp as MultiplyOp
from .binary import PowerOp as PowerOp
from .binary import SubtractOp as SubtractOp
from .calls import CallKernelOp as CallKernelOp
from .comparison import BitwiseAndOp as BitwiseAndOp
from .comparison import BitwiseOrOp as BitwiseOrOp
from .comparison import BitwiseXorOp as BitwiseXorOp
from .comparison import EqualOp as EqualOp
from .comparison import GreaterEqualOp as GreaterEqualOp
from .comparison import GreaterOp as GreaterOp
from .comparison import LeftShiftOp as LeftShiftOp
from .comparison import LessEqualOp as LessEqualOp
from .comparison import LessOp as LessOp
from .comparison import LogicalAndOp as LogicalAndOp
from .comparison import LogicalOrOp as LogicalOrOp
from .comparison import LogicalXorOp as LogicalXorOp
from .comparison import NotEqualOp as NotEqualOp
from .comparison import RightShiftOp as RightShiftOp
from .comparison import WhereOp as WhereOp
from .constants import ConstantOp as ConstantOp
from .constants import FullOp as FullOp
from .constants import WeightOp as WeightOp
from .contraction import Conv2dOp as Conv2dOp
from .contraction import MatmulOp as MatmulOp
from .elementwise import AbsOp as AbsOp
from .elementwise import AstypeOp as AstypeOp
from .elementwise import BitcastOp as BitcastOp
from .elementwise import BitwiseNotOp as BitwiseNotOp
from .elementwise import CeilOp as CeilOp
from .elementwise import ClipOp as ClipOp
from .elementwise import FloorOp as FloorOp
from .elementwise import IsfiniteOp as IsfiniteOp
from .elementwise import IsinfOp as IsinfOp
from .elementwise import IsnanOp as IsnanOp
from .elementwise import LogicalNotOp as LogicalNotOp
from .elementwise import NegativeOp as NegativeOp
from .elementwise import RoundOp as RoundOp
from .elementwise import SignOp as SignOp
from .elementwise import SquareOp as SquareOp
from .elementwise import TruncOp as TruncOp
from .functions import CosOp as CosOp
from .functions import ErfOp as ErfOp
from .functions import Exp2Op as Exp2Op
from .functions import Expm1Op as Expm1Op
from .functions import ExpOp as ExpOp
from .functions import GeluOp as GeluOp
from .functions import LeakyReluOp as LeakyReluOp
from .functions import Log1pOp as Log1pOp
from .functions import Log2Op as Log2Op
from .functions import Log10Op as Log10Op
from .functions import LogOp as LogOp
from .functions import ReluOp as ReluOp
from .functions import RsqrtOp as RsqrtOp
from .functions import SigmoidOp as SigmoidOp
from .functions import SiluOp as SiluOp
from .functions import SinOp as SinOp
from .functions import SqrtOp as SqrtOp
from .functions import TanhOp as TanhOp
from .functions import TanOp as TanOp
from .indexing import GatherNdOp as GatherNdOp
from .indexing import ScatterElementsOp as ScatterElementsOp
from .indexing import ScatterNdOp as ScatterNdOp
from .indexing import TakeAlongAxisOp as TakeAlongAxisOp
from .movement import BroadcastToOp as BroadcastToOp
from .movement import ConcatOp as ConcatOp
from .movement import ExpandDimsOp as ExpandDimsOp
from .movement import PadOp as PadOp
from .movement import PermuteDimsOp as PermuteDimsOp
from .movement import ReshapeOp as ReshapeOp
from .movement import SplitOp as SplitOp
from .movement import SqueezeOp as SqueezeOp
from .movement import StridedSliceOp as StridedSliceOp
from .movement import TakeOp as TakeOp
from .normalisation import BatchNormOp as BatchNormOp
from .normalisation import BiasAddOp as BiasAddOp
from .normalisation import DropoutOp as DropoutOp
from .normalisation import GroupNormOp as GroupNormOp
from .normalisation import InstanceNormOp as InstanceNormOp
from .normalisation import L2NormalizeOp as L2NormalizeOp
from .normalisation import LayerNormOp as LayerNormOp
from .normalisation import RmsNormOp as RmsNormOp
from .pooling import AvgPool2dOp as AvgPool2dOp
from .pooling import MaxPool2dOp as MaxPool2dOp
from .reduction import AllOp as AllOp
from .reduction import AnyOp as AnyOp
from .reduction import ArgmaxOp as ArgmaxOp
from .reduction import ArgminOp as ArgminOp
from .reduction import LogSoftmaxOp as LogSoftmaxOp
from .reduction import MaxOp as MaxOp
from .reduction import MeanOp as MeanOp
from .reduction import MinOp as MinOp
from .reduction import ProdOp as ProdOp
from .reduction import SoftmaxOp as SoftmaxOp
from .reduction import SumOp as SumOp
from .sampling import ResampleOp as ResampleOp
from .sampling import SampleOp as SampleOp
from .scans import CumulativeProdOp as CumulativeProdOp
from .scans import CumulativeSumOp as CumulativeSumOp
from .sorting import TopKOp as TopKOp
from .trigonometry import AcoshOp as AcoshOp
from .trigonometry import AcosOp as AcosOp
from .trigonometry import AsinhOp as AsinhOp
from .trigonometry import AsinOp as AsinOp
from .trigonometry import AtanhOp as AtanhOp
from .trigonometry import AtanOp as AtanOp
from .trigonometry import CoshOp as CoshOp
from .trigonometry import SinhOp as SinhOp

FAMILIES: tuple[ModuleType, ...] = (
    elementwise,
    functions,
    trigonometry,
    binary,
    comparison,
    contraction,
    reduction,
    movement,
    indexing,
    sorting,
    scans,
    normalisation,
    pooling,
    sampling,
    constants,
    dynamic,
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
