"""Normalisation and related ops: shifts and scales by statistics and by vectors along an axis."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from .base import NUMBERS, PureGraphOp, tensor_operand, tensor_result
from .normal_form import AXES, AXIS
from .properties import FLOAT, INTEGER, prop
from .shapes import Shape, Shaped, ShapeError, compatible, normalise_axes, normalise_axis, text


def _check_vector(name: str, shaped: Shaped, expected: Shape, of: str) -> None:
    if not compatible(shaped.shape, expected):
        raise ShapeError(f"{name} is {text(shaped.shape)}, expected {text(expected)}: the extents of {of}")


def _check_over_axes(x: Shaped, axes: tuple[int, ...], *vectors: tuple[str, Shaped]) -> None:
    """Raises `ShapeError` unless `axes` increase and each named tensor has their extents."""
    positions = normalise_axes(axes, len(x.shape), "axes entry")
    shown = f"[{', '.join(map(str, axes))}]"
    if not positions or list(positions) != sorted(positions):
        raise ShapeError(f"axes is {shown}, expected at least one axis, in increasing order")
    expected = tuple(x.shape[position] for position in positions)
    for name, vector in vectors:
        _check_vector(name, vector, expected, f"axes {shown} of {text(x.shape)}")


@irdl_op_definition
class BatchNormOp(PureGraphOp):
    """
    Computes batch normalisation as in inference, `result = (x - mean) / sqrt(var + epsilon) * gamma + beta` along
    `axis`.

    Shapes: `gamma`, `beta`, `mean` and `var` are vectors as long as `axis` of `x`. The other two results are `mean` and
    `var`, unchanged.
    Numerics: f16 and bf16 are computed in f32.

    ```mlir
    %y, %m, %v = graph.batch_norm %x, %gamma, %beta, %mean, %var
        : (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
        -> (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
    ```

    Source: Ioffe, Szegedy, *Batch normalization*, 2015.
    """

    name = "graph.batch_norm"

    operand = tensor_operand("F")
    gamma = tensor_operand("F")
    beta = tensor_operand("F")
    mean = tensor_operand("F")
    var = tensor_operand("F")
    axis = prop(AXIS, 1)
    epsilon = prop(FLOAT, 1e-5)
    result = tensor_result()
    mean_result = tensor_result()
    var_result = tensor_result()

    @classmethod
    def infer(
        cls,
        x: Shaped,
        gamma: Shaped,
        beta: Shaped,
        mean: Shaped,
        var: Shaped,
        *,
        axis: int,
        epsilon: float,
    ) -> tuple[Shaped, ...]:
        position = normalise_axis(axis, len(x.shape))
        for name, vector in (("gamma", gamma), ("beta", beta), ("mean", mean), ("var", var)):
            _check_vector(name, vector, x.shape[position : position + 1], f"axis {axis} of {text(x.shape)}")
        return x, mean, var


@irdl_op_definition
class LayerNormOp(PureGraphOp):
    """
    Computes layer normalisation, `result = (x - mean) / sqrt(var + epsilon) * gamma + beta`.

    The mean and the biased variance are those of `x` over `axes`.

    Shapes: `gamma` and `beta` have the extents of `axes`, which are in increasing order.
    Numerics: f16 and bf16 are computed in f32. The order of summation is unspecified.

    ```mlir
    %y = graph.layer_norm %x, %gamma, %beta : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    Source: Ba, Kiros, Hinton, *Layer normalization*, 2016.
    """

    name = "graph.layer_norm"

    operand = tensor_operand("F")
    gamma = tensor_operand("F")
    beta = tensor_operand("F")
    axes = prop(AXES, [-1])
    epsilon = prop(FLOAT, 1e-5)
    result = tensor_result()

    @classmethod
    def infer(
        cls, x: Shaped, gamma: Shaped, beta: Shaped, *, axes: tuple[int, ...], epsilon: float
    ) -> tuple[Shaped, ...]:
        _check_over_axes(x, axes, ("gamma", gamma), ("beta", beta))
        return (x,)


@irdl_op_definition
class BiasAddOp(PureGraphOp):
    """
    Computes `result = x + bias` with the vector `bias` along `axis`.

    Shapes: `bias` is as long as `axis` of `x`, and the result has the shape of `x`.
    Numerics: as in `graph.add`.

    ```mlir
    %y = graph.bias_add %x, %bias : (tensor<1x3x4x4xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
    ```
    """

    name = "graph.bias_add"

    operand = tensor_operand(NUMBERS)
    bias = tensor_operand(NUMBERS)
    axis = prop(AXIS, 1)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, bias: Shaped, *, axis: int) -> tuple[Shaped, ...]:
        position = normalise_axis(axis, len(x.shape))
        _check_vector("bias", bias, x.shape[position : position + 1], f"axis {axis} of {text(x.shape)}")
        return (x,)


def _channel_axis(x: Shaped, axis: int, gamma: Shaped, beta: Shaped) -> int:
    """
    Returns the axis of the channels of a batch, counted from the front.

    Raises `ShapeError` unless `gamma` and `beta` are as long as that axis.
    """
    position = normalise_axis(axis, len(x.shape))
    if position == 0:
        raise ShapeError(f"axis {axis} of {text(x.shape)} is the batch, expected the channels")
    for name, vector in (("gamma", gamma), ("beta", beta)):
        _check_vector(name, vector, x.shape[position : position + 1], f"axis {axis} of {text(x.shape)}")
    return position


@irdl_op_definition
class InstanceNormOp(PureGraphOp):
    """
    Computes instance normalisation, `result = (x - mean) / sqrt(var + epsilon) * gamma + beta`.

    The mean and the biased variance are those over all axes but the batch (0) and the channels (`axis`).

    Shapes: `gamma` and `beta` are vectors as long as `axis` of `x`.
    Numerics: f16 and bf16 are computed in f32. The order of summation is unspecified.

    ```mlir
    %y = graph.instance_norm %x, %gamma, %beta : (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
        -> tensor<1x3x4x4xf32>
    ```

    Source: Ulyanov, Vedaldi, Lempitsky, *Instance normalization*, 2016.
    """

    name = "graph.instance_norm"

    operand = tensor_operand("F")
    gamma = tensor_operand("F")
    beta = tensor_operand("F")
    axis = prop(AXIS, 1)
    epsilon = prop(FLOAT, 1e-5)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, gamma: Shaped, beta: Shaped, *, axis: int, epsilon: float) -> tuple[Shaped, ...]:
        _channel_axis(x, axis, gamma, beta)
        return (x,)


@irdl_op_definition
class GroupNormOp(PureGraphOp):
    """
    Computes group normalisation, `result = (x - mean) / sqrt(var + epsilon) * gamma + beta`.

    The channels (`axis`) are cut into `num_groups` equal runs. The mean and the biased variance are those of one run of
    one element of the batch (axis 0).

    Shapes: `gamma` and `beta` are vectors as long as `axis` of `x`, which is a multiple of `num_groups`.
    Numerics: f16 and bf16 are computed in f32. The order of summation is unspecified.

    ```mlir
    %y = graph.group_norm %x, %gamma, %beta, num_groups = 2 : (tensor<1x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>)
        -> tensor<1x6x4x4xf32>
    ```

    Source: Wu, He, *Group normalization*, 2018.
    """

    name = "graph.group_norm"

    operand = tensor_operand("F")
    gamma = tensor_operand("F")
    beta = tensor_operand("F")
    num_groups = prop(INTEGER)
    axis = prop(AXIS, 1)
    epsilon = prop(FLOAT, 1e-5)
    result = tensor_result()

    @classmethod
    def infer(
        cls, x: Shaped, gamma: Shaped, beta: Shaped, *, num_groups: int, axis: int, epsilon: float
    ) -> tuple[Shaped, ...]:
        channels = x.shape[_channel_axis(x, axis, gamma, beta)]
        if num_groups < 1:
            raise ShapeError(f"num_groups is {num_groups}, expected at least 1")
        if channels is not None and channels % num_groups != 0:
            raise ShapeError(f"{channels} channels do not divide into {num_groups} groups")
        return (x,)


@irdl_op_definition
class L2NormalizeOp(PureGraphOp):
    """
    Divides by the Euclidean norm over `axes`, `result = x / sqrt(max(sum of x * x, epsilon))`.

    Numerics: f16 and bf16 are computed in f32. The order of summation is unspecified. The bound
    `epsilon` keeps rows of zeros zero.

    ```mlir
    %y = graph.l2_normalize %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.l2_normalize"

    operand = tensor_operand("F")
    axes = prop(AXES, [-1])
    epsilon = prop(FLOAT, 1e-12)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, axes: tuple[int, ...], epsilon: float) -> tuple[Shaped, ...]:
        if not normalise_axes(axes, len(x.shape), "axes entry"):
            raise ShapeError("axes is [], expected at least one axis")
        return (x,)


@irdl_op_definition
class RmsNormOp(PureGraphOp):
    """
    Normalises by the root mean square over `axes`, `result = x / sqrt(mean of x * x + epsilon) * gamma`.

    Shapes: `gamma` has the extents of `axes`, which are in increasing order.
    Numerics: f16 and bf16 are computed in f32. The order of summation is unspecified.

    ```mlir
    %y = graph.rms_norm %x, %gamma : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    Source: Zhang, Sennrich, *Root mean square layer normalization*, 2019.
    """

    name = "graph.rms_norm"

    operand = tensor_operand("F")
    gamma = tensor_operand("F")
    axes = prop(AXES, [-1])
    epsilon = prop(FLOAT, 1e-5)
    result = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, gamma: Shaped, *, axes: tuple[int, ...], epsilon: float) -> tuple[Shaped, ...]:
        _check_over_axes(x, axes, ("gamma", gamma))
        return (x,)


@irdl_op_definition
class DropoutOp(PureGraphOp):
    """
    Returns `x` and a mask of the elements that are kept. As in inference nothing is dropped, so the mask is true
    everywhere.

    `rate` is the part that training would drop, `0 <= rate < 1`.

    ```mlir
    %y, %mask = graph.dropout %x : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
    ```

    Source: Srivastava et al., *Dropout*, 2014.
    """

    name = "graph.dropout"

    operand = tensor_operand("F")
    rate = prop(FLOAT, 0.5)
    result = tensor_result()
    mask = tensor_result()

    @classmethod
    def infer(cls, x: Shaped, *, rate: float) -> tuple[Shaped, ...]:
        if not 0 <= rate < 1:
            raise ShapeError(f"rate is {rate:g}, expected at least 0 and less than 1")
        return x, Shaped(x.shape, "i1")
