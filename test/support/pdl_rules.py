"""PDL rules and programs for them, as text."""

from __future__ import annotations

from pathlib import Path

from stepwell.core.ir.verification import verify_module
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.language.rules import Rule
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.apply_pdl import ApplyPDLPass

CTX = make_context()
F = "tensor<4xf32>"


def pattern(body: str, rewrite: str, name: str = "rule", benefit: int = 1, attributes: str = "") -> str:
    if "test." in body + rewrite:  # These ops have effects.
        attributes = f"{attributes}, pattern.effects" if attributes else "pattern.effects"
    after = f" attributes {{{attributes}}}" if attributes else ""
    return f"pdl.pattern @{name} : benefit({benefit}) {{\n{body}\npdl.rewrite %root {{\n{rewrite}\n}}{after}\n}}\n"


def unary(name: str) -> str:
    return f'%t = pdl.type\n%x = pdl.operand\n%root = pdl.operation "graph.{name}"(%x : !pdl.value) -> (%t : !pdl.type)'


def becomes(name: str, operands: str = "%x") -> str:
    types = ", ".join("!pdl.value" for _ in operands.split(","))
    return f'%new = pdl.operation "graph.{name}"({operands} : {types})\npdl.replace %root with %new'


def u(result: str, name: str, operand: str) -> str:
    return f"{result} = graph.{name} {operand} : ({F}) -> {F}\n"


def b(result: str, name: str, lhs: str, rhs: str) -> str:
    return f"{result} = graph.{name} {lhs}, {rhs} : ({F}, {F}) -> {F}\n"


def program(body: str, results: str = "%r") -> ModuleOp:
    types = ", ".join(F for _ in results.split(","))
    return parse_text(
        CTX,
        f"func.func @main(%x: {F}, %y: {F}) -> ({types}) {{\n{body}func.return {results} : {types}\n}}",
        "p.mlir",
    )


def run(rules: str | list[Rule], module: ModuleOp) -> Driver:
    driver = Driver(CTX, rules_of_text(rules) if isinstance(rules, str) else rules)
    driver.run(module)
    verify_module(module)
    return driver


def names(module: ModuleOp) -> list[str]:
    """The ops in the function, graph ops without the dialect's name."""
    outer = ("builtin.module", "func.func", "func.return")
    return [op.name.removeprefix("graph.") for op in module.walk() if op.name not in outer]


def after(rules: str, body: str, results: str = "%r") -> list[str]:
    module = program(body, results)
    run(rules, module)
    return names(module)


def stock(rules: str, body: str, path: Path) -> list[str]:
    """The same after xDSL's pass."""
    file = path / "rules.mlir"
    file.write_text(rules)
    module = program(body)
    ApplyPDLPass(pdl_file=str(file)).apply(CTX, module)
    return names(module)


def variadic(operands: str, kind: str = "a", results: str = "index") -> str:
    """A function with one `test.op`."""
    types = ", ".join("index" for _ in operands.split(",")) if operands else ""
    return (
        f'func.func @main(%i: index, %j: index) {{\n%r = "test.op"({operands}) {{kind = "{kind}"}} : ({types}) -> '
        f"{results}\n"
        "func.return\n}"
    )


def kinds(module: ModuleOp) -> list[str]:
    return [op.attributes["kind"].data for op in module.walk() if "kind" in op.attributes]  # type: ignore[attr-defined]


def kinds_after(rules: str, text: str) -> list[str]:
    module = parse_text(CTX, text, "p.mlir")
    run(rules, module)
    return kinds(module)


RANGE = """
%t = pdl.type
%first = pdl.operand
%rest = pdl.operands
%a = pdl.attribute = "a"
%root = pdl.operation "test.op"(%first, %rest : !pdl.value, !pdl.range<value>) {"kind" = %a} -> (%t : !pdl.type)
"""
