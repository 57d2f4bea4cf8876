"""Calls of loop functions from the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    SymbolRefAttr,
)
from xdsl.interfaces import ConditionallySpeculatableInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AnyAttr, irdl_op_definition, prop_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import NoMemoryEffect, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from ...core.ir.appending import fill_op
from ...core.ir.element_types import ATTRIBUTES
from ...core.ir.reprs import ShownOp
from ...core.ir.sizes import entries_of_arguments, sizes_that_differ
from ...core.ir.symbols import lookup_symbol, symbol_table_of, symbols_of
from ...core.messages.articles import with_article
from ...core.messages.diagnostics import did_you_mean
from ...core.roles import SIGNATURE
from ...te.dtypes import TABLE
from ..traits import MayFail
from .shapes import Shape, compatible
from .signature import shaped_of
from .syntax import parse_types, print_types

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer

LOOP_FUNCTION = "tensor_loop.func"
"""
The name of the op that defines a kernel. The op gives the types of its buffers as `input_types` and `output_types`.
"""


class _KernelUse(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallKernelOp)
        op.verify_callee()


@irdl_op_definition
class CallKernelOp(MayFail, ConditionallySpeculatableInterface, ShownOp):
    """
    Computes the outputs of the loop function `callee` on the operands.

    Shapes: the operands have the shapes of the input buffers of the function, and the results those of its output
    buffers.
    Types: the buffers hold integers as signless integers, and i1 as i8.
    The op is pure, but it fails when the function holds a `cf.assert` that fails.

    ```mlir
    %y = graph.call_kernel @softmax(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "graph.call_kernel"

    callee = prop_def(AnyAttr())
    inputs = var_operand_def()
    outputs = var_result_def()

    traits = traits_def(NoMemoryEffect(), _KernelUse())

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        operands: Sequence[SSAValue | Operation],
        result_types: Sequence[Attribute],
        *,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        callee = SymbolRefAttr(callee) if isinstance(callee, str) else callee
        fill_op(self, [SSAValue.get(each) for each in operands], result_types, {"callee": callee})
        self.attributes.update(attributes or {})

    @property
    def callee_name(self) -> str:
        """The symbol that is called."""
        callee = self.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        return callee.root_reference.data

    def kernel(self) -> Operation | None:
        """Returns the loop function that is called, or `None` when there is none."""
        return lookup_symbol(self, self.callee_name)

    def may_fail(self) -> bool:
        kernel = self.kernel()
        return kernel is None or any(op.name == "cf.assert" for op in kernel.walk())

    def is_speculatable(self) -> bool:
        return not self.may_fail()

    def verify_(self) -> None:
        callee = self.properties["callee"]
        if not isinstance(callee, SymbolRefAttr) or len(callee.nested_references.data):
            raise VerifyException(f"'callee' is {callee}, expected the name of a function")

    def verify_callee(self) -> None:
        """
        Raises `VerifyException` unless the callee is a loop function whose buffers fit the operands and results of this
        op.
        """
        name = self.callee_name
        kernel = self.kernel()
        if kernel is None:
            table = symbol_table_of(self)
            hint = None if table is None else did_you_mean(name, symbols_of(table))
            raise VerifyException(f"there is no function @{name}" + ("" if hint is None else f", {hint}"))
        if kernel.name != LOOP_FUNCTION:
            raise VerifyException(f"@{name} is {with_article(kernel.name)}, expected a {LOOP_FUNCTION}")
        duck: Any = kernel
        for word, values, buffers in (
            ("operand", self.operands, tuple(duck.input_types)),
            ("result", self.results, tuple(duck.output_types)),
        ):
            if len(values) != len(buffers):
                inputs = "inputs" if word == "operand" else "outputs"
                raise VerifyException(f"the call has {len(values)} {word}s but @{name} has {len(buffers)} {inputs}")
            for number, (value, buffer) in enumerate(zip(values, buffers, strict=True)):
                _check_buffer(f"{word} {number}", value.type, name, buffer)
        self._check_signature(name, kernel)
        self._check_named_sizes(name, kernel)

    def _check_signature(self, name: str, kernel: Operation) -> None:
        """Raises `VerifyException` where operands or results have other element types than the signature says."""
        types = kernel.attributes.get(SIGNATURE)
        if not isinstance(types, FunctionType):
            return
        for word, values, known in (
            ("operand", self.operands, types.inputs.data),
            ("result", self.results, types.outputs.data),
        ):
            for number, (value, expected) in enumerate(zip(values, known, strict=False)):
                what = f"{word} {number}"
                if shaped_of(value.type, what).dtype != shaped_of(expected, what).dtype:
                    raise VerifyException(f"{what} has type {value.type} but @{name} computes on {expected} there")

    def _check_named_sizes(self, name: str, kernel: Operation) -> None:
        """Raises `VerifyException` where the known sizes of operands and results contradict the names in the kernel."""
        entries = entries_of_arguments(kernel)
        if not any(entries):
            return
        shapes = [shaped_of(value.type, "a value").shape for value in (*self.operands, *self.results)]
        if (reason := sizes_that_differ(entries, shapes)) is not None:
            raise VerifyException(f"@{name}: {reason}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        callee = parser.parse_symbol_name()
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        values, result_types = parse_types(parser, operands)
        if result_types is None:
            parser.raise_error("graph.call_kernel needs its result types after '->'")
        return cls.create(
            operands=values,
            result_types=result_types,
            properties={"callee": SymbolRefAttr(callee)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.properties["callee"])
        printer.print_operands(self.operands)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self)


def is_row_major(buffer: MemRefType, shape: Sequence[int | None]) -> bool:
    """Returns whether a tensor of `shape` may lie in `buffer`, where strides and offsets that it knows decide."""
    if isinstance(buffer.layout, NoneAttr):
        return True
    if not isinstance(buffer.layout, StridedLayoutAttr):
        return False
    strides = buffer.layout.get_strides()
    if len(strides) != len(shape):
        return False
    stride: int | None = 1
    for size, found in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and None not in (stride, found) and stride != found:
            return False
        stride = None if stride is None or size is None else stride * size
    return buffer.layout.get_offset() in (0, None)


def _check_buffer(what: str, type_: Attribute, function: str, buffer: Attribute) -> None:
    """Raises `VerifyException` unless a tensor of `type_` is stored as `buffer`."""
    shaped = shaped_of(type_, what)
    storage = TABLE[shaped.dtype].storage
    if isinstance(buffer, MemRefType):
        dims: Shape = tuple(None if dim == DYNAMIC_INDEX else dim for dim in buffer.get_shape())
        element = buffer.element_type
        name = str(element) if isinstance(element, IntegerType) else element.name
        if name == storage and compatible(shaped.shape, dims):
            if is_row_major(buffer, shaped.shape):
                return
            raise VerifyException(
                f"{what} has type {type_} but @{function} takes a buffer of type {buffer} there, "
                "expected one in row-major order"
            )
    expected = MemRefType(ATTRIBUTES[storage], [DYNAMIC_INDEX if dim is None else dim for dim in shaped.shape])
    raise VerifyException(
        f"{what} has type {type_} but @{function} takes a buffer of type {buffer} there, expected {expected}"
        + (f", since {shaped.dtype} is stored as i8" if TABLE[shaped.dtype].bits < 8 else "")
    )
