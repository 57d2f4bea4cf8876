"""Rules of two functions and programs for them, as text."""

from __future__ import annotations

from stepwell.core.ir.verification import verify_module
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()
V = "tensor<16xf32>"
M = "tensor<4x4xf32>"


def function(
    name: str,
    parameters: str,
    body: str,
    results: str,
    types: str,
    attributes: str = "",
    private: bool = False,
) -> str:
    kind = "private " if private else ""
    result = f" -> ({types})" if types else ""
    after = f" attributes {{{attributes}}}" if attributes else ""
    ends = f"{results} : {types}" if types else ""
    return f"func.func {kind}@{name}({parameters}){result}{after} {{\n{body}\nfunc.return {ends}\n}}\n"


def of_two(
    name: str,
    parameters: str,
    pattern: str,
    replacement: str,
    results: str = "%r",
    types: str = V,
    attributes: str = "",
    more: str = "",
) -> str:
    """A named module with one rule."""
    return (
        f"builtin.module @{name} {{\n{function('pattern', parameters, pattern, results, types, attributes)}"
        f"{function('replacement', parameters, replacement, results, types)}{more}}}\n"
    )


def u(result: str, name: str, operand: str, type_: str = V) -> str:
    return f"{result} = graph.{name} {operand} : ({type_}) -> {type_}\n"


def b(
    result: str,
    name: str,
    lhs: str,
    rhs: str,
    type_: str = V,
    other: str | None = None,
    made: str | None = None,
) -> str:
    return f"{result} = graph.{name} {lhs}, {rhs} : ({type_}, {other or type_}) -> {made or type_}\n"


AB = f"%a: {V}, %b: {V}"
ADD = of_two("add", AB, b("%r", "add", "%a", "%b"), b("%r", "maximum", "%a", "%b"))
MULTIPLY = of_two("multiply", AB, b("%r", "multiply", "%a", "%b"), b("%r", "minimum", "%a", "%b"))


def main(
    body: str,
    results: str = "%r",
    types: str = V,
    parameters: str = f"%x: {V}, %y: {V}, %z: {V}",
    more: str = "",
) -> str:
    return function("main", parameters, body, results, types) + more


def run(rules: str, program: str) -> ModuleOp:
    module = parse_text(CTX, program, "p.mlir")
    verify_module(module)
    Driver(CTX, rules_of_text(rules)).run(module)
    verify_module(module)
    return module


def names(module: ModuleOp, function_name: str = "main") -> list[str]:
    """The ops of a function in program order, graph ops without the dialect's name."""
    (found,) = [op for op in module.body.ops if isinstance(op, func.FuncOp) and op.sym_name.data == function_name]
    return [
        op.name.removeprefix("graph.")
        for op in found.walk()
        if op is not found and op.name not in ("func.return", "scf.yield")
    ]


def functions(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.body.ops if isinstance(op, func.FuncOp)]


def softmax(result: str, operand: str, rest: str = "") -> str:
    return f"{result} = graph.softmax {operand}{rest} : ({M}) -> {M}\n"


ANY_AXIS = ' {pattern.attributes = {axis = "k"}}'


def double(name: str, op: str, result: str = "multiply") -> str:
    body = f"%two = graph.full 2.0 : tensor<f32>\n{b('%r', result, '%a', '%two', V, 'tensor<f32>', V)}"
    subroutine = function("subroutine", f"%a: {V}", body, "%r", V, private=True)
    return of_two(
        name,
        f"%a: {V}",
        b("%r", op, "%a", "%a"),
        f"%r = func.call @subroutine(%a) : ({V}) -> {V}\n",
        more=subroutine,
    )


def product(result: str, lhs: str, rhs: str) -> str:
    return f"{result} = graph.matmul {lhs}, {rhs} : ({M}, {M}) -> {M}\n"


CHAIN = of_two(
    "chain",
    f"%a: {M}, %w: {M}, %b: {M}",
    product("%p", "%a", "%w") + b("%r", "add", "%p", "%b", M),
    product("%p", "%w", "%a") + b("%r", "subtract", "%p", "%b", M),
    types=M,
)
