"""Programs that patterns are tried on, and what a test of one construct consists of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.language.patterns import Capture, Pattern
from stepwell.patterns.language.rules import Require
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

CTX = make_context()
F, M, D, S = "tensor<4xf32>", "tensor<4x10xf32>", "tensor<?x10xf32>", "tensor<f32>"
I32, WEIGHTS = "tensor<4xi32>", "tensor<10x10xf32>"

HELPERS = """
func.func private @twice(%u: tensor<4xf32>) -> tensor<4xf32> attributes {kind = "twice"} {
  %r = graph.add %u, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @sum(%u: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.multiply %u, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %s, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @one(%u: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.exp %u : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @pair(%u: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = graph.exp %u : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.tanh %s : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s, %r : tensor<4xf32>, tensor<4xf32>
}
"""


def program(body: str) -> tuple[ModuleOp, SSAValue]:
    """A module, and its value `%p`."""
    arguments = f"%x: {F}, %y: {F}, %m: {M}, %d: {D}, %i: {I32}, %b: i1, %s: {S}, %wv: {WEIGHTS}, %ww: {WEIGHTS}"
    module = parse_text(CTX, f"func.func @main({arguments}) {{\n{body}\nfunc.return\n}}\n{HELPERS}", "t.mlir")
    values = [value for each in module.walk() for value in each.results if value.name_hint == "p"]
    return module, values[-1]


def u(name: str, operand: str = "%x", result: str = "%p", type_: str = F, rest: str = "") -> str:
    """An op with one operand."""
    return f"{result} = graph.{name} {operand}{rest} : ({type_}) -> {type_}\n"


def bin_(name: str, left: str, right: str, result: str = "%p") -> str:
    """An op with two operands."""
    return f"{result} = graph.{name} {left}, {right} : ({F}, {F}) -> {F}\n"


def full(number: str, result: str = "%k", type_: str = F) -> str:
    """A constant."""
    return f"{result} = graph.full {number} : {type_}\n"


def matmul(weights: str, result: str = "%p", left: str = "%m") -> str:
    """A product with one of the weights."""
    return f"{result} = graph.matmul {left}, {weights} : ({M}, {WEIGHTS}) -> {M}\n"


def split(result: str, operand: str = "%x") -> str:
    """Two results, each of the type of the operand's half; `result` is the stem of their names."""
    half = "tensor<2xf32>"
    return f"{result}:2 = graph.split {operand}, axis = 0, sections = 2 : ({F}) -> ({half}, {half})\n"


def cast(dtype: str, attributes: str = "") -> str:
    return f"%p = graph.astype %i, dtype = {dtype}{attributes} : (tensor<4xi32>) -> tensor<4x{dtype}>\n"


def choice(then: str, otherwise: str, result: str = "%p") -> str:
    """An `scf.if` with an op in each branch."""
    arms = [f"{{\n{u(each, result='%t')}scf.yield %t : {F}\n}}" for each in (then, otherwise)]
    return f"{result} = scf.if %b -> ({F}) {arms[0]} else {arms[1]}\n"


def choices(then: tuple[str, str], otherwise: tuple[str, str], result: str = "%c") -> str:
    """An `scf.if` of two results with two ops in each branch."""
    arms = [
        f"{{\n{u(one, result='%t')}{u(two, result='%o')}scf.yield %t, %o : {F}, {F}\n}}"
        for one, two in (then, otherwise)
    ]
    return f"{result}:2 = scf.if %b -> ({F}, {F}) {arms[0]} else {arms[1]}\n"


def call_of(name: str, *operands: str, result: str = "%p", results: int = 1) -> str:
    """A call of one of `HELPERS`."""
    types, made = ", ".join(F for _ in operands), ", ".join([F] * results)
    names = result if results == 1 else f"{result}:{results}"
    return f"{names} = func.call @{name}({', '.join(operands)}) : ({types}) -> ({made})\n"


def chain(*names: str) -> str:
    """Ops with one operand one after the other, from `%x` to `%p`."""
    values = ["%x", *(f"%v{number}" for number in range(len(names) - 1)), "%p"]
    return "".join(u(name, values[n], values[n + 1]) for n, name in enumerate(names))


@dataclass(frozen=True)
class Case:
    """
    A pattern of `%p`, or of several roots of which `%p` is one, in Python and in text, with programs on both sides.

    `text`: statements `%name = op …` of the pattern dialect without its name, of which the last is the root, unless
    `roots` names them. `group` is what partitioning makes of the first program, of so many `parameters`.
    """

    name: str
    pattern: Pattern | tuple[Pattern, ...]
    text: str
    yes: tuple[str, ...]
    no: tuple[str, ...]
    group: str
    parameters: int = 1
    when: tuple[Require, ...] = ()
    roots: str = ""
    capture: Capture | None = None
    """An attribute that the replacement is to have."""

    @property
    def several(self) -> int:
        """Number of roots."""
        return len(self.pattern) if isinstance(self.pattern, tuple) else 1

    @property
    def matching(self) -> str:
        """The statements in full."""
        parts = re.split(r"; |\n", self.text)
        return "\n".join(
            re.sub(r"^(%\w+ = )?(?=[a-z_]+\b)(?!graph\.|\^|pattern\.)", r"\1pattern.", part) for part in parts
        )

    @property
    def root_names(self) -> str:
        """The names of the roots, as text."""
        last = self.matching.strip().splitlines()[-1]
        found = re.findall(r"^(%\w+) = ", self.matching, re.MULTILINE)
        return self.roots or (found[-1] if found else last)
