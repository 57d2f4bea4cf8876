"""Rules, and patterns with a name that the equations of a file share."""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from .equations.definitions import keep_definition, parse_definition
from .equations.rule import parse_equation
from .headers import parse_doc, print_named, with_attributes
from .values import IS_VALUE

NUMERICS = ("exact", "rounding", "quantised", "fast")

FLAGS = ("injective", "effects")
"""The words that a rule may have."""

ENDS: Final = ("pattern.replace", "pattern.rewrite", "pattern.partition", "pattern.decide")
"""The ops that end a rule."""


def _parse_words(parser: Parser, properties: dict[str, Attribute]) -> None:
    """Parses the class, the flags and the line of a rule, in any order and each once."""
    while True:
        start = parser.pos
        if (word := next((each for each in NUMERICS if parser.parse_optional_keyword(each) is not None), None)) or (
            parser.parse_optional_keyword("numerics") is not None
        ):
            key, value = "numerics", StringAttr(word or parser.parse_str_literal(" for a numerics class"))
        elif flag := next((each for each in FLAGS if parser.parse_optional_keyword(each) is not None), None):
            key, value = flag, UnitAttr()
        elif (doc := parse_doc(parser)) is not None:
            key, value = "doc", doc
        else:
            return
        if key in properties:
            parser.raise_error(f"a rule has one '{key}', found another one", start, parser.pos)
        properties[key] = value


@irdl_op_definition
class RuleOp(ShownOp):
    """
    A rule: matching ops, then conditions, then one `pattern.replace`, `pattern.rewrite` or `pattern.partition`, or
    several `pattern.decide`.

    It may be written as an equation, `pattern.rule "relu-of-relu" : relu(relu(%x)) => relu(%x)`, which is read into the
    same ops. The equation is the `doc` where there is no other.

    Different names of an `injective` rule stand for different values. A rule with `effects` may erase, move and make
    ops with effects.

    `numerics` is `exact` (same bits), `rounding` (same real function) or `fast` (may lose NaN, inf, the sign of zero).
    """

    name = "pattern.rule"

    rule_name = prop_def(StringAttr)
    numerics = prop_def(StringAttr, default_value=StringAttr("exact"))
    doc = opt_prop_def(StringAttr)
    injective = opt_prop_def(UnitAttr)
    effects = opt_prop_def(UnitAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> RuleOp:
        # Assembly formats know no equations.
        name = parser.parse_str_literal(" for the name of the rule")
        properties: dict[str, Attribute] = {"rule_name": StringAttr(name)}
        _parse_words(parser, properties)
        properties.setdefault("numerics", StringAttr(NUMERICS[0]))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_optional_region()
        if body is None:
            body, equation = parse_equation(parser)
            properties.setdefault("doc", StringAttr(equation))
        return with_attributes(cls.create(properties=properties, regions=[body]), attributes)

    def print(self, printer: Printer) -> None:
        numerics = None if self.numerics.data == NUMERICS[0] else self.numerics
        flags = {"injective": self.injective, "effects": self.effects}
        print_named(printer, self, self.rule_name, numerics=numerics, **flags, doc=self.doc)

    def verify_(self) -> None:
        if self.numerics.data not in NUMERICS:
            found, expected = self.numerics.data, ", ".join(NUMERICS)
            raise VerifyException(f"rule '{self.rule_name.data}' has numerics '{found}', expected one of {expected}")
        last = self.body.block.last_op
        if last is None or last.name not in ENDS:
            raise VerifyException(
                f"rule '{self.rule_name.data}' does not end in 'pattern.replace', 'pattern.rewrite', "
                "'pattern.partition' or 'pattern.decide'"
            )


@irdl_op_definition
class DefineOp(ShownOp):
    """
    A pattern that the equations below it in the file take by its name, as if its text stood there.

    ```mlir
    pattern.define "twice"(%x) : %x * 2 or %x + %x
    pattern.rule "half-of-twice" : @twice(%x) / 2 => %x
    ```

    What an argument stands for is matched at each use. Other names that the pattern binds are its own.
    """

    name = "pattern.define"
    pattern_name = prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove())

    @classmethod
    def parse(cls, parser: Parser) -> DefineOp:
        # Assembly formats know no equations.
        start = parser.pos
        name = parser.parse_str_literal(" for the name of the pattern")
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_optional_region()
        body = parse_definition(parser, name, start) if body is None else keep_definition(parser, name, start, body)
        properties: dict[str, Attribute] = {"pattern_name": StringAttr(name)}
        return with_attributes(cls.create(properties=properties, regions=[body]), attributes)

    def print(self, printer: Printer) -> None:
        print_named(printer, self, self.pattern_name)

    def verify_(self) -> None:
        if not isinstance(self.body.block.last_op, GivesOp):
            raise VerifyException(f"the pattern '{self.pattern_name.data}' does not end in 'pattern.gives'")


@irdl_op_definition
class GivesOp(ShownOp):
    """Ends a `pattern.define` with the value that the pattern stands for."""

    name = "pattern.gives"
    value = operand_def(IS_VALUE)
    traits = traits_def(HasParent(DefineOp), IsTerminator())
    assembly_format = "$value attr-dict"
