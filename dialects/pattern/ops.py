"""The ops of the pattern dialect: what a rule looks for, its conditions, and its replacement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from .rules import NUMERICS as NUMERICS
from .rules import DefineOp
from .rules import RuleOp as RuleOp
from .values import IS_VALUE as IS_VALUE
from .values import VALUE as VALUE
from .values import ValueType as ValueType


class InRule(ShownOp):
    """An op of the matching part of a rule."""

    traits = traits_def(HasParent(RuleOp, DefineOp))


@irdl_op_definition
class AnyOp(InRule):
    """Any value."""

    name = "pattern.any"
    result = result_def(IS_VALUE)
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[VALUE])


@irdl_op_definition
class AnyOperationOp(InRule):
    """Any op with at least one result, used as the root, or found by a condition such as `equivalent`."""

    name = "pattern.any_op"
    result = result_def(IS_VALUE)
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[VALUE])


@irdl_op_definition
class ConstantOp(InRule):
    """The result of a constant op."""

    name = "pattern.constant"
    result = result_def(IS_VALUE)
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[VALUE])


@irdl_op_definition
class SplatOp(InRule):
    """
    A constant all of whose elements are `number`, of any shape and element type: `pattern.splat -0.0`.

    For floats 0.0 and -0.0 differ, and the number is rounded to their type.
    """

    name = "pattern.splat"
    number = prop_def(FloatAttr)
    result = result_def(IS_VALUE)

    def __init__(self, number: float) -> None:
        super().__init__(properties={"number": FloatAttr(number, Float64Type())}, result_types=[VALUE])

    @classmethod
    def parse(cls, parser: Parser) -> SplatOp:
        # The number has no type here, which assembly formats cannot print.
        number = parser.parse_number()
        op = cls(float(number))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.number.value.data!r}")
        printer.print_op_attributes(self.attributes)


class NamedOp(ShownOp):
    """
    An op with the syntax `op "name"(%a, %b, %rest...) {attribute = 1}`. Ops that stand for an op, a condition or a
    builder share it.
    """

    def __init__(
        self,
        target: str | Sequence[str],
        arguments: Sequence[SSAValue],
        parameters: dict[str, Attribute] | None = None,
        **properties: Attribute,
    ) -> None:
        named = StringAttr(target if isinstance(target, str) else " | ".join(target))
        given: dict[str, Attribute] = {"target": named, **properties}
        if parameters:
            given["parameters"] = DictionaryAttr(parameters)
        types = [VALUE] * len(self.get_irdl_definition().results)
        operands: list[Sequence[SSAValue]] = [list(arguments)]
        operands += [[]] * (len(self.get_irdl_definition().operands) - 1)
        super().__init__(operands=operands, properties=given, result_types=types)

    @property
    def parameter_values(self) -> dict[str, Attribute]:
        found = self.properties.get("parameters")
        return dict(found.data) if isinstance(found, DictionaryAttr) else {}


@irdl_op_definition
class OpOp(NamedOp):
    """
    An op by name and operands: `pattern.op "graph.softmax"(%a) with {axis = 0}`. `"graph.sin | graph.cos"` is either.

    Operands of a commutative op match in any order, and so do those of any op with `unordered`:
    `pattern.op unordered "graph.concat"(%a, %b)`. As a value it is the op's only result.
    """

    name = "pattern.op"
    unordered = opt_prop_def(UnitAttr)
    target = prop_def(StringAttr)
    arguments = var_operand_def(IS_VALUE)
    parameters = opt_prop_def(DictionaryAttr)
    result = result_def(IS_VALUE)
    traits = traits_def(HasParent(RuleOp, DefineOp))
    assembly_format = "(`unordered` $unordered^)? $target `(` $arguments `)` (`with` $parameters^)? attr-dict"


@irdl_op_definition
class ResultOp(InRule):
    """One result of an op, call or `scf.if` that has several: `pattern.result %op, 1`, or `pattern.result %op, any`."""

    name = "pattern.result"
    op = operand_def(IS_VALUE)
    index = opt_prop_def(IntegerAttr)
    result = result_def(IS_VALUE)

    @classmethod
    def parse(cls, parser: Parser) -> ResultOp:
        # Assembly formats have no word in the place of an attribute.
        op = parser.parse_operand(VALUE)
        parser.parse_punctuation(",")
        is_any = parser.parse_optional_keyword("any") is not None
        properties = {} if is_any else {"index": IntegerAttr(parser.parse_integer(allow_boolean=False), i64)}
        if not is_any and parser.parse_optional_punctuation(":") is not None:
            parser.parse_type()
        made = cls.create(operands=[op], properties=properties, result_types=[VALUE])
        made.attributes |= parser.parse_optional_attr_dict()
        return made

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.op)
        printer.print_string(", any" if self.index is None else f", {self.index.value.data}")
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class RestOp(InRule):
    """
    The remaining operands of an op, where it is the last one. Among the parts of loops it is any number of others.

    With `pattern.rest each %a`, each of them matches `%a`.
    """

    name = "pattern.rest"
    each = opt_operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    assembly_format = "(`each` $each^)? attr-dict"

    def __init__(self) -> None:
        super().__init__(operands=[[]], result_types=[VALUE])


@irdl_op_definition
class OrOp(InRule):
    """The first alternative that leads to a match: `pattern.or %a, %b`."""

    name = "pattern.or"
    alternatives = var_operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    assembly_format = "$alternatives attr-dict"


@irdl_op_definition
class RequireOp(NamedOp):
    """
    A named condition: `pattern.require "single-use"(%m) remark "not fused: {name} has {users} users"`.

    `remark` is emitted at the root when the rest of the pattern matches and this condition does not hold.
    """

    name = "pattern.require"
    target = prop_def(StringAttr)
    arguments = var_operand_def(IS_VALUE)
    parameters = opt_prop_def(DictionaryAttr)
    remark = opt_prop_def(StringAttr)
    traits = traits_def(HasParent(RuleOp))
    assembly_format = "$target `(` $arguments `)` (`with` $parameters^)? (`remark` $remark^)? attr-dict"


@irdl_op_definition
class ReplaceOp(InRule):
    """Ends a rule that only reuses what it matched: `pattern.replace %root with %x`."""

    name = "pattern.replace"
    root = operand_def(IS_VALUE)
    replacement = operand_def(IS_VALUE)
    assembly_format = "$root `with` $replacement attr-dict"


@irdl_op_definition
class PartitionOp(InRule):
    """
    Ends a rule without a replacement: `pattern.partition %root with {composite = "conv_relu"}`.

    The pass `partition-pattern` moves a match into a function with these attributes. Several roots, `%q, %k`, become
    one function that returns the results of all.
    """

    name = "pattern.partition"
    root = operand_def(IS_VALUE)
    others = var_operand_def(IS_VALUE)
    wanted = opt_prop_def(DictionaryAttr)
    assembly_format = "$root (`,` $others^)? (`with` $wanted^)? attr-dict"


@irdl_op_definition
class RewriteOp(ShownOp):
    """
    Ends a rule that makes ops: `pattern.rewrite %root { … pattern.yield %new }`.

    With several roots, `pattern.rewrite %q, %k { … pattern.yield %a, %b }`, the results of all are replaced, in order.
    """

    name = "pattern.rewrite"
    root = operand_def(IS_VALUE)
    others = var_operand_def(IS_VALUE)
    body = region_def("single_block")
    traits = traits_def(HasParent(RuleOp))
    assembly_format = "$root (`,` $others^)? $body attr-dict"


@irdl_op_definition
class CreateOp(NamedOp):
    """
    A new op: `pattern.create "graph.softmax"(%a) with {axis = 0}`.

    Attributes that `pattern.attribute` found are given by `set ["axis"](%axis)`. An op that replaces the root has the
    root's types. The type of another new op is inferred.
    """

    name = "pattern.create"
    target = prop_def(StringAttr)
    arguments = var_operand_def(IS_VALUE)
    parameters = opt_prop_def(DictionaryAttr)
    result = result_def(IS_VALUE)
    captured_names = opt_prop_def(ArrayAttr)
    captured = var_operand_def(IS_VALUE)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(HasParent(RewriteOp))
    assembly_format = (
        "$target `(` $arguments `)` (`with` $parameters^)? (`set` $captured_names^ `(` $captured `)`)? attr-dict"
    )

    def verify_(self) -> None:
        names = () if self.captured_names is None else self.captured_names.data
        if len(names) != len(self.captured) or not all(isinstance(name, StringAttr) for name in names):
            raise VerifyException(f"{len(self.captured)} attributes for the names {self.captured_names}")


@irdl_op_definition
class BuildOp(NamedOp):
    """The values that a named builder makes: `pattern.build "compose-permutations"(%outer, %inner)`."""

    name = "pattern.build"
    target = prop_def(StringAttr)
    arguments = var_operand_def(IS_VALUE)
    parameters = opt_prop_def(DictionaryAttr)
    result = result_def(IS_VALUE)
    traits = traits_def(HasParent(RewriteOp))
    assembly_format = "$target `(` $arguments `)` (`with` $parameters^)? attr-dict"


@irdl_op_definition
class YieldOp(ShownOp):
    """The values that replace the results of the root, in order."""

    name = "pattern.yield"
    arguments = var_operand_def(IS_VALUE)
    traits = traits_def(HasParent(RewriteOp), IsTerminator())
    assembly_format = "$arguments attr-dict"


def rules_of(module: Operation) -> Iterator[RuleOp]:
    """Yields the rules directly inside a module."""
    for region in module.regions:
        for block in region.blocks:
            for op in block.ops:
                if isinstance(op, RuleOp):
                    yield op
