"""
The maker of random well-typed programs of the graph level, which motifs call.

A program is a handful of *motifs* (a convolution and a scale, three products of one tensor, a widening cast with two
users, a branch, an op computed twice …) over values that exist already. `smooth` programs leave out what turns a
rounding error into a jump or blows it up, and take finite inputs: they compare passes of the classes `rounding` and
`fast`. The others hold every op, every element type and special values, and may fail: they compare bit for bit.
`decided` leaves out of these the ops whose bits depend on the order of sums or on a library (for constant folding).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import field
from typing import Any, Final, Literal

import numpy as np
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, StringAttr, TensorType, UnitAttr, i1
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue
from xdsl.parser import Parser

from ...core.ir.verification import verify_module
from ...core.roles import PRIMITIVE
from ...core.text.parsing import make_context
from ...dialects.graph.constants import ConstantOp
from ...lazy_dataclass import dataclass
from ...reference.failure import ReferenceFailure
from ...reference.run import run
from ...te.dtypes import FLOATS
from ..programs.values import arrays_of

CTX = make_context()
Array = np.ndarray[Any, Any]
Flavour = Literal["any", "decided", "smooth"]
DYNAMIC: Final = 3
"""What a size `?` is in the inputs."""

SMOOTH_UNARY: Final = ("negative", "abs", "relu", "tanh", "sigmoid", "erf", "sin", "gelu", "leaky_relu")
DECIDED_UNARY: Final = (
    "negative",
    "abs",
    "relu",
    "sign",
    "square",
    "floor",
    "ceil",
    "trunc",
    "round",
    "sqrt",
)
UNDECIDED_UNARY: Final = ("exp", "log", "rsqrt", "tanh", "sigmoid", "erf", "silu", "expm1", "cos")
SMOOTH_BINARY: Final = ("add", "subtract", "multiply", "maximum", "minimum")
DECIDED_BINARY: Final = (*SMOOTH_BINARY, "divide", "mod")
INTEGER_BINARY: Final = (
    *SMOOTH_BINARY,
    "divide",
    "floor_divide",
    "mod",
    "bitwise_and",
    "left_shift",
    "power",
)


def dtype_of(value: SSAValue) -> str:
    """Returns the name of the element type, or that of the type of a scalar."""
    return str(value.type.element_type if isinstance(value.type, TensorType) else value.type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def is_float(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and dtype_of(value) in FLOATS


def tensor(shape: tuple[int, ...], dtype: str) -> TensorType[Any]:
    text = "".join("?x" if size == DYNAMIC_INDEX else f"{size}x" for size in shape)
    type_ = Parser(CTX, f"tensor<{text}{dtype}>").parse_type()
    assert isinstance(type_, TensorType)
    return type_


@dataclass
class Graph:
    """A module with an entry `main`, its inputs, and what the reference gives: results, or the failure."""

    module: ModuleOp
    inputs: list[Array]
    weights: dict[str, Array]
    expected: tuple[Array, ...] | None = None
    failure: ReferenceFailure | None = None
    largest: float = 1.0

    def __post_init__(self) -> None:
        def observe(op: object, results: tuple[Array, ...]) -> None:
            for array in results:
                wide = np.abs(np.asarray(array).astype(np.float64))
                self.largest = max(self.largest, float(np.max(wide, where=np.isfinite(wide), initial=0.0)))

        with np.errstate(all="ignore"):
            try:
                self.expected = run(self.module, "main", *self.inputs, weights=self.weights, observe=observe)
            except ReferenceFailure as failure:
                self.failure = failure

    def run(self, module: ModuleOp) -> tuple[Array, ...]:
        """The results of a rewritten module on the same inputs."""
        with np.errstate(all="ignore"):
            return run(module, "main", *self.inputs, weights=self.weights)


@dataclass
class Maker:
    """Builds one program: `emit` adds an op, motifs call it."""

    choose: random.Random
    flavour: Flavour
    seed: int
    module: ModuleOp = field(default_factory=lambda: ModuleOp([]))
    inputs: list[Array] = field(default_factory=list)
    weights: dict[str, Array] = field(default_factory=dict)
    values: list[SSAValue] = field(default_factory=list)
    dead: set[SSAValue] = field(default_factory=set)
    functions: int = 0

    def __post_init__(self) -> None:
        self.smooth = self.flavour == "smooth"
        self.undecided = self.flavour == "any"
        self.entry = self.block = Block()
        self.float = self.choose.choice(("f64", "f64", "f32") if self.smooth else ("f32", "f32", "f64", "f16"))
        self.dynamic = self.chance(0.2)

    def chance(self, share: float) -> bool:
        return self.choose.random() < share

    # Values

    def argument(self, shape: tuple[int, ...], dtype: str, values: str = "any") -> SSAValue:
        """Adds an argument of the entry, whose leading size may be `?`."""
        if self.smooth and values == "any":
            values = "finite"
        if values == "any" and self.chance(0.5):
            values = "small"
        if DYNAMIC_INDEX in shape:
            array_shape = tuple(DYNAMIC if size == DYNAMIC_INDEX else size for size in shape)
        else:
            array_shape = shape
        self.inputs.append(arrays_of(self.seed * 100 + len(self.inputs), array_shape, dtype, values))
        value = self.entry.insert_arg(tensor(shape, dtype), len(self.entry.args))
        value.name_hint = f"a{len(self.inputs)}"
        self.values.append(value)
        return value

    def constant(self, shape: tuple[int, ...], dtype: str, values: str = "small") -> SSAValue:
        """A constant: a splat of a round or special number, random elements, or a weight."""
        pick = self.choose.random()
        if pick < 0.35:
            numbers = ("1.0", "2.0", "0.5") if values == "positive" else ("1.0", "0.0", "-0.0", "2.0", "-1.0", "0.5")
            number = self.choose.choice(numbers if dtype in FLOATS else ("1", "0", "2", "3"))
            number = number if dtype != "i1" else self.choose.choice(("true", "false"))
            return self.parsed(f"graph.full {number} : {tensor(shape, dtype)}")
        array = arrays_of(
            self.choose.randrange(10**6), shape, dtype, "finite" if self.smooth and values == "small" else values
        )
        if pick < 0.45:
            key = f"w{len(self.weights)}"
            self.weights[key] = array
            return self.parsed(f'graph.weight "{key}" : {tensor(shape, dtype)}')
        return self.add(ConstantOp.from_array(array))

    def parsed(self, text: str) -> SSAValue:
        op = Parser(CTX, f"%0 = {text}").parse_op()
        return self.add(op)

    def add(self, op: Any) -> SSAValue:
        self.block.add_op(op)
        self.values += op.results
        return op.results[0]

    def emit(self, name: str, *operands: SSAValue, **properties: Any) -> SSAValue:
        """Appends an op whose result types are inferred. Returns its first result."""
        op_type: Any = CTX.get_op(f"graph.{name}")
        return self.add(op_type(*operands, **properties))

    def pick(self, fits: Callable[[SSAValue], bool]) -> SSAValue | None:
        """A value that exists, mostly a recent one."""
        known = [
            v for v in self.values if isinstance(v.type, TensorType) and fits(v) and v.type.get_shape().count(0) == 0
        ]
        known = [v for v in known if np.prod([abs(s) % 1000 for s in shape_of(v)]) <= 600]
        return self.choose.choice(known[-5:] if self.chance(0.7) else known) if known else None

    def any_float(self, rank: int | None = None, shape: tuple[int, ...] | None = None) -> SSAValue:
        """A float tensor, made up when there is none."""
        found = self.pick(lambda v: is_float(v) and rank in (None, len(shape_of(v))) and shape in (None, shape_of(v)))
        if found is None or self.chance(0.15):
            rank = rank if rank is not None else self.choose.choice((1, 2, 2, 3))
            made = shape or tuple(self.choose.choice((2, 3, 4)) for _ in range(rank))
            if self.dynamic and shape is None and rank > 1:
                made = (DYNAMIC_INDEX, *made[1:])
            return self.argument(made, self.float)
        return found

    def image(self) -> SSAValue:
        """A tensor NCHW."""
        found = self.pick(lambda v: is_float(v) and len(shape_of(v)) == 4 and min(shape_of(v)[2:]) >= 3)
        if found is not None and self.chance(0.7):
            return found
        batch = DYNAMIC_INDEX if self.dynamic else self.choose.choice((1, 2))
        return self.argument((batch, self.choose.choice((2, 4)), 4, self.choose.choice((4, 5))), self.float)

    def static_like(self, value: SSAValue) -> tuple[int, ...]:
        """The shape of `value`, or one that stretches to it."""
        shape = tuple(1 if size == DYNAMIC_INDEX or self.chance(0.2) else size for size in shape_of(value))
        return shape[self.choose.randrange(len(shape) + 1) :] if self.chance(0.3) else shape

    def partner(self, value: SSAValue) -> SSAValue:
        """Something that `value` broadcasts with."""
        found = self.pick(lambda v: v.type == value.type)
        if found is not None and self.chance(0.6):
            return found
        if self.chance(0.5):
            return self.constant(self.static_like(value), dtype_of(value))
        return self.argument(self.static_like(value), dtype_of(value))

    # The end

    def finish(self) -> Graph:
        """Returns what nothing uses. What is marked as dead stays unused."""
        unused = [v for v in self.values if v.owner is self.block or getattr(v.owner, "parent", None) is self.block]
        unused = [v for v in unused if isinstance(v, OpResult) and not list(v.uses) and v not in self.dead]
        kept = [v for v in unused if self.chance(0.9)] or unused[:1] or [self.any_float()]
        self.block.add_op(func.ReturnOp(*kept))
        types = ([arg.type for arg in self.entry.args], [value.type for value in kept])
        main = func.FuncOp("main", types, Region(self.entry))
        first = self.module.body.block.first_op
        if first is None:
            self.module.body.block.add_op(main)
        else:
            self.module.body.block.insert_op_before(main, first)
        if self.weights:
            self.module.attributes["stepwell.weights"] = StringAttr("weights.safetensors")
        verify_module(self.module)
        return Graph(self.module, self.inputs, self.weights)

    # Nested blocks and functions

    def nested(
        self, arguments: list[Attribute], fill: Callable[[tuple[SSAValue, ...]], SSAValue], *, isolated: bool
    ) -> Block:
        """Makes a block that `fill` fills. The values around it are visible unless it is `isolated`."""
        outer = self.block, self.values
        inner = Block(arg_types=arguments)
        self.block = inner
        self.values = [*inner.args] if isolated else [*self.values]
        result = fill(tuple(inner.args))
        end = func.ReturnOp(result) if isolated else scf.YieldOp(result)
        inner.add_op(end)
        self.block, self.values = outer
        return inner

    def function(
        self, arguments: list[Attribute], fill: Callable[[tuple[SSAValue, ...]], SSAValue], *, primitive: bool
    ) -> func.FuncOp:
        """A private function."""
        block = self.nested(arguments, fill, isolated=True)
        assert block.last_op is not None
        types = (arguments, [value.type for value in block.last_op.operands])
        name = f"{'fused' if primitive else 'helper'}_{self.functions}"
        self.functions += 1
        function = func.FuncOp(name, types, Region(block), visibility=StringAttr("private"))
        if primitive:
            function.attributes[PRIMITIVE] = UnitAttr()
        self.module.body.block.add_op(function)
        return function

    def condition(self) -> SSAValue:
        """A scalar `i1`: an argument or a constant."""
        if self.chance(0.2):
            return self.add(arith.ConstantOp.from_int_and_width(int(self.chance(0.5)), 1))
        for value in self.entry.args:
            if value.type == i1 and self.chance(0.7):
                return value
        self.inputs.append(np.array(self.chance(0.5)))
        value = self.entry.insert_arg(i1, len(self.entry.args))
        value.name_hint = f"c{len(self.inputs)}"
        return value
