"""Loop functions, calls of them, and buffers that live inside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IndexType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    i32,
)
from xdsl.dialects.utils.format import print_func_argument
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryAllocEffect,
    SingleBlockImplicitTerminator,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ...core.ir.appending import fill_op
from ...core.ir.reprs import ShownOp
from ...core.ir.symbols import lookup_symbol, symbol
from ...core.ir.walk import ops_of
from ...core.messages.articles import quoted
from .block import BlockOp
from .syntax import print_attributes, print_body, value_name
from .terminators import YieldOp, complete_bodies

SCOPES = ("global", "local")
UNKNOWN_SCOPE = 'unknown scope "{}", expected "global" or "local"'


@irdl_op_definition
class FuncOp(ShownOp):
    """
    A function over buffers. It reads its inputs, writes its outputs and returns nothing. No two arguments share memory.

    ```mlir
    tensor_loop.func @relu(%A: memref<4xf32>) outs(%B: memref<4xf32>) { ... }
    ```
    """

    name = "tensor_loop.func"

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    """The type `(types of the inputs) -> (types of the outputs)`."""
    sym_visibility = opt_prop_def(StringAttr)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    """One dictionary per argument, inputs then outputs."""
    body = region_def("single_block")

    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        input_types: Sequence[Attribute],
        output_types: Sequence[Attribute],
        body: Region | None = None,
        visibility: str | None = None,
        arg_attrs: ArrayAttr[DictionaryAttr] | None = None,
    ):
        if body is None:
            body = Region(Block(arg_types=(*input_types, *output_types)))
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "function_type": FunctionType.from_lists(input_types, output_types),
        }
        if visibility is not None:
            properties["sym_visibility"] = StringAttr(visibility)
        if arg_attrs is not None:
            properties["arg_attrs"] = arg_attrs
        fill_op(self, properties=properties, regions=[body])
        complete_bodies(self)

    def __post_init__(self) -> None:
        super().__post_init__()
        complete_bodies(self)

    @classmethod
    def create_named(
        cls,
        name: str,
        input_types: Sequence[Attribute],
        output_types: Sequence[Attribute],
        arg_names: Sequence[str] = (),
        visibility: str | None = None,
    ) -> FuncOp:
        """Makes a function with an empty body. `arg_names` names the inputs, then the outputs."""
        op = cls(name, input_types, output_types, visibility=visibility)
        for argument, hint in zip(op.body.block.args, arg_names, strict=False):
            argument.name_hint = hint
        return op

    @property
    def inputs(self) -> tuple[BlockArgument, ...]:
        return self.body.block.args[: len(self.function_type.inputs)]

    @property
    def outputs(self) -> tuple[BlockArgument, ...]:
        return self.body.block.args[len(self.function_type.inputs) :]

    @property
    def input_types(self) -> tuple[Attribute, ...]:
        return self.function_type.inputs.data

    @property
    def output_types(self) -> tuple[Attribute, ...]:
        return self.function_type.outputs.data

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is not None and not parent.has_trait(SymbolTable):
            raise VerifyException(f"@{self.sym_name.data} stands in '{parent.name}', expected a module around it")
        expected = (*self.input_types, *self.output_types)
        found = self.body.block.arg_types
        if tuple(found) != expected:
            raise VerifyException(
                f"body of @{self.sym_name.data} has arguments ({_types(found)}), "
                f"expected ({_types(expected)}) as in its type"
            )
        for output in self.outputs:
            if not isinstance(output.type, MemRefType):
                raise VerifyException(f"output of @{self.sym_name.data} is of type {output.type}, expected a memref")
        if self.arg_attrs is not None and len(self.arg_attrs) != len(expected):
            raise VerifyException(
                f"@{self.sym_name.data} has {len(expected)} arguments but {len(self.arg_attrs)} argument dictionaries"
            )
        names = Counter(op.block_name.data for op in ops_of(self.body, BlockOp))
        for block_name, times in names.items():
            if times > 1:
                raise VerifyException(
                    f'{times} blocks of @{self.sym_name.data} are named "{block_name}", expected different names'
                )

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        visibility = parser.parse_optional_visibility_keyword()
        name = parser.parse_symbol_name().data
        inputs = _parse_arguments(parser)
        parser.parse_keyword("outs")
        outputs = _parse_arguments(parser)
        arguments = [*inputs, *outputs]
        attributes = parser.parse_optional_attr_dict_with_keyword(
            ("sym_name", "function_type", "sym_visibility", "arg_attrs")
        )
        dictionaries = [attrs for _, attrs in arguments]
        op = cls(
            name,
            [argument.type for argument, _ in inputs],
            [argument.type for argument, _ in outputs],
            parser.parse_region([argument for argument, _ in arguments]),
            None if visibility is None else visibility.data,
            ArrayAttr(DictionaryAttr(attrs) for attrs in dictionaries) if any(dictionaries) else None,
        )
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(f" {self.sym_visibility.data}")
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        self._print_arguments(printer, self.inputs)
        printer.print_string(" outs")
        self._print_arguments(printer, self.outputs)
        print_attributes(printer, self)
        print_body(printer, self.body)

    def _print_arguments(self, printer: Printer, arguments: Sequence[BlockArgument]) -> None:
        def print_one(argument: BlockArgument) -> None:
            attrs = None if self.arg_attrs is None else self.arg_attrs.data[argument.index]
            print_func_argument(printer, argument, attrs)

        with printer.in_parens():
            printer.print_list(arguments, print_one)


def _types(types: Sequence[Attribute]) -> str:
    return ", ".join(str(found) for found in types)


def _parse_arguments(parser: Parser) -> list[tuple[Parser.Argument, dict[str, Attribute]]]:
    def parse_one() -> tuple[Parser.Argument, dict[str, Attribute]]:
        argument = parser.parse_argument()
        attrs = parser.parse_optional_dictionary_attr_dict()
        argument.location = parser.parse_optional_location()
        return argument, attrs

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_one)


class CallSymbolUser(SymbolUserOpInterface):
    """Verifies that the callee of a call is a loop function of the same types."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        name = op.callee.string_value()
        callee = lookup_symbol(op, name)
        if callee is None:
            raise VerifyException(f"@{name} is not defined in this module")
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"@{name} is {quoted(callee.name)}, expected a 'tensor_loop.func'")
        for what, given, declared in (
            ("inputs", op.inputs, callee.input_types),
            ("outputs", op.outputs, callee.output_types),
        ):
            found = tuple(value.type for value in given)
            if len(found) != len(declared):
                raise VerifyException(f"call of @{name} has {len(found)} {what}, expected {len(declared)}")
            for position, (type_found, type_declared) in enumerate(zip(found, declared, strict=True)):
                if type_found != type_declared:
                    raise VerifyException(
                        f"call of @{name}: number {position} of the {what} is of type {type_found}, "
                        f"expected {type_declared}"
                    )


@cache
def _segments(inputs: int, outputs: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, [inputs, outputs])


@irdl_op_definition
class CallOp(ShownOp):
    """
    Runs a loop function on buffers.

    ```mlir
    tensor_loop.call @relu(%a) outs(%b) : (memref<4xf32>) outs (memref<4xf32>)
    ```
    """

    name = "tensor_loop.call"

    inputs = var_operand_def()
    outputs = var_operand_def(MemRefType)
    callee = prop_def(FlatSymbolRefAttrConstr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(CallSymbolUser())

    assembly_format = (
        "$callee `(` $inputs `)` `outs` `(` $outputs `)` attr-dict "
        "`:` `(` type($inputs) `)` `outs` `(` type($outputs) `)`"
    )

    def __init__(self, callee: str | SymbolRefAttr, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]):
        if isinstance(callee, str):
            callee = symbol(callee)
        # IRDL's constructor is not used. A net has a call per layer and kernel, and its checks take most of the time to
        # make one.
        sizes = _segments(len(inputs), len(outputs))
        Operation.__init__(
            self, operands=[*inputs, *outputs], properties={"callee": callee, "operandSegmentSizes": sizes}
        )

    def verify_(self) -> None:
        """Verifies that the buffers that the callee writes are nothing else that it is given, which it may assume."""
        for output, times in Counter((*dict.fromkeys(self.inputs), *self.outputs)).items():
            if times > 1:
                raise VerifyException(
                    f"{value_name(output)} is an output of the call and given to it twice; arguments must not overlap"
                )


@irdl_op_definition
class AllocOp(ShownOp):
    """
    A buffer that lives until the end of the function. Its contents start undefined. One operand per `?` of the type.

    The scope says where it should live: `global` in memory, or `local` close to the core (stack or registers).

    ```mlir
    %T = tensor_loop.alloc : memref<8xf32>
    %U = tensor_loop.alloc(%n) scope "local" : memref<?xf32>
    ```
    """

    name = "tensor_loop.alloc"

    dynamic_sizes = var_operand_def(IndexType)
    scope = prop_def(StringAttr, default_value=StringAttr("global"))
    memref = result_def(MemRefType)

    traits = traits_def(MemoryAllocEffect())

    assembly_format = "(`(` $dynamic_sizes^ `)`)? (`scope` $scope^)? attr-dict `:` type($memref)"

    def __init__(self, buffer_type: MemRefType, dynamic_sizes: Sequence[SSAValue] = (), scope: str = "global"):
        fill_op(self, dynamic_sizes, (buffer_type,), {"scope": StringAttr(scope)})

    def verify_(self) -> None:
        if self.scope.data not in SCOPES:
            raise VerifyException(UNKNOWN_SCOPE.format(self.scope.data))
        dynamic = sum(1 for extent in self.memref.type.get_shape() if extent < 0)
        if dynamic != len(self.dynamic_sizes):
            raise VerifyException(
                f"{self.memref.type} has {dynamic} dynamic dimensions but {len(self.dynamic_sizes)} sizes are given"
            )
