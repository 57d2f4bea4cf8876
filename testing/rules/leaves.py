"""Making values: arguments, constants, results of ops; what instances are built of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from ...dialects.graph.base import GraphOp, shaped_of, tensor_type
from ...dialects.graph.constants import ConstantOp, FullOp
from ...dialects.graph.shapes import Shaped
from ...dialects.traits import is_commutative
from ...patterns.language.constraints import Argument, Literal, Not
from ...patterns.language.patterns import Any_, Constant, Pattern, Splat
from ...patterns.language.rules import Rule
from ...te.dtypes import integer_range, is_integer
from ..programs import op_generators as ops
from ..programs.ir_generators import Chooser, TensorSpec, rarely
from ..programs.values import arrays_of
from .choices import Impossible, Taste
from .hints import Hints


def spec_of(value: SSAValue) -> TensorSpec:
    """Returns the tensor type of a value. Raises `Impossible` for another one."""
    try:
        shape, dtype = shaped_of(value.type, "the value")
    except VerifyException:
        raise Impossible from None
    if None in shape:
        raise Impossible
    return TensorSpec(shape, dtype)  # pyright: ignore[reportArgumentType]


def type_of(spec: TensorSpec) -> Any:
    return tensor_type(Shaped(spec.shape, spec.dtype))


class LeafMaker:
    """
    Makes the values of one instance of `rule`. `swap` says of a commutative op of the pattern whether to swap its
    operands, and `seen` how often the rule applied to ops of each name.
    """

    def __init__(
        self,
        ctx: Context,
        rule: Rule,
        hints: Hints,
        choose: Chooser,
        taste: Taste,
        swap: Mapping[str, bool],
        seen: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
    ):
        self._ctx = ctx
        self._rule = rule
        self._hints = hints
        self._choose = choose
        self._taste = taste
        self._swap = swap
        self._seen = seen
        self._names: dict[str, str] = {}
        self._drawn: dict[str, dict[str, Any]] = {}
        self._block = self._entry = Block()
        self._values: dict[str, SSAValue | Operation] = {}
        self._flavours: dict[SSAValue, str] = {}
        self._made: list[Operation] = []
        self._feed: SSAValue | None = None
        self._orders: dict[str, bool] = {}
        self._functions: dict[str, Operation] = {}
        self._anywhere = False

    def _make(
        self, name: str, operands: Sequence[SSAValue], properties: Mapping[str, Any], key: str | None = None
    ) -> Operation:
        """The op, at the end of the block; operands of a commutative one in the order that `swap` asks for."""
        op_type: Any = self._ctx.get_op(name)
        given = {each: value for each, value in properties.items() if value is not None}
        own = op_type.get_irdl_definition().properties if issubclass(op_type, IRDLOperation) else {}
        inner = {each: value for each, value in given.items() if each in own}
        outer = {each: value for each, value in given.items() if each not in own}
        if issubclass(op_type, GraphOp) and any("." not in each for each in outer):
            raise Impossible  # There is no such property, so no program has it.
        if issubclass(op_type, GraphOp):
            op = op_type(*operands, attributes=outer, **inner)
        else:
            types = [operands[0].type] if operands else [type_of(self._taste.spec)]
            op = op_type.create(operands=operands, result_types=types, properties=inner, attributes=outer)
        if key is not None and len(operands) == 2 and is_commutative(op) and operands[0] is not operands[1]:
            swapped = self._swap.get(key, rarely(self._choose, 2))
            if swapped:
                op.operands = list(reversed(op.operands))
            self._orders[key] = not swapped
        op.verify(verify_nested_ops=False)
        self._block.add_op(op)
        self._made.append(op)
        self._taste.seen += [spec_of(result) for result in op.results]
        return op

    # Leaves

    def _leaf(self, pattern: Pattern, spec: TensorSpec) -> SSAValue:
        self._taste.seen.append(spec)
        match pattern:
            case Splat(value):
                return self._splat(value, spec)
            case Constant(key):
                return self._constant(spec, self._hints.values.get(key, ""))
            case Literal(value):
                assert isinstance(value, DenseIntOrFPElementsAttr)
                return self._add(ConstantOp(value))
            case Argument(index, name):
                while index is not None and len(self._entry.args) < index:
                    self._argument(spec)
                found = self._argument(spec)
                found.name_hint = name
                return found
            case Any_(key):
                return self._any(spec, self._hints.values.get(key, ""))
            case Not():
                return self._any(spec, "")
            case _:
                raise Impossible(f"no instances of {type(pattern).__name__}")

    def _any(self, spec: TensorSpec, hint: str) -> SSAValue:
        choose = self._choose
        if self._feed is not None and spec_of(self._feed) == spec:
            return self._feed
        if hint and not rarely(choose, 5):
            return self._argument(spec) if hint == "argument" else self._constant(spec, hint)
        kind = choose.integer(0, 19)
        above = "above" in self._hints.surroundings
        if kind <= 2 or (above and kind <= 16):
            return self._computed(spec)
        if kind == 3:
            same = [each for each in self._block.args if spec_of(each) == spec]
            return choose.element(same) if same else self._argument(spec)
        return self._constant(spec, "") if kind <= 6 else self._argument(spec)

    def _computed(self, spec: TensorSpec) -> SSAValue:
        """A value that an op computes: a contraction where there can be one."""
        choose = self._choose
        try:
            if spec.rank == 4 and spec.dtype != "i1" and not rarely(choose, 4):
                batch, channels, height, width = spec.shape
                data = self._argument(TensorSpec((batch, 2, height, width), spec.dtype))
                kernel = self._constant(TensorSpec((channels, 2, 1, 1), spec.dtype), "")
                made = self._make("graph.conv2d", [data, kernel], {}).results[0]
            elif spec.rank == 2 and spec.dtype != "i1" and not rarely(choose, 4):
                data = self._argument(TensorSpec((spec.shape[0], 2), spec.dtype))
                made = self._make(
                    "graph.matmul", [data, self._constant(TensorSpec((2, spec.shape[1]), spec.dtype), "")], {}
                )
                made = made.results[0]
            else:
                name = "graph.logical_not" if spec.dtype == "i1" else "graph.negative"
                made = self._make(name, [self._argument(spec)], {}).results[0]
        except (VerifyException, ZeroDivisionError):
            return self._argument(spec)
        if spec.rank and "above" in self._hints.surroundings and rarely(choose, 3):
            bias = self._constant(TensorSpec((spec.shape[-1],), spec.dtype), "")
            made = self._make("graph.add", [made, bias], {}).results[0]
        return made

    def _argument(self, spec: TensorSpec | None) -> SSAValue:
        type_ = IntegerType(1) if spec is None else type_of(spec)
        return self._entry.insert_arg(type_, len(self._entry.args))

    def _add(self, op: Operation) -> SSAValue:
        self._block.add_op(op)
        return op.results[0]

    def _splat(self, number: float, spec: TensorSpec) -> SSAValue:
        choose = self._choose
        if spec.dtype not in ops.FLOATS and (number != int(number) or (number < 0 and spec.dtype in ops.UNSIGNED)):
            raise Impossible
        if spec.dtype == "i1" and number not in (0.0, 1.0):
            raise Impossible
        value = number if spec.dtype in ops.FLOATS else int(number)
        if spec.dtype == "i1":
            value = bool(value)
        type_ = type_of(spec)
        if rarely(choose, 3) and spec.size:
            return self._add(ConstantOp.from_values([value] * spec.size, type_))
        return self._add(FullOp(value, type_))

    def _indices(self, spec: TensorSpec, extent: int) -> SSAValue:
        """A literal of indices into `extent` elements, mostly equally far apart. Some of them count from the end."""
        choose = self._choose
        places = list(range(extent))[choose.integer(0, extent - 1) :: choose.element((1, 2, -1))]
        if len(places) < spec.size or rarely(choose, 4):
            places = [choose.integer(0, extent - 1) for _ in range(spec.size)]
        signed = spec.dtype not in ops.UNSIGNED
        numbers = [place - extent if signed and rarely(choose, 3) else place for place in places[: spec.size]]
        return self._add(ConstantOp.from_values(numbers, type_of(spec)))

    def _constant(self, spec: TensorSpec, hint: str) -> SSAValue:
        """A literal: a few numbers, or one number everywhere; special ones only for exact rules."""
        choose = self._choose
        if hint == "zero":
            return self._splat(0, spec)
        if hint == "one number":
            return self._splat(choose.element((0, 1, 3, 100)), spec)
        if hint == "least":
            return self._splat(integer_range(spec.dtype)[0] if is_integer(spec.dtype) else 0, spec)
        if hint not in ("positive", "nonzero") and rarely(choose, 4):
            return self._splat(choose.element((1.0, 0.0, 2.0)) if spec.dtype != "i1" else 1.0, spec)
        calm = self._rule.numerics != "exact"
        flavour = "positive" if hint == "positive" or rarely(choose, 3) else "finite" if calm else "any"
        if hint == "nonzero":
            flavour = "finite"
        array = arrays_of(choose.integer(0, 10**6), spec.shape, spec.dtype, flavour)
        if hint == "nonzero":
            array = array + (array == 0).astype(array.dtype)
        elif spec.dtype not in ops.FLOATS and calm:
            array = arrays_of(choose.integer(0, 10**6), spec.shape, spec.dtype, "small")
        return self._add(ConstantOp.from_array(array))
