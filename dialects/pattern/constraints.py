"""Tests of a value, and their combinations. Each takes a value pattern and is one itself."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .ops import IS_VALUE, VALUE, InRule
from .sizes import parse_sizes, sizes_text


@irdl_op_definition
class HasDtypeOp(InRule):
    """A test of the element type of a value: `pattern.has_dtype %x, f32`."""

    name = "pattern.has_dtype"
    subject = operand_def(IS_VALUE)
    dtype = prop_def(Attribute)
    result = result_def(IS_VALUE)
    assembly_format = "$subject `,` $dtype attr-dict"


@irdl_op_definition
class HasTypeOp(InRule):
    """A test of the whole type of a value: `pattern.has_type %x, tensor<4xf32>`."""

    name = "pattern.has_type"
    subject = operand_def(IS_VALUE)
    type = prop_def(Attribute)
    result = result_def(IS_VALUE)
    assembly_format = "$subject `,` $type attr-dict"


@irdl_op_definition
class HasShapeOp(InRule):
    """
    A test of the shape of a value: `pattern.has_shape %x, [?, 10]`. `?` accepts any size, and only `?` accepts `?`.
    """

    name = "pattern.has_shape"
    subject = operand_def(IS_VALUE)
    sizes = prop_def(DenseArrayBase.constr(i64))
    result = result_def(IS_VALUE)

    @classmethod
    def parse(cls, parser: Parser) -> HasShapeOp:
        subject = parser.parse_operand(VALUE)
        parser.parse_punctuation(",")
        op = cls.create(operands=[subject], properties={"sizes": parse_sizes(parser)}, result_types=[VALUE])
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.subject)
        printer.print_string(f", {sizes_text(self.sizes)}")
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class HasAttrOp(InRule):
    """
    A test of properties or attributes of the op that defines a value: `pattern.has_attr %conv with {strides = [2, 2]}`.

    An absent property has its default. Numbers and lists compare by value, whatever their width.
    """

    name = "pattern.has_attr"
    subject = operand_def(IS_VALUE)
    wanted = prop_def(DictionaryAttr)
    result = result_def(IS_VALUE)
    assembly_format = "$subject `with` $wanted attr-dict"


@irdl_op_definition
class HasKindOp(InRule):
    """A test of the fusion kind of the op that defines a value: `pattern.has_kind %x, "elementwise | broadcast"`."""

    name = "pattern.has_kind"
    subject = operand_def(IS_VALUE)
    kinds = prop_def(StringAttr)
    result = result_def(IS_VALUE)
    assembly_format = "$subject `,` $kinds attr-dict"


@irdl_op_definition
class HoldsOp(InRule):
    """
    A named condition of a value: `pattern.holds %x, "single-use"`. Unlike `pattern.require` it is part of the pattern.

    `pattern.holds %x, "same-shape"(%y)` is a condition of several values, of which the others are matched elsewhere.
    """

    name = "pattern.holds"
    subject = operand_def(IS_VALUE)
    condition = prop_def(StringAttr)
    others = var_operand_def(IS_VALUE)
    parameters = opt_prop_def(DictionaryAttr)
    result = result_def(IS_VALUE)
    assembly_format = "$subject `,` $condition (`(` $others^ `)`)? (`with` $parameters^)? attr-dict"


@irdl_op_definition
class AndOp(InRule):
    """A value that all patterns match: `pattern.and %a, %b`."""

    name = "pattern.and"
    patterns = var_operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    assembly_format = "$patterns attr-dict"

    def verify_(self) -> None:
        if not self.patterns:
            raise VerifyException("expected at least one pattern")


@irdl_op_definition
class NotOp(InRule):
    """A value that the pattern does not match: `pattern.not %a`. Nothing inside is bound."""

    name = "pattern.not"
    pattern = operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    assembly_format = "$pattern attr-dict"


@irdl_op_definition
class ArgumentOp(InRule):
    """An argument of a function or block: `pattern.argument`, `pattern.argument 0`, `pattern.argument "x"`."""

    name = "pattern.argument"
    index = opt_prop_def(IntegerAttr)
    argument_name = opt_prop_def(StringAttr)
    result = result_def(IS_VALUE)

    @classmethod
    def parse(cls, parser: Parser) -> ArgumentOp:
        properties: dict[str, Attribute] = {}
        number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        if number is not None:
            properties["index"] = IntegerAttr(number, i64)
        elif (name := parser.parse_optional_str_literal()) is not None:
            properties["argument_name"] = StringAttr(name)
        op = cls.create(properties=properties, result_types=[VALUE])
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        if self.index is not None:
            printer.print_string(f" {self.index.value.data}")
        elif self.argument_name is not None:
            printer.print_string(" ")
            printer.print_string_literal(self.argument_name.data)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class LiteralOp(InRule):
    """The constant with exactly this value and type, compared by bits: `pattern.literal dense<0.0> : tensor<4xf32>`."""

    name = "pattern.literal"
    value = prop_def(Attribute)
    result = result_def(IS_VALUE)
    assembly_format = "$value attr-dict"


@irdl_op_definition
class AttributeOp(InRule):
    """
    An attribute of a matched op that the replacement uses: `%axis = pattern.attribute %softmax, "axis"`.

    The op does not match when it has no such attribute and the attribute has no default.
    """

    name = "pattern.attribute"
    op = operand_def(IS_VALUE)
    attribute_name = prop_def(StringAttr)
    result = result_def(IS_VALUE)
    assembly_format = "$op `,` $attribute_name attr-dict"

    def __init__(self, op: SSAValue, attribute_name: str) -> None:
        super().__init__(operands=[op], properties={"attribute_name": StringAttr(attribute_name)}, result_types=[VALUE])


@irdl_op_definition
class ComputeOp(InRule):
    """
    An attribute for the replacement, by a formula over sizes and attributes: `pattern.compute "size($0, 0) * 2"(%x)`.

    Where the formula has no value, for example because a size is `?`, the rule does not apply.
    """

    name = "pattern.compute"
    formula = prop_def(StringAttr)
    arguments = var_operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    assembly_format = "$formula `(` $arguments `)` attr-dict"
