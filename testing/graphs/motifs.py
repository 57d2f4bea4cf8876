"""The motifs: small shapes of programs, each of interest to some pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr
from xdsl.ir import Operation, OpResult, Region, SSAValue

from ...dialects.traits import is_commutative
from .maker import (
    Flavour,
    Maker,
    dtype_of,
    is_float,
    shape_of,
)
from .single import (
    chain,
    elementwise,
    identities,
    integers,
    logic,
    movement,
    multiply_add,
    one_binary,
    one_unary,
    reductions,
    widening,
)

Motif = Callable[[Maker], None]


def weights_of(m: Maker, x: SSAValue, shape: tuple[int, ...], values: str = "small") -> SSAValue:
    """Weights of the element type of `x`: a constant, or an argument."""
    return m.constant(shape, dtype_of(x), values) if m.chance(0.5) else m.argument(shape, dtype_of(x))


def dense(m: Maker) -> None:
    """A matrix product with a sum after it."""
    x = m.any_float(rank=m.choose.choice((2, 2, 3)))
    rows = shape_of(x)[-1]
    if rows == DYNAMIC_INDEX:
        return
    columns = m.choose.choice((2, 3, 4))
    y = m.emit("matmul", x, weights_of(m, x, (rows, columns)))
    if m.chance(0.8):
        bias = weights_of(m, x, (columns,))
        y = m.emit("add", *((y, bias) if m.chance(0.5) else (bias, y)))
    chain(m, y, 2)


def scaled_dense(m: Maker) -> None:
    """A factor per column after a matrix product with known weights, or per row before it."""
    x = m.any_float(rank=2)
    rows = shape_of(x)[-1]
    if rows == DYNAMIC_INDEX:
        return
    columns = m.choose.choice((2, 3))
    before, sign = m.chance(0.4), "positive" if m.chance(0.7) else "small"
    if before:
        x = m.emit("multiply", x, m.constant((rows,), dtype_of(x), sign))
    y = m.emit("matmul", x, weights_of(m, x, (rows, columns)))
    if m.chance(0.3):
        y = m.emit("add", y, m.constant((columns,), dtype_of(x)))
    if m.chance(0.3):
        y = m.emit("relu", y)
    if not before:
        m.emit("multiply", y, m.constant((columns,), dtype_of(x), sign))


def parallel_dense(m: Maker) -> None:
    """Three or more products of one tensor, perhaps with the same ops after each."""
    x = m.any_float(rank=2)
    rows = shape_of(x)[-1]
    if rows == DYNAMIC_INDEX:
        return
    after, equal = m.choose.randrange(3), m.chance(0.5)
    for _ in range(m.choose.randrange(2, 5)):
        columns = 3 if equal else m.choose.choice((1, 2, 3))
        y = m.emit("matmul", x, weights_of(m, x, (rows, columns)))
        if after > 0:
            y = m.emit("add", y, weights_of(m, x, (columns,)))
        if after > 1:
            m.emit("relu", y)


def parallel_batches(m: Maker) -> None:
    """The same with batches of matrices."""
    x = m.any_float(rank=3)
    batch, _, rows = shape_of(x)
    if DYNAMIC_INDEX in (batch, rows):
        return
    for _ in range(m.choose.randrange(2, 5)):
        m.emit("matmul", x, weights_of(m, x, (batch, rows, m.choose.choice((1, 2, 3)))))


def kernel(m: Maker, x: SSAValue, outputs: int, size: int) -> SSAValue:
    return weights_of(m, x, (outputs, shape_of(x)[1], size, size))


def parallel_convolutions(m: Maker) -> None:
    x, size, after, mixed = m.image(), m.choose.choice((1, 3)), m.chance(0.5), m.chance(0.25)
    for _ in range(m.choose.randrange(2, 5)):
        outputs = m.choose.choice((1, 2, 4))
        padding = [m.choose.randrange(2) if mixed else size // 2] * 4
        y = m.emit("conv2d", x, kernel(m, x, outputs, size), padding=padding)
        if after:
            m.emit("add", y, weights_of(m, x, (outputs, 1, 1)))


def scaled_convolution(m: Maker) -> None:
    """A factor per channel before or after a convolution, through sums, relu and pools."""
    x = m.image()
    channels, before, sign = shape_of(x)[1], m.chance(0.5), "positive" if m.chance(0.7) else "small"
    if before:
        x = m.emit("multiply", x, m.constant((channels, 1, 1), dtype_of(x), sign))
        if m.chance(0.3):
            x = m.emit("relu", x)
        if m.chance(0.3):
            x = m.emit(
                m.choose.choice(("max_pool2d", *(() if m.flavour == "decided" else ("avg_pool2d",)))),
                x,
                pool_size=[2, 2],
            )
    size = m.choose.choice((1, 2))
    y = m.emit("conv2d", x, kernel(m, x, 2, size))
    if m.chance(0.3):
        y = m.emit("add", y, m.constant((2, 1, 1), dtype_of(x)))
    if m.chance(0.3):
        y = m.emit("relu", y)
    if not before:
        m.emit("multiply", y, m.constant((2, 1, 1), dtype_of(x), sign))


def bias(m: Maker) -> None:
    """bias_add after a convolution or alone."""
    x = m.image() if m.chance(0.5) else m.any_float(rank=2)
    if m.chance(0.5) and len(shape_of(x)) == 4:
        x = m.emit("conv2d", x, kernel(m, x, 2, 1))
    if shape_of(x)[1] != DYNAMIC_INDEX:
        m.emit("bias_add", x, weights_of(m, x, (shape_of(x)[1],)))


def norms(m: Maker) -> None:
    """One of the normalisations, with vectors that are constants or arguments."""
    x = m.image() if m.chance(0.6) else m.any_float(rank=2)
    shape = shape_of(x)
    channels, last = shape[1], shape[-1]
    if DYNAMIC_INDEX in (channels, last):
        return

    def vector(size: int, values: str = "small") -> Any:
        if values == "small":
            return weights_of(m, x, (size,), values)
        return m.constant((size,), dtype_of(x), values)

    options: list[Callable[[], Any]] = [
        lambda: m.emit(
            "batch_norm",
            x,
            vector(channels),
            vector(channels),
            vector(channels),
            vector(channels, "positive"),
        ),  # fmt: skip
        lambda: m.emit("layer_norm", x, vector(last), vector(last), epsilon=0.1),
        lambda: m.emit("rms_norm", x, vector(last), epsilon=0.1),
        lambda: m.emit("l2_normalize", x, axes=[1], epsilon=0.1),
    ]
    if len(shape) == 4:
        options.append(lambda: m.emit("instance_norm", x, vector(channels), vector(channels), epsilon=0.1))
        options.append(
            lambda: m.emit(
                "group_norm",
                x,
                vector(channels),
                vector(channels),
                num_groups=2 if channels % 2 == 0 else 1,
                epsilon=0.1,
            )
        )
    y = m.choose.choice(options)()
    if m.chance(0.3):
        m.emit("relu", y)


def dropout(m: Maker) -> None:
    y = m.emit("dropout", m.any_float(), rate=0.25)
    if m.chance(0.7):
        assert isinstance(y, OpResult)
        m.values.remove(y.op.results[1])
    one_unary(m, y)


def constants(m: Maker) -> None:
    """An expression of constants, joined to the rest."""
    x = m.any_float()
    shape = tuple(1 if size == DYNAMIC_INDEX else size for size in shape_of(x))
    known = one_unary(m, m.constant(shape, dtype_of(x)))
    if m.chance(0.5):
        known = one_binary(m, known, m.constant(shape, dtype_of(x)))
    one_binary(m, x, known)


def again(m: Maker) -> None:
    """Ops that exist already once more, operands swapped where that is the same."""
    ops = [op for op in m.block.ops if op.name.startswith("graph.") and not op.regions and op.operands]
    for op in m.choose.sample(ops, min(2, len(ops))):
        copy = op.clone()
        alike = len({operand.type for operand in op.operands}) == 1
        if (is_commutative(op) and m.chance(0.5)) or (alike and m.chance(0.3)):
            copy.operands = [*reversed(copy.operands)]
            if not is_commutative(op) and len(op.operands) > 2:
                copy.operands = op.operands
        y = m.add(copy)
        if m.chance(0.5) and is_float(y):
            one_unary(m, y)


def dead(m: Maker) -> None:
    m.dead.add(chain(m, one_unary(m, m.any_float()), 2))


def helper_body(m: Maker, args: tuple[SSAValue, ...]) -> SSAValue:
    """A body over its arguments alone."""
    y = one_binary(m, args[0], m.choose.choice(args))
    return one_unary(m, y) if m.chance(0.5) else m.emit("add", m.emit("multiply", y, args[0]), args[-1])


def calls(m: Maker) -> None:
    """A private function, fused or plain, called once or twice, or not at all."""
    x, count = m.any_float(), m.choose.choice((0, 0, 1, 2))
    arguments = [x.type, x.type][: m.choose.randrange(1, 3)]
    function = m.function(arguments, lambda args: helper_body(m, args), primitive=m.chance(0.6))
    result = function.function_type.outputs.data[0]
    for _ in range(count):
        operands = [x, *(m.pick(lambda v: v.type == x.type) or x for _ in arguments[1:])]
        m.add(func.CallOp(function.sym_name.data, operands, [result]))


def branch(m: Maker) -> None:
    """A branch on a scalar. Values that only it needs are computed before."""
    x = m.any_float()
    condition, only = m.condition(), one_unary(m, one_binary(m, x, m.partner(x)) if m.chance(0.5) else x)
    if dtype_of(only) != dtype_of(x):
        return
    m.values.remove(only)

    def fill(value: SSAValue) -> Callable[[tuple[SSAValue, ...]], SSAValue]:
        def inner(_: tuple[SSAValue, ...]) -> SSAValue:
            y = one_unary(m, value)
            if m.chance(0.4):
                y = one_binary(m, y, value)
            return m.emit("add", y, value) if y.type == value.type else y

        return inner

    other = only if m.chance(0.2) else m.pick(lambda v: v.type == only.type) or only
    blocks = [m.nested([], fill(value), isolated=False) for value in m.choose.sample([only, other], 2)]
    types = [block.last_op.operands[0].type for block in blocks if block.last_op is not None]
    if types[0] != types[1]:
        for block in blocks:
            Region(block)
        return
    m.add(scf.IfOp(condition, [types[0]], Region(blocks[0]), Region(blocks[1])))


def risky_branch(m: Maker) -> None:
    """A division that may fail before a branch that alone needs it."""
    x = m.argument((3,), "i32")
    quotient = m.emit("divide", x, m.argument((3,), "i32", "small" if m.flavour == "any" else "divisor"))
    m.values.remove(quotient)
    blocks = [
        m.nested([], lambda _, value=value: m.emit("negative", value), isolated=False)
        for value in m.choose.sample([quotient, x], 2)
    ]
    m.add(scf.IfOp(m.condition(), [x.type], Region(blocks[0]), Region(blocks[1])))


def loop(m: Maker) -> None:
    """A loop of a few steps over one tensor."""
    x = m.any_float()
    bounds: list[Operation] = [arith.ConstantOp(IntegerAttr(number, IndexType())) for number in (0, 2, 1)]
    m.block.add_ops(bounds)
    low, high, step = (op.results[0] for op in bounds)

    def fill(args: tuple[SSAValue, ...]) -> SSAValue:
        y = one_unary(m, args[1])
        return (
            m.emit("multiply", y, m.parsed(f"graph.full 0.5 : tensor<{dtype_of(x)}>")) if y.type == x.type else args[1]
        )

    body = m.nested([IndexType(), x.type], fill, isolated=False)
    m.add(scf.ForOp(low, high, step, [x], body))


EVERYWHERE: Final[dict[Motif, int]] = {
    elementwise: 3,
    multiply_add: 3,
    identities: 6,
    integers: 2,
    logic: 2,
    widening: 3,
    reductions: 2,
    movement: 3,
    constants: 3,
    again: 3,
    dead: 2,
    calls: 5,
    branch: 4,
    risky_branch: 3,
    loop: 1,
}
SUMS: Final[dict[Motif, int]] = {
    dense: 3,
    scaled_dense: 4,
    parallel_dense: 5,
    parallel_batches: 5,
    parallel_convolutions: 5,
    scaled_convolution: 5,
    bias: 3,
    norms: 5,
    dropout: 5,
}


def motifs(flavour: Flavour) -> dict[Motif, int]:
    """The motifs of a flavour by how often they are taken."""
    return EVERYWHERE if flavour == "decided" else {**EVERYWHERE, **SUMS}


__all__ = ["motifs"]
