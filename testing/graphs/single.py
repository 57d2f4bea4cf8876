"""Motifs of single ops and of identities between them, and the ops that other motifs are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ...core.ir.element_types import ATTRIBUTES
from .maker import (
    DECIDED_BINARY,
    DECIDED_UNARY,
    INTEGER_BINARY,
    SMOOTH_BINARY,
    SMOOTH_UNARY,
    UNDECIDED_UNARY,
    Maker,
    dtype_of,
    shape_of,
)

WIDER: Final = {
    "f16": "f32",
    "bf16": "f32",
    "f32": "f64",
    "i8": "i32",
    "i16": "i64",
    "i32": "i64",
    "ui8": "i32",
    "i1": "i32",
}


def one_unary(m: Maker, x: SSAValue) -> SSAValue:
    names = SMOOTH_UNARY if m.smooth else (*DECIDED_UNARY, *(UNDECIDED_UNARY if m.undecided else ()))
    return m.emit(m.choose.choice(names), x)


def one_binary(m: Maker, x: SSAValue, y: SSAValue) -> SSAValue:
    names = SMOOTH_BINARY if m.smooth else DECIDED_BINARY
    x, y = (x, y) if m.chance(0.6) else (y, x)
    return m.emit(m.choose.choice(names), x, y)


def chain(m: Maker, x: SSAValue, most: int = 3) -> SSAValue:
    """A few elementwise ops after `x`."""
    for _ in range(m.choose.randrange(most + 1)):
        x = one_unary(m, x) if m.chance(0.5) else one_binary(m, x, m.partner(x))
    return x


def elementwise(m: Maker) -> None:
    chain(m, m.any_float(), 4)


def multiply_add(m: Maker) -> None:
    """x * y + z, with the sum on either side. The product may have another user."""
    x = m.any_float()
    product = m.emit("multiply", x, m.partner(x))
    other = m.partner(product)
    m.emit("add", *((product, other) if m.chance(0.5) else (other, product)))
    if m.chance(0.2):
        one_unary(m, product)


def identities(m: Maker) -> None:
    """What simplify-expr removes."""
    x = m.any_float()

    def full(number: float | str) -> Any:
        type_ = x.type if DYNAMIC_INDEX not in shape_of(x) else f"tensor<{dtype_of(x)}>"
        return m.parsed(f"graph.full {number} : {type_}")

    rank = len(shape_of(x))
    order = m.choose.sample(range(rank), rank)
    choices: list[Callable[[], Any]] = [
        lambda: m.emit("multiply", *m.choose.sample([x, full("1.0")], 2)),
        lambda: m.emit("add", *m.choose.sample([x, full(m.choose.choice(("0.0", "-0.0")))], 2)),
        lambda: m.emit("subtract", x, full(m.choose.choice(("0.0", "-0.0")))),
        lambda: m.emit("divide", x, full(m.choose.choice(("1.0", "2.0", "4.0")))),
        lambda: m.emit("multiply", x, full(m.choose.choice(("0.0", "-1.0")))),
        lambda: m.emit("negative", m.emit("negative", x)),
        lambda: m.emit("relu", m.emit("relu", x)),
        lambda: m.emit("abs", m.emit(m.choose.choice(("negative", "abs")), x)),
        lambda: m.emit(
            "permute_dims", m.emit("permute_dims", x, axes=order), axes=m.choose.sample(range(rank), rank)
        ),  # fmt: skip
        lambda: m.emit("astype", x, dtype=ATTRIBUTES[dtype_of(x)]),
        lambda: m.emit("astype", m.emit("astype", x, dtype=ATTRIBUTES["f64"]), dtype=ATTRIBUTES[dtype_of(x)]),
        lambda: m.emit("maximum", x, x),
        lambda: m.emit("subtract", x, x),
        lambda: m.emit("add", x, x),
        lambda: m.emit("multiply", m.emit("multiply", x, full("2.0")), full("0.5")),
        lambda: m.emit("add", m.emit("add", x, full("2.0")), full("0.5")),
        lambda: m.emit("divide", x, m.emit("sqrt", m.emit("add", m.emit("abs", x), full("1.0")))),
        lambda: m.emit("where", m.argument(shape_of(x), "i1"), x, x),
    ]
    if rank:
        choices.append(lambda: m.emit("concat", x, axis=0))
    if DYNAMIC_INDEX not in shape_of(x):
        choices.append(lambda: m.emit("reshape", m.emit("reshape", x, shape=[-1]), shape=list(shape_of(x))))
        choices.append(lambda: m.emit("broadcast_to", x, shape=list(shape_of(x))))
        choices.append(lambda: m.emit("pad", x, pad_width=[0, 0] * rank))
    m.choose.choice(choices)()
    m.choose.choice(choices)()


def integers(m: Maker) -> None:
    """Integer arithmetic, divisions that may fail, identities of integers."""
    dtype = m.choose.choice(("i32", "i8", "i64", "ui8"))
    found = m.pick(lambda v: dtype_of(v) == dtype)
    x = found or m.argument((m.choose.choice((2, 3)), 4), dtype)
    for _ in range(m.choose.randrange(1, 4)):
        name = m.choose.choice(SMOOTH_BINARY if m.smooth else INTEGER_BINARY)
        dividing = name in ("divide", "floor_divide", "mod")
        risky = dividing and m.flavour == "any" and m.chance(0.5)
        values = "small" if risky else "divisor"
        y = m.argument(shape_of(x), dtype, values) if dividing else m.partner(x)
        x = m.emit(name, x, y)
    number = m.choose.choice(("0", "1"))
    one = m.parsed(f"graph.full {number} : {x.type}")
    m.emit(m.choose.choice(("multiply", "add", "subtract", "maximum")), x, one)
    if m.chance(0.3):
        m.emit("astype", x, dtype=ATTRIBUTES[m.float])


def logic(m: Maker) -> None:
    """Comparisons, selections, booleans."""
    if m.smooth:
        return elementwise(m)
    x = m.any_float()
    y = m.partner(x)
    c = m.emit(m.choose.choice(("less", "equal", "greater_equal", "not_equal")), x, y)
    if m.chance(0.4):
        c = m.emit("logical_not", c)
    if m.chance(0.4):
        c = m.emit(m.choose.choice(("logical_and", "logical_or", "logical_xor")), c, m.partner(c))
    m.emit("where", c, x, y)
    return None


def widening(m: Maker) -> None:
    """One cast with several elementwise users."""
    dtype = m.choose.choice(("i8", "f32", "ui8", "i1", *(() if m.smooth else ("f16",))))
    found = m.pick(lambda v: dtype_of(v) == dtype)
    x = found or m.argument((m.choose.choice((2, 3)), 4), dtype)
    wide = m.emit("astype", x, dtype=ATTRIBUTES[WIDER[dtype]])
    for _ in range(m.choose.randrange(1, 4)):
        m.emit(m.choose.choice(("add", "multiply", "maximum")), wide, m.partner(wide))
    if m.chance(0.3):
        m.emit("reshape", wide, shape=[-1])


def reductions(m: Maker) -> None:
    x = m.any_float()
    decided = ("max", "min") if m.smooth else ("max", "min", "argmax")
    name = m.choose.choice((*decided, *(() if m.flavour == "decided" else ("sum", "mean", "softmax"))))
    axis = m.choose.randrange(len(shape_of(x))) if shape_of(x) else None
    if axis is None:
        return
    if name in ("argmax", "softmax"):
        m.emit(name, x, axis=axis)
    else:
        m.emit(name, x, axis=[axis], keepdims=m.chance(0.5))


def movement(m: Maker) -> None:
    """Permutations, slices, joins and parts."""
    x = m.any_float(rank=m.choose.choice((2, 3)))
    shape = shape_of(x)
    axis = len(shape) - 1
    options: list[Callable[[], Any]] = [
        lambda: m.emit("permute_dims", x),
        lambda: m.emit("concat", x, x, m.pick(lambda v: v.type == x.type) or x, axis=axis),
        lambda: m.emit("split", x, sections=shape[axis], axis=axis),
        lambda: m.emit("strided_slice", x, axes=[axis], begin=[0], end=[2], strides=[1]),
        lambda: m.emit("strided_slice", x, axes=[axis], begin=[0], end=[1000], strides=[1]),
        lambda: m.emit("pad", x, pad_width=[0, 0] * axis + [1, 0], value=0.5),
        lambda: m.emit("squeeze", m.emit("expand_dims", x, axis=[1]), axis=[1]),
        lambda: (
            m.emit("broadcast_to", x, shape=[2, *shape]) if DYNAMIC_INDEX not in shape else m.emit("permute_dims", x)
        ),  # fmt: skip
    ]
    m.choose.choice(options)()
