"""
Group rules tell which groups of ops of a fusion plan become one. `docs/fusion.md` describes them.

```mlir
pattern.group_rule "fuse-injective-into-reduction" doc "what is read once may be computed where it is read" {
  %producer = pattern.group "elementwise | broadcast | injective"
  %consumer = pattern.group "reduction"
  pattern.require_groups "post-dominated"(%producer, %consumer) remark "{name} has {users} users outside the group"
  pattern.merge_groups %producer into %consumer
}
```
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from .equations.groups import parse_group_equation
from .headers import parse_doc, print_named, with_attributes
from .values import IS_VALUE, VALUE

GROUP_KINDS = ("elementwise", "broadcast", "injective", "reduction", "out-fusable")
"""The kinds that a group can have, from the easiest to fuse to the hardest. An opaque op is in no group."""


@irdl_op_definition
class GroupRuleOp(ShownOp):
    """
    A group rule: `pattern.group`s, then conditions, then one `pattern.merge_groups`.

    In short, `pattern.group_rule "maps" : elementwise %a into elementwise %b where post-dominated(%a, %b)`.
    """

    name = "pattern.group_rule"

    rule_name = prop_def(StringAttr)
    doc = opt_prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> GroupRuleOp:
        # Assembly formats do not know the short form.
        name = parser.parse_str_literal(" for the name of the rule")
        doc = parse_doc(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_optional_region() or parse_group_equation(parser)
        return with_attributes(cls(name, body, None if doc is None else doc.data), attributes)

    def print(self, printer: Printer) -> None:
        print_named(printer, self, self.rule_name, doc=self.doc)

    def __init__(self, rule_name: str, body: Region, doc: str | None = None):
        properties: dict[str, Attribute | None] = {
            "rule_name": StringAttr(rule_name),
            "doc": None if doc is None else StringAttr(doc),
        }
        super().__init__(properties=properties, regions=[body])

    def verify_(self) -> None:
        ops = list(self.body.block.ops)
        merges = [op for op in ops if isinstance(op, MergeGroupsOp)]
        if len(merges) != 1 or ops[-1] is not merges[0]:
            raise VerifyException(f"group rule '{self.rule_name.data}' does not end in its one 'pattern.merge_groups'")
        for op in ops:
            if not isinstance(op, GroupOp | RequireGroupsOp | MergeGroupsOp):
                raise VerifyException(
                    f"group rule '{self.rule_name.data}' holds '{op.name}', expected 'pattern.group', "
                    "'pattern.require_groups' or 'pattern.merge_groups'"
                )


class _InGroupRule(ShownOp):
    traits = traits_def(HasParent(GroupRuleOp))


@irdl_op_definition
class GroupOp(_InGroupRule):
    """A group by its kind: `pattern.group "elementwise | broadcast"`."""

    name = "pattern.group"
    kinds = prop_def(StringAttr)
    result = result_def(IS_VALUE)
    assembly_format = "$kinds attr-dict"

    def __init__(self, kinds: Sequence[str]) -> None:
        super().__init__(properties={"kinds": StringAttr(" | ".join(kinds))}, result_types=[VALUE])

    @property
    def kind_names(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.kinds.data.split("|"))

    def verify_(self) -> None:
        for name in self.kind_names:
            if name not in GROUP_KINDS:
                raise VerifyException(f"kind is '{name}', expected one of {', '.join(GROUP_KINDS)}")


@irdl_op_definition
class RequireGroupsOp(_InGroupRule):
    """
    A named condition of groups: `pattern.require_groups "in-place"(%producer, %consumer) remark "{name} is stretched"`.

    `remark` is emitted (`--remarks`) when two neighbours stay apart because of this condition.
    """

    name = "pattern.require_groups"
    target = prop_def(StringAttr)
    arguments = var_operand_def(IS_VALUE)
    parameters = opt_prop_def(DictionaryAttr)
    remark = opt_prop_def(StringAttr)
    assembly_format = "$target `(` $arguments `)` (`with` $parameters^)? (`remark` $remark^)? attr-dict"

    def __init__(
        self,
        target: str,
        arguments: Sequence[SSAValue],
        parameters: dict[str, Attribute] | None = None,
        remark: str | None = None,
    ) -> None:
        properties: dict[str, Attribute | None] = {
            "target": StringAttr(target),
            "parameters": None if parameters is None else DictionaryAttr(parameters),
            "remark": None if remark is None else StringAttr(remark),
        }
        super().__init__(operands=[list(arguments)], properties=properties)


@irdl_op_definition
class MergeGroupsOp(_InGroupRule):
    """Ends a group rule. The producer, and the groups between, join the consumer."""

    name = "pattern.merge_groups"
    producer = operand_def(IS_VALUE)
    consumer = operand_def(IS_VALUE)
    assembly_format = "$producer `into` $consumer attr-dict"

    def __init__(self, producer: SSAValue, consumer: SSAValue) -> None:
        super().__init__(operands=[producer, consumer])

    def verify_(self) -> None:
        for word, value in (("producer", self.producer), ("consumer", self.consumer)):
            if not isinstance(value.owner, GroupOp):
                raise VerifyException(f"the {word} is not a 'pattern.group'")
        if self.producer is self.consumer:
            raise VerifyException("the producer is the consumer")
