# Made by STEPWELL_UPDATE_DOCS=1 pytest test/unit/dialects/test_builder_methods.py; do not edit.

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Dialect, Operation, SSAValue

Value = Any
"""A value with operators."""

Operand = Any
"""A value, an op with one result, a number, a list of numbers, or an array."""

def add_methods(cls: type, ops: Sequence[type[Operation]]) -> None: ...
def method_names(ops: Sequence[type[Operation]]) -> dict[str, type[Operation]]: ...
def method_of(op_type: type[Operation]) -> Callable[..., Any]: ...
def signature_of(op_type: type[Operation]) -> inspect.Signature: ...

class DialectMethods:
    def __init__(self, builder: OpMethods, dialect: Dialect) -> None: ...
    def __getattr__(self, name: str) -> Callable[..., Any]: ...

class OpMethods:
    is_building: bool
    def _add(
        self, op: Operation, names: Sequence[str], where: FileLineColLoc, before: Sequence[Operation] = ()
    ) -> Any: ...
    def negative(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def abs(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def sign(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def square(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def floor(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def ceil(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def trunc(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def round(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def logical_not(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def bitwise_not(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def isnan(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def isinf(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def isfinite(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def clip(
        self,
        operand: Operand,
        min: Any = None,
        max: Any = None,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def astype(self, operand: Operand, dtype: Any, *, name: str | Sequence[str] | None = None) -> Value: ...
    def bitcast(self, operand: Operand, dtype: Any, *, name: str | Sequence[str] | None = None) -> Value: ...
    def exp(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def exp2(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def expm1(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def log(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def log2(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def log10(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def log1p(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def sqrt(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def rsqrt(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def sin(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def cos(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def tan(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def tanh(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def erf(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def sigmoid(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def silu(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def gelu(
        self,
        operand: Operand,
        approximate: str = "none",
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def relu(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def leaky_relu(
        self,
        operand: Operand,
        alpha: float = 0.01,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def sinh(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def cosh(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def asin(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def acos(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def atan(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def asinh(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def acosh(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def atanh(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def add(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def subtract(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def multiply(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def divide(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def floor_divide(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def mod(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def power(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def maximum(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def minimum(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def ewise_fma(self, x: Operand, y: Operand, z: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def equal(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def not_equal(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def less(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def less_equal(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def greater(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def greater_equal(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def logical_and(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def logical_or(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def logical_xor(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def bitwise_and(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def bitwise_or(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def bitwise_xor(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def left_shift(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def right_shift(self, lhs: Operand, rhs: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def where(
        self,
        condition: Operand,
        x: Operand,
        y: Operand,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def matmul(
        self,
        lhs: Operand,
        rhs: Operand,
        out_dtype: Any = None,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def conv2d(
        self,
        data: Operand,
        filter: Operand,
        strides: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
        groups: int = 1,
        data_layout: str = "NCHW",
        kernel_layout: str = "OIHW",
        out_dtype: Any = None,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def sum(
        self,
        operand: Operand,
        axis: Any = None,
        keepdims: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def prod(
        self,
        operand: Operand,
        axis: Any = None,
        keepdims: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def mean(
        self,
        operand: Operand,
        axis: Any = None,
        keepdims: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def max(
        self,
        operand: Operand,
        axis: Any = None,
        keepdims: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def min(
        self,
        operand: Operand,
        axis: Any = None,
        keepdims: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def any(
        self,
        operand: Operand,
        axis: Any = None,
        keepdims: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def all(
        self,
        operand: Operand,
        axis: Any = None,
        keepdims: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def argmax(
        self,
        operand: Operand,
        axis: Any = None,
        keepdims: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def argmin(
        self,
        operand: Operand,
        axis: Any = None,
        keepdims: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def softmax(self, operand: Operand, axis: int = -1, *, name: str | Sequence[str] | None = None) -> Value: ...
    def log_softmax(self, operand: Operand, axis: int = -1, *, name: str | Sequence[str] | None = None) -> Value: ...
    def permute_dims(self, operand: Operand, axes: Any = None, *, name: str | Sequence[str] | None = None) -> Value: ...
    def reshape(self, operand: Operand, shape: Any, *, name: str | Sequence[str] | None = None) -> Value: ...
    def expand_dims(self, operand: Operand, axis: Any, *, name: str | Sequence[str] | None = None) -> Value: ...
    def squeeze(self, operand: Operand, axis: Any = None, *, name: str | Sequence[str] | None = None) -> Value: ...
    def broadcast_to(self, operand: Operand, shape: Any, *, name: str | Sequence[str] | None = None) -> Value: ...
    def concat(self, *inputs: Operand, axis: int = 0, name: str | Sequence[str] | None = None) -> Value: ...
    def split(
        self,
        operand: Operand,
        sections: Any = None,
        indices: Any = None,
        axis: int = 0,
        *,
        name: str | Sequence[str] | None = None,
    ) -> tuple[Value, ...]: ...
    def strided_slice(
        self,
        operand: Operand,
        axes: Any,
        begin: Any,
        end: Any,
        strides: Any = None,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def pad(
        self,
        operand: Operand,
        pad_width: Any,
        value: int = 0,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def take(
        self,
        operand: Operand,
        indices: Operand,
        axis: Any,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def take_along_axis(
        self,
        operand: Operand,
        indices: Operand,
        axis: Any,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def gather_nd(
        self,
        operand: Operand,
        indices: Operand,
        batch_dims: int = 0,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def scatter_elements(
        self,
        operand: Operand,
        indices: Operand,
        updates: Operand,
        axis: Any,
        reduction: str = "none",
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def scatter_nd(
        self,
        operand: Operand,
        indices: Operand,
        updates: Operand,
        reduction: str = "none",
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def top_k(
        self,
        operand: Operand,
        k: Any,
        axis: int = -1,
        largest: bool = True,
        *,
        name: str | Sequence[str] | None = None,
    ) -> tuple[Value, ...]: ...
    def cumulative_sum(
        self,
        operand: Operand,
        axis: Any,
        exclusive: bool = False,
        reverse: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def cumulative_prod(
        self,
        operand: Operand,
        axis: Any,
        exclusive: bool = False,
        reverse: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def batch_norm(
        self,
        operand: Operand,
        gamma: Operand,
        beta: Operand,
        mean: Operand,
        var: Operand,
        axis: int = 1,
        epsilon: float = 1e-05,
        *,
        name: str | Sequence[str] | None = None,
    ) -> tuple[Value, ...]: ...
    def layer_norm(
        self,
        operand: Operand,
        gamma: Operand,
        beta: Operand,
        axes: Sequence[int] = (-1,),
        epsilon: float = 1e-05,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def bias_add(
        self,
        operand: Operand,
        bias: Operand,
        axis: int = 1,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def instance_norm(
        self,
        operand: Operand,
        gamma: Operand,
        beta: Operand,
        axis: int = 1,
        epsilon: float = 1e-05,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def group_norm(
        self,
        operand: Operand,
        gamma: Operand,
        beta: Operand,
        num_groups: Any,
        axis: int = 1,
        epsilon: float = 1e-05,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def l2_normalize(
        self,
        operand: Operand,
        axes: Sequence[int] = (-1,),
        epsilon: float = 1e-12,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def rms_norm(
        self,
        operand: Operand,
        gamma: Operand,
        axes: Sequence[int] = (-1,),
        epsilon: float = 1e-05,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def dropout(
        self,
        operand: Operand,
        rate: float = 0.5,
        *,
        name: str | Sequence[str] | None = None,
    ) -> tuple[Value, ...]: ...
    def max_pool2d(
        self,
        operand: Operand,
        pool_size: Any,
        strides: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
        layout: str = "NCHW",
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def avg_pool2d(
        self,
        operand: Operand,
        pool_size: Any,
        count_include_pad: bool = False,
        strides: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
        layout: str = "NCHW",
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def quantize(
        self,
        operand: Operand,
        scale: Operand,
        zero_point: Operand,
        axis: int = 1,
        block_size: int = 0,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def dequantize(
        self,
        operand: Operand,
        scale: Operand,
        zero_point: Operand,
        axis: int = 1,
        block_size: int = 0,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def requantize(
        self,
        operand: Operand,
        multiplier: Operand,
        zero_point: Operand,
        axis: int = 1,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def matmul_packed(
        self,
        operand: Operand,
        weights: Operand,
        scale: Operand,
        zero_point: Operand,
        bits: int = 4,
        block_size: int = 32,
        rounded_bits: int = 0,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def resample(
        self,
        operand: Operand,
        indices: Operand,
        weights: Operand,
        axis: Any,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def sample(
        self,
        operand: Operand,
        points: Operand,
        mode: str = "linear",
        padding: str = "zeros",
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def pool_regions(
        self,
        operand: Operand,
        images: Operand,
        rows: Operand,
        columns: Operand,
        reduction: str = "sum",
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def full(
        self,
        value: Any,
        type_: Attribute | str,
        *,
        attributes: Mapping[str, Attribute] | None = None,
        name: str | Sequence[str] | None = None,
    ) -> Any: ...
    def weight(
        self,
        key: str | StringAttr,
        type_: Attribute | str,
        *,
        attributes: Mapping[str, Attribute] | None = None,
        name: str | Sequence[str] | None = None,
    ) -> Any: ...
    def shape_of(self, operand: Operand, *, name: str | Sequence[str] | None = None) -> Value: ...
    def dynamic_reshape(
        self,
        operand: Operand,
        shape: Operand,
        copy_zeros: bool = False,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def dynamic_broadcast_to(
        self,
        operand: Operand,
        shape: Operand,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def dynamic_slice(
        self,
        operand: Operand,
        begin: Operand,
        end: Operand,
        strides: Operand,
        axes: Any,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def dynamic_pad(
        self,
        operand: Operand,
        pad_width: Operand,
        value: int = 0,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def arange(
        self,
        start: Operand,
        limit: Operand,
        delta: Operand,
        *,
        name: str | Sequence[str] | None = None,
    ) -> Value: ...
    def call_kernel(
        self,
        callee: str | SymbolRefAttr,
        operands: Sequence[SSAValue | Operation],
        result_types: Sequence[Attribute],
        *,
        attributes: Mapping[str, Attribute] | None = None,
        name: str | Sequence[str] | None = None,
    ) -> Any: ...
