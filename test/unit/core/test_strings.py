"""Strings in any language come back as they were (AUDIT G2)."""

import numpy as np
import pytest
import stepwell
from stepwell import te
from stepwell.core.ir.symbols import value_name
from stepwell.core.text.parsing import parse
from stepwell.dialects import graph
from stepwell.lowering.graph_to_loops.convert_te_to_tensor_loop import create_prim_func
from stepwell.runtime.errors import ArgumentError
from xdsl.dialects.builtin import BytesAttr, StringAttr

KEY = """func.func @main(%x: tensor<4xf32> {stepwell.name = "entrée"}) -> tensor<4xf32> attributes {my.doc = "été 漢"} {
  %w = graph.weight "clé" : tensor<4xf32>
  %y = graph.add %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @"fünf"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
func.func private @"fünf"(%y: tensor<4xf32>) -> tensor<4xf32> {
  func.return %y : tensor<4xf32>
}
"""

RULE = """pattern.rule "règle" doc "é devient è" {
  %x = pattern.any
  %y = pattern.op "graph.relu"(%x)
  pattern.replace %y with %x
}
"""


@pytest.mark.parametrize("text", [KEY, RULE])
def test_strings_keys_and_symbols_are_read_again_as_they_are_printed(text: str) -> None:
    once = parse(text)
    again = parse(str(once))
    assert str(again) == str(once) and again.is_structurally_equivalent(once)


def test_a_program_with_such_names_runs_before_and_after_printing() -> None:
    ones = np.ones(4, np.float32)
    for text in (KEY, str(parse(KEY))):
        exe = stepwell.compile(text, weights={"clé": ones})
        assert exe(ones)[0].tolist() == [2, 2, 2, 2]
        for level in ("graph", "tensor_loop", "scf", "llvm"):
            assert str(parse(exe.ir(level))) == exe.ir(level)


def test_bytes_that_are_no_text_stay_bytes() -> None:
    (op,) = parse(r'"test.op"() {a = "\FF\C3", b = "\00x", c = "\E6\BC\A2"} : () -> ()').body.block.ops
    assert op.attributes["a"] == BytesAttr(b"\xff\xc3")
    assert (op.attributes["b"], op.attributes["c"]) == (StringAttr("\0x"), StringAttr("漢"))


def test_values_have_ascii_names() -> None:
    assert [value_name(each) for each in ("größe", "élan", "x_1", "%")] == ["gr__e", "v_lan", "x_1", "%"]
    builder = stepwell.GraphBuilder()
    with builder.function("main", élan="tensor<4xf32>") as (x,):
        builder.emit_func_output(builder.emit(graph.ReluOp(x), "größe"))
    text = str(builder.get())
    assert str(parse(text)) == text
    assert '%v_lan: tensor<4xf32> {stepwell.name = "\\C3\\A9lan"}' in text
    exe = stepwell.compile(text, threads=1, cache=False)
    with pytest.raises(ArgumentError, match="argument 'élan'"):
        exe(np.zeros(3, np.float32))
    a = te.placeholder((4,), "f32", "größe")
    b = te.compute((4,), lambda élan: a[élan] + 1, name="été")
    assert isinstance(b, te.Tensor)
    text = str(create_prim_func([a, b]))
    assert str(next(iter(parse(text).ops))) == text
