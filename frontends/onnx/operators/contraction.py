"""Matrix products, pooling of everything."""

from __future__ import annotations

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter, direct
from ..value import Value

direct("MatMul", "matmul", inputs=2)


@converter("Gemm", since=7)
def gemm(
    b: GraphBuilder,
    x: Value,
    y: Value,
    z: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Value:
    """`alpha * op(x) @ op(y) + beta * z`. Unlike other products it takes matrices only."""
    if x.rank != 2 or y.rank != 2:
        raise ConversionError(f"the factors are {x.shaped} and {y.shaped}, expected two matrices")
    lhs = b.permute_dims(x, axes=(1, 0)) if transA else x
    rhs = b.permute_dims(y, axes=(1, 0)) if transB else y
    product = b.matmul(lhs, rhs)
    if alpha != 1:
        product = b.multiply(product, scale(product, alpha))
    if z is None or beta == 0:
        return product
    pairs = zip(z.shape[::-1], product.shape[::-1], strict=False)
    if z.rank > 2 or any(size not in (1, None, wanted) for size, wanted in pairs if wanted is not None):
        raise ConversionError(f"the summand is {z.shaped}, expected one that broadcasts to {product.shaped}")
    return b.add(product, z if beta == 1 else b.multiply(z, scale(z, beta)))


def scale(value: Value, factor: float) -> float | int:
    """A factor that an attribute holds as a float, as a number of the element type of `value`."""
    return factor if value.dtype.startswith(("f", "b")) else int(factor)


@converter("GlobalAveragePool")
def global_average_pool(b: GraphBuilder, x: Value) -> Value:
    return b.mean(x, axis=tuple(range(2, x.rank)), keepdims=True)


@converter("GlobalMaxPool")
def global_max_pool(b: GraphBuilder, x: Value) -> Value:
    return b.max(x, axis=tuple(range(2, x.rank)), keepdims=True)
