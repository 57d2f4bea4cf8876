"""
The graph dialect: pure operations on whole tensors.

| file | ops |
|---|---|
| `elementwise.py` | one operand: `negative floor isnan clip astype` … |
| `functions.py` | one operand: `exp sqrt tanh sigmoid relu` … |
| `trigonometry.py` | one operand: `sinh asin atanh` … |
| `binary.py` | two or three, broadcasting: `add divide power maximum ewise_fma` … |
| `comparison.py` | two or three, broadcasting: `less logical_and bitwise_or left_shift where` … |
| `contraction.py` | `matmul conv2d` |
| `reduction.py` | `sum mean max argmax softmax` … |
| `movement.py` | `permute_dims reshape concat split strided_slice pad take` … |
| `indexing.py` | `take_along_axis gather_nd scatter_elements scatter_nd` |
| `sorting.py` | `top_k` |
| `scans.py` | `cumulative_sum cumulative_prod` |
| `normalisation.py` | `batch_norm layer_norm bias_add instance_norm group_norm l2_normalize rms_norm dropout` |
| `pooling.py` | `max_pool2d avg_pool2d` |
| `quantisation.py` | `quantize dequantize matmul_packed` |
| `sampling.py` | `resample sample pool_regions` |
| `constants.py` | `constant full weight` |
| `dynamic.py` | `shape_of dynamic_reshape dynamic_broadcast_to dynamic_slice dynamic_pad arange` |
| `calls.py` | `call_kernel` |

The other files hold what the ops share.

| file | subject |
|---|---|
| `base.py` | the base classes of the ops |
| `signature.py` | operands and results |
| `properties.py` | the kinds of properties |
| `syntax.py` | the printed form |
| `shapes.py` | the shape algebra |
| `element_types.py` | the element types |
| `numerals.py`, `literals.py` | the text of numbers and constants |
| `templates.py`, `*_loops.py` | the loops of ops that no formula per element describes |
| `builder.py`, `mutator.py` | building and rewriting graphs from Python |
| `values.py`, `indices.py`, `operands.py` | operators on values, numbers and arrays as operands |
| `methods.py` | the methods of the builder that are named after ops |
| `places.py` | lines of Python in messages |
| `documentation.py` | the page docs/graph.md |
| `families.py` | the modules that define ops, and the dialect |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .base import (
    GraphOp,
    PureGraphOp,
    PureTemplateOp,
    TemplateOp,
    TensorOp,
    infer_result_types,
    plain_properties,
    te_operands,
)
from .binary import (
    AddOp,
    DivideOp,
    EwiseFmaOp,
    FloorDivideOp,
    MaximumOp,
    MinimumOp,
    ModOp,
    MultiplyOp,
    PowerOp,
    SubtractOp,
)
from .calls import CallKernelOp
from .comparison import (
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LeftShiftOp,
    LessEqualOp,
    LessOp,
    LogicalAndOp,
    LogicalOrOp,
    LogicalXorOp,
    NotEqualOp,
    RightShiftOp,
    WhereOp,
)
from .constants import ConstantOp, FullOp, WeightOp
from .contraction import Conv2dOp, MatmulOp
from .elementwise import (
    AbsOp,
    AstypeOp,
    BitcastOp,
    BitwiseNotOp,
    CeilOp,
    ClipOp,
    FloorOp,
    IsfiniteOp,
    IsinfOp,
    IsnanOp,
    LogicalNotOp,
    NegativeOp,
    RoundOp,
    SignOp,
    SquareOp,
    TruncOp,
)
from .families import FAMILIES as FAMILIES
from .families import Graph
from .families import ops_of as ops_of
from .functions import (
    CosOp,
    ErfOp,
    Exp2Op,
    Expm1Op,
    ExpOp,
    GeluOp,
    LeakyReluOp,
    Log1pOp,
    Log2Op,
    Log10Op,
    LogOp,
    ReluOp,
    RsqrtOp,
    SigmoidOp,
    SiluOp,
    SinOp,
    SqrtOp,
    TanhOp,
    TanOp,
)
from .indexing import GatherNdOp, ScatterElementsOp, ScatterNdOp, TakeAlongAxisOp
from .movement import (
    BroadcastToOp,
    ConcatOp,
    ExpandDimsOp,
    PadOp,
    PermuteDimsOp,
    ReshapeOp,
    SplitOp,
    SqueezeOp,
    StridedSliceOp,
    TakeOp,
)
from .normal_form import AXES, AXIS
from .normalisation import (
    BatchNormOp,
    BiasAddOp,
    DropoutOp,
    GroupNormOp,
    InstanceNormOp,
    L2NormalizeOp,
    LayerNormOp,
    RmsNormOp,
)
from .pooling import AvgPool2dOp, MaxPool2dOp
from .properties import BOOL, ELEMENT_TYPE, FLOAT, INTEGER, INTEGERS, NUMBER, PropertyKind, optional_prop, prop
from .quantisation import DequantizeOp, MatmulPackedOp, QuantizeOp, RequantizeOp
from .reduction import AllOp, AnyOp, ArgmaxOp, ArgminOp, LogSoftmaxOp, MaxOp, MeanOp, MinOp, ProdOp, SoftmaxOp, SumOp
from .sampling import PoolRegionsOp, ResampleOp, SampleOp
from .scans import CumulativeProdOp, CumulativeSumOp
from .shapes import Shaped, ShapeError
from .shapes import text as shape_text
from .signature import tensor_operand, tensor_operands, tensor_result, tensor_results
from .sorting import TopKOp
from .trigonometry import AcoshOp, AcosOp, AsinhOp, AsinOp, AtanhOp, AtanOp, CoshOp, SinhOp

if TYPE_CHECKING:
    from .builder import BuilderError, GraphBuilder
    from .mutator import GraphMutator

_BUILDING = {"BuilderError": ".places", "GraphBuilder": ".builder", "GraphMutator": ".mutator"}
"""What only those need who build graphs in Python. It is loaded on first use."""


def __getattr__(name: str) -> Any:
    if name not in _BUILDING:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(_BUILDING[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_BUILDING})


__all__ = [
    "AXES",
    "AXIS",
    "AbsOp",
    "AcosOp",
    "AcoshOp",
    "AddOp",
    "AllOp",
    "AnyOp",
    "ArgmaxOp",
    "ArgminOp",
    "AsinOp",
    "AsinhOp",
    "AstypeOp",
    "AtanOp",
    "AtanhOp",
    "AvgPool2dOp",
    "BOOL",
    "BatchNormOp",
    "BiasAddOp",
    "BitcastOp",
    "BitwiseAndOp",
    "BitwiseNotOp",
    "BitwiseOrOp",
    "BitwiseXorOp",
    "BroadcastToOp",
    "BuilderError",
    "CallKernelOp",
    "CeilOp",
    "ClipOp",
    "ConcatOp",
    "ConstantOp",
    "Conv2dOp",
    "CosOp",
    "CoshOp",
    "CumulativeProdOp",
    "CumulativeSumOp",
    "DequantizeOp",
    "DivideOp",
    "DropoutOp",
    "ELEMENT_TYPE",
    "EqualOp",
    "ErfOp",
    "EwiseFmaOp",
    "Exp2Op",
    "ExpOp",
    "ExpandDimsOp",
    "Expm1Op",
    "FLOAT",
    "FloorDivideOp",
    "FloorOp",
    "FullOp",
    "GatherNdOp",
    "GeluOp",
    "Graph",
    "GraphBuilder",
    "GraphMutator",
    "GraphOp",
    "GreaterEqualOp",
    "GreaterOp",
    "GroupNormOp",
    "INTEGER",
    "INTEGERS",
    "InstanceNormOp",
    "IsfiniteOp",
    "IsinfOp",
    "IsnanOp",
    "L2NormalizeOp",
    "LayerNormOp",
    "LeakyReluOp",
    "LeftShiftOp",
    "LessEqualOp",
    "LessOp",
    "Log10Op",
    "Log1pOp",
    "Log2Op",
    "LogOp",
    "LogSoftmaxOp",
    "LogicalAndOp",
    "LogicalNotOp",
    "LogicalOrOp",
    "LogicalXorOp",
    "MatmulOp",
    "MatmulPackedOp",
    "MaxOp",
    "MaxPool2dOp",
    "MaximumOp",
    "MeanOp",
    "MinOp",
    "MinimumOp",
    "ModOp",
    "MultiplyOp",
    "NUMBER",
    "NegativeOp",
    "NotEqualOp",
    "PadOp",
    "PermuteDimsOp",
    "PoolRegionsOp",
    "PowerOp",
    "ProdOp",
    "PropertyKind",
    "PureGraphOp",
    "PureTemplateOp",
    "QuantizeOp",
    "ReluOp",
    "RequantizeOp",
    "ResampleOp",
    "ReshapeOp",
    "RightShiftOp",
    "RmsNormOp",
    "RoundOp",
    "RsqrtOp",
    "SampleOp",
    "ScatterElementsOp",
    "ScatterNdOp",
    "ShapeError",
    "Shaped",
    "SigmoidOp",
    "SignOp",
    "SiluOp",
    "SinOp",
    "SinhOp",
    "SoftmaxOp",
    "SplitOp",
    "SqrtOp",
    "SquareOp",
    "SqueezeOp",
    "StridedSliceOp",
    "SubtractOp",
    "SumOp",
    "TakeAlongAxisOp",
    "TakeOp",
    "TanOp",
    "TanhOp",
    "TemplateOp",
    "TensorOp",
    "TopKOp",
    "TruncOp",
    "WeightOp",
    "WhereOp",
    "infer_result_types",
    "optional_prop",
    "plain_properties",
    "prop",
    "shape_text",
    "te_operands",
    "tensor_operand",
    "tensor_operands",
    "tensor_result",
    "tensor_results",
]
