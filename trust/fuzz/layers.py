"""Random nets of layers, with sizes around those of tiles and vectors, and weights outside of the text."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import field
from typing import Final

from ...lazy_dataclass import dataclass

SIZES: Final = (1, 2, 3, 5, 7, 8, 13, 15, 16, 17, 21, 31, 32, 33, 48, 50, 64, 65)
MOST_SIZE: Final = 40
"""Half of the sizes are any number up to this."""

MOST: Final = 9000
"""The most elements of a value, so that the reference is not what takes the time."""

UNARY: Final = ("relu", "tanh", "sigmoid", "gelu", "erf", "exp", "negative", "abs", "sin", "cos", "sqrt", "silu")
BINARY: Final = ("add", "subtract", "multiply", "maximum", "minimum")

Value = tuple[str, tuple[int, ...]]
"""The name and the shape of a value."""


@dataclass
class Net:
    """A program that grows at its end: the name and the shape of the last value, and the lines so far."""

    choose: random.Random
    dtype: str = "f32"
    value: str = "%x"
    shape: tuple[int, ...] = ()
    lines: list[str] = field(default_factory=list[str])
    arguments: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    earlier: list[Value] = field(default_factory=list[Value])

    def type(self, shape: tuple[int, ...], dtype: str = "") -> str:
        return f"tensor<{''.join(f'{size}x' for size in shape)}{dtype or self.dtype}>"

    def given(self, shape: tuple[int, ...]) -> str:
        """Returns a value from outside: a weight, or an argument."""
        name = f"%w{len(self.lines)}"
        if self.choose.random() < 0.8:
            self.lines.append(f'{name} = graph.weight "{name[1:]}" : {self.type(shape)}')
        else:
            name = f"%a{len(self.arguments)}"
            self.arguments.append((name, self.type(shape)))
        return name

    def emit(
        self, op: str, operands: list[tuple[str, tuple[int, ...]]], shape: tuple[int, ...], more: str = ""
    ) -> None:
        """Adds an op, whose result is the last value then."""
        name = f"%v{len(self.lines)}"
        names = ", ".join(each for each, _ in operands)
        types = ", ".join(self.type(each) for _, each in operands)
        self.lines.append(f"{name} = graph.{op} {names}{more} : ({types}) -> {self.type(shape)}")
        self.earlier.append((self.value, self.shape))
        self.value, self.shape = name, shape

    def then(self, op: str, shape: tuple[int, ...], more: str = "", *others: Value) -> None:
        """Adds an op on the last value and others."""
        self.emit(op, [(self.value, self.shape), *others], shape, more)

    def text(self) -> str:
        """Returns the program. Its results are the last value and, at times, one before."""
        results = [(self.value, self.shape)]
        if self.earlier[1:] and self.choose.random() < 0.3:
            results.append(self.choose.choice(self.earlier[1:]))
        types = ", ".join(self.type(shape) for _, shape in results)
        arguments = ", ".join(f"{name}: {type_}" for name, type_ in self.arguments)
        body = "\n  ".join([*self.lines, f"func.return {', '.join(name for name, _ in results)} : {types}"])
        return f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n}}\n"


Layer = Callable[[Net], None]


def any_size(choose: random.Random) -> int:
    """Returns a size around those of tiles, or any other: a loop may go wrong at one number alone."""
    return choose.choice(SIZES) if choose.random() < 0.5 else choose.randrange(1, MOST_SIZE + 1)


def dense(net: Net) -> None:
    """A product with a matrix, and a bias at times."""
    if len(net.shape) < 2:
        return
    rows, columns = net.shape[-1], any_size(net.choose)
    weight = net.given((rows, columns))
    net.then("matmul", (*net.shape[:-1], columns), "", (weight, (rows, columns)))
    if net.choose.random() < 0.6:
        net.then("add", net.shape, "", (net.given((columns,)), (columns,)))


def gram(net: Net) -> None:
    """A product with a value's own transpose, as attention has it."""
    if len(net.shape) != 2:
        return
    before, (rows, columns) = net.value, net.shape
    net.then("permute_dims", (columns, rows), ", axes = [1, 0]")
    net.emit("matmul", [(before, (rows, columns)), (net.value, net.shape)], (rows, rows))
    if net.choose.random() < 0.7:
        net.then("softmax", net.shape)


def convolution(net: Net) -> None:
    """A convolution of an image, with padding, strides and groups."""
    if len(net.shape) != 4 or min(net.shape[2:]) < 3:
        return
    batch, channels, *image = net.shape
    size, stride = net.choose.choice((1, 3, 3, 3)), net.choose.choice((1, 1, 2))
    padding = [net.choose.randrange(0, 2 if size == 3 else 1) for _ in range(4)]
    groups = net.choose.choice([each for each in (1, 1, channels) if channels % each == 0])
    outputs = channels * net.choose.choice((1, 2)) if groups > 1 else net.choose.choice((1, 3, 8, 16, 17))
    weight = (outputs, channels // groups, size, size)
    new = [(image[i] + padding[i] + padding[i + 2] - size) // stride + 1 for i in range(2)]
    more = f", strides = [{stride}, {stride}], padding = {padding}, groups = {groups}"
    net.then("conv2d", (batch, outputs, *new), more, (net.given(weight), weight))
    if net.choose.random() < 0.5:
        net.then("add", net.shape, "", (net.given((outputs, 1, 1)), (outputs, 1, 1)))


def pooling(net: Net) -> None:
    """The maximum or the mean of windows."""
    if len(net.shape) != 4 or min(net.shape[2:]) < 3:
        return
    size, stride = net.choose.choice((2, 3, 3)), net.choose.choice((1, 2, 2))
    padding = [net.choose.randrange(2) for _ in range(4)]
    new = [(net.shape[2 + i] + padding[i] + padding[i + 2] - size) // stride + 1 for i in range(2)]
    more = f", pool_size = [{size}, {size}], strides = [{stride}, {stride}], padding = {padding}"
    net.then(net.choose.choice(("max_pool2d", "avg_pool2d")), (*net.shape[:2], *new), more)


def unary(net: Net) -> None:
    """One or two functions of each element."""
    for _ in range(net.choose.randrange(1, 3)):
        net.then(net.choose.choice(UNARY), net.shape)


def binary(net: Net) -> None:
    """A value of the same shape, from before or from outside, or one of a smaller shape."""
    same = [each for each, shape in net.earlier if shape == net.shape and each != "%x"]
    if same and net.choose.random() < 0.7:
        other, shape = net.choose.choice(same), net.shape
    else:
        shape = net.shape if net.choose.random() < 0.4 else net.shape[-1:]
        other = net.given(shape)
    net.then(net.choose.choice(BINARY), net.shape, "", (other, shape))


def residual(net: Net) -> None:
    """A block that keeps the shape, and what went into it added to what comes out: two values live side by side."""
    if not net.shape or net.value == "%x":
        return
    before = net.value
    axis = len(net.shape) - 1
    for _ in range(net.choose.randrange(1, 4)):
        match net.choose.choice(("softmax", "norm", "sums", "dense")):
            case "softmax":
                net.then("softmax", net.shape, f", axis = {net.choose.randrange(axis + 1)}")
            case "norm":
                net.then("layer_norm", net.shape, "", *((net.given(net.shape[-1:]), net.shape[-1:]) for _ in range(2)))
            case "dense" if axis > 0:
                weight = (net.shape[-1], net.shape[-1])
                net.then("matmul", net.shape, "", (net.given(weight), weight))
            case _:
                net.then("cumulative_sum", net.shape, f", axis = {net.choose.randrange(axis + 1)}")
    net.then(net.choose.choice(BINARY), net.shape, "", (before, net.shape))


def reduction(net: Net) -> None:
    """A sum, a mean or a maximum along one axis, kept or not, or a normalisation of it."""
    if not net.shape:
        return
    axis = net.choose.randrange(len(net.shape))
    kind = net.choose.choice(("sum", "mean", "max", "min", "softmax", "layer_norm"))
    if kind == "softmax":
        net.then("softmax", net.shape, f", axis = {axis}")
    elif kind == "layer_norm":
        size = net.shape[-1:]
        net.then("layer_norm", net.shape, "", (net.given(size), size), (net.given(size), size))
    else:
        keeps = net.choose.random() < 0.5
        before, shape = net.value, net.shape
        new = tuple(1 if place == axis else size for place, size in enumerate(shape))
        dropped = tuple(size for place, size in enumerate(shape) if place != axis)
        net.then(kind, new if keeps else dropped, f", axis = [{axis}], keepdims = {'true' if keeps else 'false'}")
        if keeps:
            net.emit("subtract", [(before, shape), (net.value, new)], shape)


def movement(net: Net) -> None:
    """Another order of dimensions, a slice, a border, or a concatenation."""
    kind = net.choose.choice(("permute", "slice", "pad", "concat"))
    rank = len(net.shape)
    if kind == "permute" and rank > 1:
        axes = list(range(rank))
        net.choose.shuffle(axes)
        net.then("permute_dims", tuple(net.shape[axis] for axis in axes), f", axes = {axes}")
    elif kind == "slice" and rank and net.shape[-1] > 2:
        begin = net.choose.randrange(0, 2)
        more = f", axes = [{rank - 1}], begin = [{begin}], end = [{net.shape[-1] - 1}]"
        net.then("strided_slice", (*net.shape[:-1], net.shape[-1] - 1 - begin), more)
    elif kind == "pad" and rank:
        widths = [net.choose.randrange(0, 2) for _ in range(2 * rank)]
        new = tuple(size + widths[2 * place] + widths[2 * place + 1] for place, size in enumerate(net.shape))
        net.then("pad", new, f", pad_width = {widths}")
    elif rank:
        other = net.given(net.shape)
        net.then("concat", (*net.shape[:-1], 2 * net.shape[-1]), f", axis = {rank - 1}", (other, net.shape))


LAYERS: Final[tuple[Layer, ...]] = (
    *(dense, dense, gram, convolution, convolution, pooling),
    *(unary, unary, binary, binary, residual, residual, reduction, reduction, movement),
)


def random_net(seed: int) -> str:
    """Returns the program of a seed: three to nine layers."""
    choose = random.Random(seed)
    net = Net(choose, choose.choice(("f32", "f32", "f32", "f64", "f16")))
    if choose.random() < 0.4:
        net.shape = (
            choose.choice((1, 2)),
            choose.choice((1, 3, 4, 8, 16)),
            choose.randrange(4, 15),
            choose.randrange(4, 15),
        )
    else:
        net.shape = tuple(any_size(choose) for _ in range(choose.choice((1, 2, 2, 2, 3))))
        while _count(net.shape) > MOST:
            net.shape = tuple(max(1, each // 2) for each in net.shape)
    net.arguments.append(("%x", net.type(net.shape)))
    wanted = choose.randrange(3, 10)
    for _ in range(3 * wanted):
        if len(net.earlier) >= wanted or _count(net.shape) > MOST or 0 in net.shape:
            break
        choose.choice(LAYERS)(net)
    if not net.earlier:
        unary(net)
    return net.text()


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
