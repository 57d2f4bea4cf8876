"""PDL through our engine against xDSL's `apply-pdl`: the same program, dead code aside."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from stepwell.core.ir.verification import verify_module
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.rewrites.rules.apply_patterns import ApplyPatternsPass
from stepwell.rewrites.simplify.eliminate_dead_code import EliminateDeadCodePass
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.apply_pdl import ApplyPDLPass

CTX = make_context()


@dataclass(frozen=True)
class Case:
    rules: str
    program: str
    changes: bool = True
    """Whether the rules apply anywhere."""


def unary(op: str, types: str = "%t") -> str:
    return f'pdl.operation "{op}"(%x : !pdl.value) -> ({types} : !pdl.type)'


ADD_ZERO = """
pdl.pattern @add_zero : benefit(1) {
  %t = pdl.type : i32
  %x = pdl.operand : %t
  %number = pdl.attribute = 0 : i32
  %zero = pdl.operation "arith.constant" {"value" = %number} -> (%t : !pdl.type)
  %zero_value = pdl.result 0 of %zero
  %root = pdl.operation "arith.addi"(%x, %zero_value : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root { pdl.replace %root with (%x : !pdl.value) }
}
"""

SUBTRACT_ITSELF = """
pdl.pattern @subtract_itself : benefit(1) {
  %t = pdl.type : i32
  %x = pdl.operand : %t
  %root = pdl.operation "arith.subi"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %number = pdl.attribute = 0 : i32
    %zero = pdl.operation "arith.constant" {"value" = %number} -> (%t : !pdl.type)
    pdl.replace %root with %zero
  }
}
"""

DISTRIBUTE = """
pdl.pattern @factor : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %y = pdl.operand : %t
  %z = pdl.operand : %t
  %flags = pdl.attribute
  %p = pdl.operation "arith.mulf"(%x, %y : !pdl.value, !pdl.value) {"fastmath" = %flags} -> (%t : !pdl.type)
  %q = pdl.operation "arith.mulf"(%x, %z : !pdl.value, !pdl.value) {"fastmath" = %flags} -> (%t : !pdl.type)
  %p_value = pdl.result 0 of %p
  %q_value = pdl.result 0 of %q
  %root = pdl.operation "arith.addf"(%p_value, %q_value : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %sum = pdl.operation "arith.addf"(%y, %z : !pdl.value, !pdl.value) {"fastmath" = %flags} -> (%t : !pdl.type)
    %sum_value = pdl.result 0 of %sum
    %new = pdl.operation "arith.mulf"(%x, %sum_value : !pdl.value, !pdl.value) {"fastmath" = %flags} -> (%t : !pdl.type)
    %new_value = pdl.result 0 of %new
    pdl.replace %root with (%new_value : !pdl.value)
  }
}
"""

EXTENSIONS = """
pdl.pattern @extension_of_extension : benefit(1) {
  %a = pdl.type
  %b = pdl.type
  %c = pdl.type
  %x = pdl.operand : %a
  %inner = pdl.operation "arith.extsi"(%x : !pdl.value) -> (%b : !pdl.type)
  %value = pdl.result 0 of %inner
  %root = pdl.operation "arith.extsi"(%value : !pdl.value) -> (%c : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "arith.extsi"(%x : !pdl.value) -> (%c : !pdl.type)
    pdl.replace %root with %new
  }
}
"""

THERE_AND_BACK = """
pdl.pattern @there_and_back : benefit(1) {
  %a = pdl.type
  %b = pdl.type
  %x = pdl.operand : %a
  %inner = pdl.operation "arith.extsi"(%x : !pdl.value) -> (%b : !pdl.type)
  %value = pdl.result 0 of %inner
  %root = pdl.operation "arith.trunci"(%value : !pdl.value) -> (%a : !pdl.type)
  pdl.rewrite %root { pdl.replace %root with (%x : !pdl.value) }
}
"""

SWAP = """
pdl.pattern @swap_of_swap : benefit(1) {
  %t = pdl.type
  %u = pdl.type
  %x = pdl.operand : %t
  %y = pdl.operand : %u
  %inner = pdl.operation "test.op"(%x, %y : !pdl.value, !pdl.value) -> (%u, %t : !pdl.type, !pdl.type)
  %first = pdl.result 0 of %inner
  %second = pdl.result 1 of %inner
  %root = pdl.operation "test.op"(%first, %second : !pdl.value, !pdl.value) -> (%t, %u : !pdl.type, !pdl.type)
  pdl.rewrite %root { pdl.replace %root with (%x, %y : !pdl.value, !pdl.value) }
}
"""

SECOND_RESULT = """
pdl.pattern @second_result : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %inner = pdl.operation "test.op"(%x : !pdl.value) -> (%t, %t : !pdl.type, !pdl.type)
  %value = pdl.result 1 of %inner
  %root = pdl.operation "arith.negf"(%value : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root { pdl.replace %root with (%x : !pdl.value) }
}
"""

ERASE = """
pdl.pattern @erase : benefit(1) {
  %t = pdl.type : index
  %x = pdl.operand : %t
  %kind = pdl.attribute = "gone"
  %root = pdl.operation "test.op"(%x : !pdl.value) {"kind" = %kind}
  pdl.rewrite %root { pdl.erase %root }
}
"""

NEW_ATTRIBUTES = """
pdl.pattern @new_attributes : benefit(1) {
  %t = pdl.type
  %old = pdl.attribute = "old"
  %size = pdl.attribute
  %root = pdl.operation "test.op" {"kind" = %old, "size" = %size} -> (%t : !pdl.type)
  pdl.rewrite %root {
    %kind = pdl.attribute = "new"
    %axes = pdl.attribute = array<i64: 1, 2>
    %new = pdl.operation "test.op" {"kind" = %kind, "extent" = %size, "axes" = %axes} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
"""

TYPED_ATTRIBUTE = """
pdl.pattern @typed_attribute : benefit(1) {
  %t = pdl.type
  %wide = pdl.type : i64
  %size = pdl.attribute : %wide
  %root = pdl.operation "test.op" {"size" = %size} -> (%t : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "test.op" {"extent" = %size} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
"""

NO_NAME = """
pdl.pattern @any_op_of_zero : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %mark = pdl.attribute = unit
  %root = pdl.operation (%x : !pdl.value) {"skip" = %mark} -> (%t : !pdl.type)
  pdl.rewrite %root { pdl.replace %root with (%x : !pdl.value) }
}
"""

RELU = f"""
pdl.pattern @relu_of_relu : benefit(1) {{
  %t = pdl.type
  %x = pdl.operand : %t
  %inner = {unary("graph.relu")}
  %value = pdl.result 0 of %inner
  %root = pdl.operation "graph.relu"(%value : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {{ pdl.replace %root with %inner }}
}}
"""

CONSTANT_TYPE = f"""
pdl.pattern @half_of_f32 : benefit(1) {{
  %t = pdl.type : tensor<4xf32>
  %x = pdl.operand : %t
  %root = {unary("graph.exp")}
  pdl.rewrite %root {{
    %new = {unary("graph.tanh")}
    pdl.replace %root with %new
  }}
}}
"""

TWO_RULES = CONSTANT_TYPE + RELU

CAST = """
pdl.pattern @cast_to_f64 : benefit(1) {
  %t = pdl.type : tensor<4xf32>
  %x = pdl.operand : %t
  %root = pdl.operation "graph.negative"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %wide = pdl.type : tensor<4xf64>
    %f64 = pdl.attribute = f64
    %f32 = pdl.attribute = f32
    %up = pdl.operation "graph.astype"(%x : !pdl.value) {"dtype" = %f64} -> (%wide : !pdl.type)
    %up_value = pdl.result 0 of %up
    %sin = pdl.operation "graph.sin"(%up_value : !pdl.value) -> (%wide : !pdl.type)
    %sin_value = pdl.result 0 of %sin
    %down = pdl.operation "graph.astype"(%sin_value : !pdl.value) {"dtype" = %f32} -> (%t : !pdl.type)
    pdl.replace %root with %down
  }
}
"""

EFFECTS = """
pdl.pattern @shrink : benefit(1) {
  %t = pdl.type : index
  %root_kind = pdl.attribute = "pair"
  %x = pdl.operand : %t
  %y = pdl.operand
  %root = pdl.operation "test.op"(%x, %y : !pdl.value, !pdl.value) {"kind" = %root_kind}
  pdl.rewrite %root {
    %kind = pdl.attribute = "one"
    %first = pdl.operation "test.op"(%y : !pdl.value) {"kind" = %kind}
    %second = pdl.operation "test.op"(%x : !pdl.value) {"kind" = %kind}
    pdl.erase %root
  }
}
"""


def ints(body: str) -> str:
    return (
        f"func.func @main(%x: i32, %y: i32) -> i32 {{\n%zero = arith.constant 0 : i32\n{body}\nfunc.return %r : i32\n}}"
    )


def floats(body: str) -> str:
    return f"func.func @main(%x: f32, %y: f32, %z: f32) -> f32 {{\n{body}\nfunc.return %r : f32\n}}"


def graph(body: str, type_: str = "tensor<4xf32>") -> str:
    return f"func.func @main(%x: {type_}) -> {type_} {{\n{body}\nfunc.return %r : {type_}\n}}"


def u(result: str, name: str, operand: str, type_: str = "tensor<4xf32>") -> str:
    return f"{result} = graph.{name} {operand} : ({type_}) -> {type_}\n"


def widen(result: str, operand: str, source: str, target: str, op: str = "extsi") -> str:
    return f"{result} = arith.{op} {operand} : {source} to {target}\n"


def widened(last: str) -> str:
    body = widen("%a", "%x", "i8", "i32") + last
    return f"func.func @main(%x: i8) -> i8 {{\n{body}func.return %r : i8\n}}"


TO_I64 = "func.func @main(%x: i8) -> i64 {\n{}func.return %r : i64\n}"

CASES = {
    "constant below": Case(ADD_ZERO, ints("%r = arith.addi %x, %zero : i32")),
    "no commuting": Case(ADD_ZERO, ints("%r = arith.addi %zero, %x : i32"), changes=False),
    "another constant": Case(
        ADD_ZERO,
        ints("%one = arith.constant 1 : i32\n%r = arith.addi %x, %one : i32"),
        changes=False,
    ),
    "a chain of them": Case(ADD_ZERO, ints("%a = arith.addi %x, %zero : i32\n%r = arith.addi %a, %zero : i32")),
    "in a branch": Case(
        ADD_ZERO,
        ints(
            "%c = arith.cmpi eq, %x, %y : i32\n%r = scf.if %c -> (i32) {\n%a = arith.addi %x, %zero : i32\n"
            "scf.yield %a : i32\n} else {\nscf.yield %y : i32\n}"
        ),
    ),
    "same value": Case(SUBTRACT_ITSELF, ints("%r = arith.subi %x, %x : i32")),
    "other value": Case(SUBTRACT_ITSELF, ints("%r = arith.subi %x, %y : i32"), changes=False),
    "shared operand": Case(
        DISTRIBUTE,
        floats(
            "%p = arith.mulf %x, %y : f32\n%q = arith.mulf %x, %z : f32\n%r = arith.addf %p, %q : f32",
        ),
    ),
    "operand on the other side": Case(
        DISTRIBUTE,
        floats("%p = arith.mulf %x, %y : f32\n%q = arith.mulf %z, %x : f32\n%r = arith.addf %p, %q : f32"),
        changes=False,
    ),
    "other attribute": Case(
        DISTRIBUTE,
        floats(
            "%p = arith.mulf %x, %y fastmath<fast> : f32\n%q = arith.mulf %x, %z : f32\n%r = arith.addf %p, %q : f32"
        ),
        changes=False,
    ),
    "same attribute": Case(
        DISTRIBUTE,
        floats(
            "%p = arith.mulf %x, %y fastmath<fast> : f32\n%q = arith.mulf %x, %z fastmath<fast> : f32\n"
            "%r = arith.addf %p, %q : f32"
        ),
    ),
    "interior used elsewhere": Case(
        DISTRIBUTE,
        floats(
            "%p = arith.mulf %x, %y : f32\n%q = arith.mulf %x, %z : f32\n%s = arith.addf %p, %q : f32\n"
            "%r = arith.divf %s, %p : f32"
        ),
    ),
    "type variables": Case(
        EXTENSIONS,
        TO_I64.replace("{}", widen("%a", "%x", "i8", "i16") + widen("%r", "%a", "i16", "i64")),
    ),
    "a type twice": Case(THERE_AND_BACK, widened(widen("%r", "%a", "i32", "i8", "trunci"))),
    "another type": Case(
        THERE_AND_BACK,
        widened(widen("%b", "%a", "i32", "i16", "trunci") + widen("%r", "%b", "i16", "i8", "trunci")),
        changes=False,
    ),
    "several results": Case(
        SWAP,
        "func.func @main(%x: i32, %y: f32) -> (i32, f32) {\n"
        '%a, %b = "test.op"(%x, %y) : (i32, f32) -> (f32, i32)\n'
        '%c, %d = "test.op"(%a, %b) : (f32, i32) -> (i32, f32)\nfunc.return %c, %d : i32, f32\n}',
    ),
    "result by number": Case(
        SECOND_RESULT,
        floats('%a, %b = "test.op"(%x) : (f32) -> (f32, f32)\n%r = arith.negf %b : f32'),
    ),
    "another operand of several": Case(
        SECOND_RESULT,
        floats('%a, %b, %c = "test.op"(%x) : (f32) -> (f32, f32, f32)\n%r = arith.negf %b : f32'),
        changes=False,
    ),
    "erase": Case(
        ERASE,
        'func.func @main(%i: index) {\n"test.op"(%i) {kind = "gone"} : (index) -> ()\n'
        '"test.op"(%i) {kind = "kept"} : (index) -> ()\nfunc.return\n}',
    ),
    "new attributes": Case(
        NEW_ATTRIBUTES,
        (
            'func.func @main() -> i32 {\n%r = "test.op"() {kind = "old", size = 3 : i8} : () -> i32\n'
            "func.return %r : i32\n}"
        ),
    ),
    "absent attribute": Case(
        NEW_ATTRIBUTES,
        'func.func @main() -> i32 {\n%r = "test.op"() {kind = "old"} : () -> i32\nfunc.return %r : i32\n}',
        changes=False,
    ),
    "typed attribute": Case(
        TYPED_ATTRIBUTE,
        'func.func @main() -> i32 {\n%r = "test.op"() {size = 3 : i64} : () -> i32\nfunc.return %r : i32\n}',
    ),
    "attribute of another type": Case(
        TYPED_ATTRIBUTE,
        'func.func @main() -> i32 {\n%r = "test.op"() {size = 3 : i32} : () -> i32\nfunc.return %r : i32\n}',
        changes=False,
    ),
    "op of any name": Case(
        NO_NAME,
        floats("%a = arith.negf %x {skip} : f32\n%b = math.exp %a {skip} : f32\n%r = math.absf %b : f32"),
    ),
    "graph ops": Case(RELU, graph(u("%a", "relu", "%x") + u("%b", "relu", "%a") + u("%r", "relu", "%b"))),
    "graph ops of a constant type": Case(CONSTANT_TYPE, graph(u("%r", "exp", "%x"))),
    "graph ops of another constant type": Case(
        CONSTANT_TYPE, graph(u("%r", "exp", "%x", "tensor<5xf32>"), "tensor<5xf32>"), changes=False
    ),
    "two rules": Case(TWO_RULES, graph(u("%a", "exp", "%x") + u("%b", "relu", "%a") + u("%r", "relu", "%b"))),
    "several new ops": Case(CAST, graph(u("%r", "negative", "%x"))),
    "new ops with effects": Case(
        EFFECTS,
        'func.func @main(%i: index, %j: f32) {\n"test.op"(%i, %j) {kind = "pair"} : (index, f32) -> ()\nfunc.return\n}',
    ),
}


def text_of(module: ModuleOp) -> str:
    """The program without dead code and names."""
    verify_module(module)
    EliminateDeadCodePass().apply(CTX, module)
    for op in module.walk():
        for value in (
            *op.results,
            *(arg for region in op.regions for block in region.blocks for arg in block.args),
        ):
            value.name_hint = None
    return str(module)


@pytest.mark.ci_cases(17)
@pytest.mark.parametrize("name", CASES)
def test_same_as_apply_pdl(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    path = tmp_path / "rules.pdl.mlir"
    path.write_text(case.rules)
    before, ours, theirs = (parse_text(CTX, case.program, "program.mlir") for _ in range(3))
    ApplyPDLPass(pdl_file=str(path)).apply(CTX, theirs)
    path.write_text(f"module attributes {{pattern.effects}} {{\n{case.rules}\n}}")
    ApplyPatternsPass(file=str(path)).apply(CTX, ours)
    assert text_of(ours) == text_of(theirs)
    assert (text_of(ours) != text_of(before)) == case.changes
