"""The hash that machine code is kept by: another one for whatever prints in another way, or was written elsewhere."""

import pytest
from stepwell.core.ir.cloning import clone_op
from stepwell.core.ir.exact_hash import exact_hash
from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, ModuleOp, NameLoc, StringAttr, UnknownLoc

PROGRAM = """
func.func @f(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %c = graph.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %y = graph.subtract %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = scf.if %p -> (tensor<4xf32>) {
    %r = graph.relu %y : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %r : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  "test.op"(%z) <{a = 1 : i32}> {b = 0.0 : f32} : (tensor<4xf32>) -> ()
  func.return %z : tensor<4xf32>
}
"""

CHANGES = {
    "the name of a value": ("%y", "%w"),
    "the name of an argument": ("%x", "%given"),
    "operands": ("subtract %x, %c", "subtract %c, %x"),
    "an op": ("graph.relu", "graph.exp"),
    "a symbol": ("@f(", "@g("),
    "a number of a constant": ("2.0, 3.0]", "2.0, 3.5]"),
    "the sign of a zero in a constant": ("[0.0,", "[-0.0,"),
    "the sign of a zero": ("b = 0.0", "b = -0.0"),
    "a property": ("<{a = 1 : i32}>", "<{a = 2 : i32}>"),
    "the type of a property": ("<{a = 1 : i32}>", "<{a = 1 : i64}>"),
    "the name of a property": ("<{a = 1 : i32}>", "<{c = 1 : i32}>"),
    "what is a property": ("<{a = 1 : i32}> {b = 0.0 : f32}", "{a = 1 : i32, b = 0.0 : f32}"),
    "the nesting": ("    scf.yield %r : tensor<4xf32>\n  } else {\n", "    scf.yield %y : tensor<4xf32>\n  } else {\n"),
    "types": ("4xf32", "4xf64"),
    "the place of an op": ("  %y =", "   %y ="),
    "one more op": ("  func.return", "  %dead = arith.constant 1 : i32\n  func.return"),
}


def module_of(text: str, name: str = "p.mlir") -> ModuleOp:
    ctx = make_context()
    ctx.allow_unregistered = True
    return parse_text(ctx, text, name)


@pytest.mark.parametrize("change", CHANGES)
def test_what_differs_has_another_hash(change: str) -> None:
    old, new = CHANGES[change]
    assert old in PROGRAM
    assert exact_hash(module_of(PROGRAM)) != exact_hash(module_of(PROGRAM.replace(old, new)))


def test_the_same_text_has_the_same_hash() -> None:
    module = module_of(PROGRAM)
    assert exact_hash(module) == exact_hash(module_of(PROGRAM))
    copy = clone_op(module)
    copy.location = module.location
    assert exact_hash(module) == exact_hash(copy)
    assert exact_hash(module) != exact_hash(module_of(PROGRAM, "q.mlir"))


def test_blocks_and_successors() -> None:
    text = """func.func @f(%p: i1) {{
      "cf.cond_br"(%p)[^{0}, ^{1}] <{{operandSegmentSizes = array<i32: 1, 0, 0>}}> : (i1) -> ()
    ^a:
      func.return
    ^b:
      func.return
    }}"""
    assert exact_hash(module_of(text.format("a", "b"))) != exact_hash(module_of(text.format("b", "a")))
    empty = '"test.op"() ({0}) : () -> ()'
    hashes = {exact_hash(module_of(empty.replace("{0}", each))) for each in ("{}", "{}, {}", "{^a:}", "{^a:\n^b:}")}
    assert len(hashes) == 4


def test_places() -> None:
    point = FileLineColLoc(StringAttr("m.onnx"), IntAttr(3), IntAttr(1))
    other = FileLineColLoc(StringAttr("m.onnx"), IntAttr(4), IntAttr(1))
    node = NameLoc(StringAttr("conv"), NameLoc(StringAttr("Conv"), point))
    places = [
        UnknownLoc(),
        point,
        other,
        node,
        NameLoc(StringAttr("conv"), point),
        NameLoc(StringAttr("conv"), NameLoc(StringAttr("Pool"), point)),
        FusedLoc([other, point], StringAttr("rule")),
        FusedLoc([point, other], StringAttr("rule")),
    ]
    hashes: set[str] = set()
    for place in places:
        module = module_of(PROGRAM)
        module.location = place
        hashes.add(exact_hash(module))
    assert len(hashes) == len(places)


def test_attributes_that_are_told() -> None:
    one, other = module_of(PROGRAM), module_of(PROGRAM)
    one.attributes["weights"], other.attributes["weights"] = StringAttr("a.safetensors"), StringAttr("b.safetensors")
    assert exact_hash(one) != exact_hash(other)
    assert exact_hash(one, {"weights": "1"}) == exact_hash(other, {"weights": "1"})
    assert exact_hash(one, {"weights": "1"}) != exact_hash(one, {"weights": "2"})
    assert exact_hash(one, {"weights": "1"}) != exact_hash(module_of(PROGRAM), {"weights": "1"})
