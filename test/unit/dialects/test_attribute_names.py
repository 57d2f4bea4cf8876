"""A name among the attributes that is no declared one is an error on every op of our dialects (AUDIT B1, V4)."""

from collections.abc import Iterator

import pytest
from stepwell.core.ir.verification import VerificationError, verify_module
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.parsing import make_context, parse, parse_text
from stepwell.dialects import graph
from stepwell.universe import DIALECTS
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, UnitAttr, i32, i64
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition


def own_ops() -> list[type[IRDLOperation]]:
    ctx = make_context()
    dialects = [ctx.get_dialect(name) for name in sorted(DIALECTS)]
    return [op for dialect in dialects for op in dialect.operations if issubclass(op, IRDLOperation)]


def misspelt(name: str) -> Iterator[str]:
    """Yields `name` with each letter changed, and with one lost."""
    for position, letter in enumerate(name):
        yield name[:position] + ("z" if letter == "q" else "q") + name[position + 1 :]
    yield name[:-1] if len(name) > 1 else name + name


def refusal(op_type: type[IRDLOperation], name: str) -> str:
    op = op_type.create(attributes={name: IntegerAttr(0, i64)})
    with pytest.raises(VerificationError) as caught:
        verify_module(ModuleOp([op]))
    return str(caught.value)


@pytest.mark.parametrize("op_type", own_ops(), ids=lambda op_type: op_type.name)
def test_a_property_among_the_attributes_and_a_misspelt_one_are_errors(op_type: type[IRDLOperation]) -> None:
    properties = op_type.get_irdl_definition().properties
    for name in properties:
        assert f"'{name}' is a property of this op but stands among its attributes" in refusal(op_type, name)
        for wrong in misspelt(name):
            expected = "is a property" if wrong in properties else f"the op has no attribute '{wrong}'"
            assert expected in refusal(op_type, wrong)
    assert "the op has no attribute 'tag'" in refusal(op_type, "tag")
    assert "has no attribute 'mypkg" not in refusal_of_other_things(op_type)


def refusal_of_other_things(op_type: type[IRDLOperation]) -> str:
    """Returns what is said of an op whose attribute has a prefix: such ops lack operands, but not a name."""
    try:
        verify_module(ModuleOp([op_type.create(attributes={"mypkg.tag": UnitAttr()})]))
    except VerificationError as error:
        return str(error)
    return ""


def test_every_dialect_of_ours_is_covered() -> None:
    assert {op.name.partition(".")[0] for op in own_ops()} == set(DIALECTS)
    assert len(own_ops()) > 150


SHOWN = {
    'graph.softmax %x {axis = 0}': ("'axis' is a property of this op", "hint: write ', axis = 0'"),
    'graph.softmax %x {axs = 0}': ("no attribute 'axs'", "hint: did you mean the property 'axis'? Write ', axis = 0'"),
    'graph.sum %x {axis = 1 : i32}': ("'axis' is a property of this op", "hint: write ', axis = [1]'"),
    'graph.permute_dims %x {axes = [1, 0]}': ("'axes' is a property of this op", "hint: write ', axes = [1, 0]'"),
    'graph.expand_dims %x {axis = array<i64: 0>}': ("'axis' is a property", "hint: write ', axis = [0]'"),
    'graph.relu %x {tag}': ("no attribute 'tag'", "an attribute of your own needs a prefix, as in 'mypkg.tag'"),
    'graph.astype %x, dtype = f16 {tag}': ("no attribute 'tag'", "hint: it has the property dtype; an attribute of"),
}  # fmt: skip


@pytest.mark.parametrize("op", SHOWN)
@pytest.mark.parametrize("types", ["(tensor<4x8xf32>)", "(tensor<4x8xf32>) -> tensor<4x8xf32>"])
def test_the_error_shows_the_right_spelling_whether_types_are_inferred_or_not(op: str, types: str) -> None:
    """AUDIT B1: `graph.sum %x {axis = 1}` only said `expected tensor<f32>`."""
    text = f"func.func @f(%x: tensor<4x8xf32>) {{\n  %y = {op} : {types}\n  func.return\n}}\n"
    with pytest.raises(StepwellError) as caught:
        parse(text)
    found, hint = SHOWN[op]
    assert str(caught.value).startswith(f"<text>:2:3: error: '{op.split()[0]}': ")
    assert found in str(caught.value) and hint in str(caught.value)


@pytest.mark.parametrize(
    "op, hint",
    [
        ('"graph.softmax"(%x) {axs = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>', "Write ', axis = 0'"),
        ('graph.weight {keys = "w"} "w" : tensor<4x8xf32>', "did you mean the property 'key'? Write <{key = …}> in"),
        ("tensor_loop.alloc {scop = 1} : memref<4xf32>", "did you mean the property 'scope'? Write <{scope = …}> in"),
    ],
)
def test_other_forms_are_checked_when_the_program_is_verified(op: str, hint: str) -> None:
    text = f"func.func @f(%x: tensor<4x8xf32>) {{\n  %y = {op}\n  func.return\n}}\n"
    with pytest.raises(VerificationError) as caught:
        parse(text)
    assert hint in str(caught.value)


def test_attributes_with_a_prefix_are_kept() -> None:
    line = "%y = graph.softmax %x, axis = 0 {mypkg.axs = 0 : i64, other.tag} : (tensor<4xf32>) -> tensor<4xf32>"
    assert line in str(parse(f"func.func @f(%x: tensor<4xf32>) {{\n  {line}\n  func.return\n}}\n"))


@irdl_op_definition
class TwiceOp(graph.PureGraphOp):
    name = "theirs.twice"

    operand = graph.tensor_operand("F")
    factor = graph.prop(graph.INTEGER, 2)
    result = graph.tensor_result()

    @classmethod
    def infer(cls, x: graph.Shaped, *, factor: int) -> tuple[graph.Shaped, ...]:
        return (x,)


def test_ops_of_a_package_that_build_on_ours_are_checked_too() -> None:
    ctx = make_context()
    ctx.load_dialect(Dialect("theirs", [TwiceOp]))
    text = "func.func @f(%x: tensor<4xf32>) {\n  %y = theirs.twice %x {facto = 3} : (tensor<4xf32>)\n  func.return\n}\n"
    with pytest.raises(StepwellError, match=r"did you mean the property 'factor'\? Write ', factor = 3'"):
        parse_text(ctx, text)


def test_ops_of_other_dialects_keep_what_they_had() -> None:
    text = "func.func @f(%x: i32) attributes {tag} {\n  %y = arith.addi %x, %x {tag} : i32\n  func.return\n}\n"
    assert str(parse(text)).count("tag") == 2


def test_the_legal_form_of_an_attribute_has_the_same_value() -> None:
    assert graph.INTEGER.legal(IntegerAttr(3, i32)) == IntegerAttr(3, i64)
    made: Attribute = DenseArrayBase.from_list(i64, [1])
    assert graph.INTEGERS.legal(IntegerAttr(1, i32)) == made and graph.BOOL.legal(IntegerAttr(3, i32)) is None
