"""
Ops without operands: literals, splats, and weights held by reference in a safetensors file.

```
%0 = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
%1 = graph.full 0.0 : tensor<4x8xf32>
%2 = graph.weight "layer0.w" : tensor<784x128xf32>
```
Discardable attributes stand right after the name of the op.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AnyAttr, IRDLOperation, irdl_op_definition, prop_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...core.ir.appending import fill_op
from ...core.ir.reprs import op_repr
from ...te.dtypes import TABLE, of_numpy
from ..traits import ConstantLike, LoopSemantics
from . import literals
from .properties import NUMBER, TextKind, prop
from .shapes import Shaped
from .signature import shaped_of, tensor_result, tensor_type
from .syntax import parse_plain_weight, parse_type

if TYPE_CHECKING:
    from xdsl.dialects.builtin import LocationAttr
    from xdsl.parser import Parser
    from xdsl.printer import Printer

    from ... import te
    from ...core.text.parsing import StepwellParser


_OF_WHOLE_BYTES = frozenset(
    literals.ATTRIBUTES[name] for name, each in TABLE.items() if each.bits >= 8 and name in literals.ATTRIBUTES
)
"""The element types whose numbers any bytes are."""


class LiteralOp(IRDLOperation, ABC):
    """An op without operands whose one result is known before the program runs."""

    traits = traits_def(Pure())

    result = tensor_result()

    def __init__(
        self, properties: Mapping[str, Attribute], type_: Attribute, attributes: Mapping[str, Attribute] | None
    ):
        fill_op(self, result_types=(type_,), properties=properties)
        self.attributes.update(attributes or {})

    def __repr__(self) -> str:
        with literals.eliding_constants():
            return op_repr(self)

    def _only_value(self) -> Attribute | None:
        """The property `value` of an op that has one result, and no operands or other properties."""
        plain = len(self.properties) == len(self.results) == 1 and not self._operands
        return self.properties.get("value") if plain else None

    @property
    def shaped(self) -> Shaped:
        """The shape and element type of the result. Raises `VerifyException` unless it is a static tensor."""
        shaped = shaped_of(self.results[0].type, "the result")
        if None in shaped.shape:
            raise VerifyException(f"the result has type {shaped}, expected a static shape")
        return shaped


def _parse_static_type(parser: Parser) -> tuple[TensorType, Shaped]:
    start = parser.pos
    type_ = parse_type(parser)
    try:
        shaped = shaped_of(type_, "the result")
    except VerifyException as error:
        parser.raise_error(str(error), start, parser.pos)
    if None in shaped.shape:
        parser.raise_error(f"the result has type {shaped}, expected a static shape", start, parser.pos)
    assert isinstance(type_, TensorType)
    return type_, shaped


@irdl_op_definition
class ConstantOp(LiteralOp):
    """
    Returns a literal tensor, written row by row. One number stands for all elements.

    Types: every element type.
    Numerics: values are exact, so -0.0 stays. Constants with many elements, a NaN or an infinity are written as the
    hexadecimal digits of their bytes. The bytes are little endian, and the elements are in row-major order.

    ```mlir
    %0 = graph.constant dense<[[1.0, 2.0], [3.0, -0.0]]> : tensor<2x2xf32>
    %1 = graph.constant dense<0.5> : tensor<10xf32>
    %2 = graph.constant dense<"0x0000C07F"> : tensor<4xf32>
    ```
    """

    name = "graph.constant"

    value = prop_def(AnyAttr())

    traits = traits_def(Pure(), ConstantLike("literal"))

    def __init__(self, value: DenseIntOrFPElementsAttr, *, attributes: Mapping[str, Attribute] | None = None):
        super().__init__({"value": value}, value.type, attributes)

    @classmethod
    def from_values(cls, values: Sequence[Any], type_: TensorType) -> Self:
        """Makes a constant of Python numbers in row-major order. One number stands for all elements."""
        return cls(literals.dense_of_values(values, shaped_of(type_, "the result")))

    @classmethod
    def from_bytes(cls, data: bytes, type_: TensorType) -> Self:
        """
        Makes a constant of elements as they lie in memory: row-major and little endian, with an i1 as a byte 0 or 1.
        """
        return cls(literals.dense_of_bytes(data, shaped_of(type_, "the result")))

    @classmethod
    def from_array(cls, array: Any) -> Self:
        """Makes a constant of a NumPy array. The dtype gives the element type (`ml_dtypes.bfloat16` is bf16)."""
        return cls.from_bytes(*array_bytes(array))

    @property
    def dense(self) -> DenseIntOrFPElementsAttr:
        """The elements as an attribute of xDSL, which holds a true i1 as the byte 0xFF."""
        value = self.properties["value"]
        assert isinstance(value, DenseIntOrFPElementsAttr)
        return value

    @property
    def data(self) -> bytes:
        """The elements as they lie in memory: row-major and little endian, with an i1 as a byte 0 or 1."""
        return literals.memory_bytes(self.dense)

    @property
    def splat(self) -> int | float | bool | None:
        """The value that all elements have, as a Python number. It is `None` when they differ or there are none."""
        return literals.splat_value(self.dense.data.data, self.shaped.dtype)

    def verification_key(self) -> tuple[int, ...] | None:
        """
        Returns what verification depends on as long as the op does not change: types and the number of bytes.

        It is `None` where the bytes themselves are checked too, and for an op that has not the parts of a constant.
        """
        value = self._only_value()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            return None
        type_ = self.results[0].type
        whole = isinstance(type_, TensorType) and type_.element_type in _OF_WHOLE_BYTES
        return (id(type_), id(value.type), len(value.data.data)) if whole else None

    def verify_(self) -> None:
        value = self.properties["value"]
        literals.check_dense(value, self.shaped)
        assert isinstance(value, DenseIntOrFPElementsAttr)
        if value.get_type() != self.results[0].type:
            raise VerifyException(f"the result has type {self.results[0].type}, expected {value.get_type()}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        spelled = parser._current_token.text  # pyright: ignore[reportPrivateUsage]
        value = parser.parse_attribute() if spelled == "dense" or spelled[:1] == "#" else None
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error("graph.constant takes dense<…> : type", start, max(parser.pos, start + 1))
        try:
            shaped = shaped_of(value.get_type(), "the constant")
            if TABLE[shaped.dtype].bits < 8:
                value = literals.with_signs(value, shaped.dtype)
                literals.check_dense(value, shaped)
        except VerifyException as error:
            parser.raise_error(str(error), start, parser.pos)
        return cls(value, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        value = self.properties.get("value")
        try:
            literals.check_dense(value, self.shaped)  # pyright: ignore
        except VerifyException:  # the value is invalid, but is shown
            printer.print_attribute(value)  # pyright: ignore
        else:
            literals.print_dense(printer, self.dense)


def array_bytes(array: Any) -> tuple[bytes, TensorType]:
    """Returns the elements of a NumPy array as they lie in memory, and its tensor type."""
    dtype = of_numpy(array.dtype.name)
    if dtype is None:
        raise TypeError(f"array has dtype {array.dtype.name}, expected one that tensors can hold")
    return array.astype(array.dtype.newbyteorder("<")).tobytes("C"), tensor_type(Shaped(tuple(array.shape), dtype))


@irdl_op_definition
class FullOp(LiteralOp, LoopSemantics):
    """
    Returns a tensor whose elements are all `value`, rounded to the element type.

    A hexadecimal literal gives the bits of a float (`0x7FC00000` is a NaN of f32).

    ```mlir
    %0 = graph.full 1.0 : tensor<4x8xf32>
    %1 = graph.full true : tensor<4xi1>
    ```
    """

    name = "graph.full"

    value = prop_def(AnyAttr())

    traits = traits_def(Pure(), ConstantLike("splat"))

    def __init__(self, value: Any, type_: TensorType, *, attributes: Mapping[str, Attribute] | None = None):
        if isinstance(value, FloatAttr | IntegerAttr):
            value = value.value.data
        scalar = literals.scalar_attribute(value, shaped_of(type_, "the result").dtype)
        super().__init__({"value": scalar}, type_, attributes)

    @property
    def plain_value(self) -> int | float | bool:
        """The value as a Python number."""
        value = self.properties["value"]
        assert isinstance(value, FloatAttr | IntegerAttr)
        return value.value.data != 0 if self.shaped.dtype == "i1" else value.value.data

    def te(self, *operands: te.Tensor) -> tuple[te.Tensor, ...]:
        from ...te import library

        shape, dtype = self.shaped
        return (library.full(tuple(dim for dim in shape if dim is not None), self.plain_value, dtype),)

    def verification_key(self) -> tuple[int, ...] | None:
        """
        Returns what verification depends on as long as the op does not change: the types of the number and the result.

        It is `None` for an op that has not the parts of a splat.
        """
        value = self._only_value()
        return (id(self.results[0].type), id(value.type)) if isinstance(value, FloatAttr | IntegerAttr) else None

    def verify_(self) -> None:
        shaped, value = self.shaped, self.properties["value"]
        if not isinstance(value, FloatAttr | IntegerAttr) or value.type != literals.ATTRIBUTES[shaped.dtype]:
            raise VerifyException(f"'value' is {value}, expected a number of type {shaped.dtype}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        literal = literals.parse_scalar(parser, NUMBER)
        end = parser.pos
        parser.parse_punctuation(":", " after the value")
        type_, shaped = _parse_static_type(parser)
        value = literals.scalar_of_literal(parser, literal, shaped.dtype, start, end)
        return cls.create(result_types=[type_], properties={"value": value}, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        value = self.properties.get("value")
        printer.print_string(" ")
        try:
            self.verify_()
            assert isinstance(value, FloatAttr | IntegerAttr)
            printer.print_string(literals.element_text(value, self.shaped.dtype))
        except VerifyException:  # the value is invalid, but is shown
            printer.print_attribute(value)  # pyright: ignore
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)


@irdl_op_definition
class WeightOp(LiteralOp):
    """
    Returns tensor `key` of the safetensors file that the module attribute `stepwell.weights` names.

    The shape and element type are checked against the file when it is opened. The keys `w#packed` and `w#sums0*3` name
    what follows from tensor `w` (docs/memory.md).

    ```mlir
    %w = graph.weight "layer0.w" : tensor<784x128xf32>
    ```

    Source: the safetensors format, <https://github.com/huggingface/safetensors>.
    """

    name = "graph.weight"

    key = prop(TextKind())

    traits = traits_def(Pure(), ConstantLike("weight"))

    def __init__(self, key: str | StringAttr, type_: TensorType, *, attributes: Mapping[str, Attribute] | None = None):
        key = StringAttr(key) if isinstance(key, str) else key
        super().__init__({"key": key}, type_, attributes)

    @property
    def weight_key(self) -> str:
        """The key as a Python string."""
        key = self.properties["key"]
        assert isinstance(key, StringAttr)
        return key.data

    def verification_key(self) -> tuple[int, ...] | None:
        """
        Returns what verification depends on as long as the op does not change: the type of the result.

        It is `None` for an op that lacks a valid key, or that has other operands, results or properties than a weight.
        """
        key = self.properties.get("key")
        plain = isinstance(key, StringAttr) and key.data and len(self.properties) == len(self.results) == 1
        return (id(self.results[0].type),) if plain and not self._operands else None

    def verify_(self) -> None:
        key = self.properties["key"]
        if not isinstance(key, StringAttr):
            raise VerifyException(f"'key' is {key}, expected a string")
        if not key.data:
            raise VerifyException("the key is empty")
        assert self.shaped

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        key = TextKind().parse(parser, "graph.weight")
        parser.parse_punctuation(":", " after the key")
        type_, _ = _parse_static_type(parser)
        return cls.create(result_types=[type_], properties={"key": key}, attributes=attributes)

    @classmethod
    def parse_plain(cls, parser: StepwellParser, offset: int, location: LocationAttr) -> tuple[Self, int] | None:
        """Parses the op when it is spelled in the usual way, as `core.text.plain_ops.PlainReader` says."""
        found = parse_plain_weight(parser, offset)
        if found is None:
            return None
        key, type_, end = found
        op = cls.create(result_types=[type_], properties={"key": StringAttr(key)}, location=location)
        return op, end

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.properties["key"])
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)


def is_constant(op: Operation) -> bool:
    """Returns whether `op` is a constant, a splat or a weight of the graph dialect."""
    return isinstance(op, LiteralOp)
