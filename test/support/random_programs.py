"""Random programs for the pattern matcher: few kinds of ops, so that patterns match, in all sorts of places."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Final

from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

CTX = make_context()
F, H, W, B, D = "tensor<4xf32>", "tensor<4xf16>", "tensor<4xi32>", "tensor<4xi1>", "tensor<?x4xf32>"
UNARY: Final = {
    F: ("exp", "relu", "tanh", "abs"),
    D: ("exp", "relu", "tanh"),
    H: ("exp", "relu"),
    W: ("abs", "negative"),
    B: ("logical_not",),
}
BINARY: Final = {
    F: ("add", "subtract", "multiply", "maximum", "divide"),
    D: ("add", "subtract", "multiply"),
    H: ("add", "multiply"),
    W: ("add", "subtract", "bitwise_and"),
    B: ("logical_and", "logical_or"),
}
NUMBERS: Final = {F: ("0.0", "-0.0", "1.0", "2.0"), H: ("0.0", "1.0"), W: ("0", "1"), B: ("true", "false")}
TAGS: Final = ("", "", "", ' {my.tag = "a"}', ' {my.tag = "b", my.depth = 3 : i32}')
HELPERS: Final = f"""
func.func private @f(%u: {F}) -> {F} {{
  %r = graph.exp %u : ({F}) -> {F}
  func.return %r : {F}
}}
func.func private @twice(%u: {F}) -> {F} attributes {{kind = "twice"}} {{
  %r = graph.add %u, %u : ({F}, {F}) -> {F}
  func.return %r : {F}
}}
func.func private @sum(%u: {F} {{stepwell.name = "left"}}, %v: {F}) -> {F} {{
  %s = graph.multiply %u, %u : ({F}, {F}) -> {F}
  %r = graph.add %s, %v : ({F}, {F}) -> {F}
  func.return %r : {F}
}}
func.func private @pair(%u: {F}) -> ({F}, {F}) {{
  %r = graph.relu %u : ({F}) -> {F}
  func.return %r, %u : {F}, {F}
}}
func.func private @jump(%u: {F}) -> {F} {{
  %r = graph.exp %u : ({F}) -> {F}
  cf.br ^bb1(%r : {F})
^bb1(%v: {F}):
  func.return %v : {F}
}}
tensor_loop.func private @kernel(%A: memref<4xf32>) outs(%C: memref<4xf32>) {{
  tensor_loop.grid (%i) in (4) {{
    tensor_loop.block "copy" spatial(%vi in 4 = %i) {{
      %a = memref.load %A[%vi] : memref<4xf32>
      memref.store %a, %C[%vi] : memref<4xf32>
    }}
  }}
}}
"""


# Programs


@dataclass
class _Program:
    choose: random.Random
    window: int
    lines: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    count: int = 0

    def new(self, type_: str) -> str:
        self.count += 1
        self.values.setdefault(type_, []).append(f"%v{self.count}")
        return f"%v{self.count}"

    def value(self, type_: str) -> str:
        """A value of a type, mostly one of the last `window`."""
        known = self.values[type_]
        return self.choose.choice(known[-self.window :] if self.choose.random() < 0.9 else known)

    def simple(self, type_: str) -> None:
        """One op on tensors."""
        choose, pick = self.choose, self.choose.random()
        tag = choose.choice(TAGS)
        if pick < 0.4:
            line = f"graph.{choose.choice(UNARY[type_])} {self.value(type_)}{tag} : ({type_}) -> {type_}"
        elif pick < 0.85 or type_ == D:
            operands = f"{self.value(type_)}, {self.value(type_)}"
            line = f"graph.{choose.choice(BINARY[type_])} {operands}{tag} : ({type_}, {type_}) -> {type_}"
        elif pick < 0.95:
            line = f"graph.full {choose.choice(NUMBERS[type_])} : {type_}"
        else:
            line = f"graph.constant dense<{choose.choice(NUMBERS[type_])}> : {type_}"
        self.lines.append(f"{self.new(type_)} = {line}")
        if choose.random() < 0.15:
            self.lines.append(f"{self.new(type_)} = {line}")

    def step(self, depth: int) -> None:
        type_ = self.choose.choice((F, F, F, F, H, W, D, B))
        if self.choose.random() < 0.7:
            self.simple(type_)
        else:
            self.choose.choice(
                (self.mixed, self.mixed, self.call, self.several, self.branch, self.branches, self.loop) if depth
                else (self.mixed,)
            )(depth)  # fmt: skip

    def mixed(self, depth: int) -> None:
        """An op of several types, arities or properties."""
        a, b, c = self.value(F), self.value(F), self.value(B)
        t, m, h = F, self.choose.choice((F, D)), self.choose.choice((0, -1, 0))
        wide = f"({m}) -> {m}"
        line, made = self.choose.choice(
            (
                (f"graph.less {a}, {b} : ({t}, {t}) -> {B}", B),
                (f"graph.equal {a}, {b} : ({t}, {t}) -> {B}", B),
                (f"graph.where {c}, {a}, {b} : ({B}, {t}, {t}) -> {t}", F),
                (f"graph.ewise_fma {a}, {b}, {a} : ({t}, {t}, {t}) -> {t}", F),
                (f"graph.softmax {self.value(m)}, axis = {h} : {wide}", m),
                (f"graph.clip {a}, min = {h}, max = 6 : ({t}) -> {t}", F),
                (f"graph.astype {self.value(H)}, dtype = f32 : ({H}) -> {F}", F),
                (f"graph.concat {a}, axis = 0 : ({t}) -> {t}", F),
                (f'graph.weight "w" : {t}', F),
                (f'"graph.softmax"({self.value(m)}) : {wide}', m),
                (f'"graph.leaky_relu"({a}) : ({t}) -> {t}', F),
            )
        )
        self.lines.append(f"{self.new(made)} = {line}")

    def call(self, depth: int) -> None:
        name, arity = self.choose.choice((("f", 1), ("twice", 1), ("sum", 2), ("jump", 1), ("kernel", 1)))
        operands = ", ".join(self.value(F) for _ in range(arity))
        word = "graph.call_kernel" if name == "kernel" else "func.call"
        line = f"{word} @{name}({operands}) : ({', '.join([F] * arity)}) -> {F}"
        self.lines.append(f"{self.new(F)} = {line}")

    def several(self, depth: int) -> None:
        """An op with two results."""
        operand, name = self.value(F), f"%m{len(self.lines)}_{self.count}"
        line, second = self.choose.choice(
            (
                (f"graph.dropout {operand} : ({F}) -> ({F}, {B})", B),
                (f"func.call @pair({operand}) : ({F}) -> ({F}, {F})", F),
            )
        )
        self.lines.append(f"{name}:2 = {line}")
        self.values[F].append(f"{name}#0")
        self.values[second].append(f"{name}#1")

    def block(self, depth: int, count: int, yields: int = 1) -> str:
        """The text of a nested block that yields tensors."""
        outer, known = self.lines, {type_: list(values) for type_, values in self.values.items()}
        self.lines = []
        for _ in range(self.choose.randrange(count)):
            self.step(depth - 1)
        yielded = ", ".join(self.value(F) for _ in range(yields))
        self.lines.append(f"scf.yield {yielded} : {', '.join([F] * yields)}")
        text = "\n".join(self.lines)
        self.lines, self.values = outer, known
        return text

    def branches(self, depth: int) -> None:
        """A branch with two results."""
        then, otherwise = self.block(depth, 3, 2), self.block(depth, 3, 2)
        name = f"%m{len(self.lines)}_{self.count}"
        self.count += 1
        self.lines.append(f"{name}:2 = scf.if %b -> ({F}, {F}) {{\n{then}\n}} else {{\n{otherwise}\n}}")
        self.values[F] += [f"{name}#0", f"{name}#1"]

    def branch(self, depth: int) -> None:
        then, otherwise = self.block(depth, 4), self.block(depth, 4)
        line = f"scf.if %b -> ({F}) {{\n{then}\n}} else {{\n{otherwise}\n}}"
        self.lines.append(f"{self.new(F)} = {line}")

    def loop(self, depth: int) -> None:
        name, start = f"%c{len(self.lines)}_{self.count}", self.value(F)
        known = {type_: list(values) for type_, values in self.values.items()}
        self.values[F].append(name)
        body = self.block(depth, 4)
        self.values = known
        head = f"scf.for %k{name[1:]} = %lo to %hi step %hi iter_args({name} = {start}) -> ({F})"
        self.lines.append(f"{self.new(F)} = {head} {{\n{body}\n}}")


def random_program(choose: random.Random) -> ModuleOp:
    """A function of ops on tensors of several types, with branches, loops, calls, dead code and perhaps two blocks."""
    program = _Program(choose, choose.choice((2, 3, 5)))
    program.values = {F: ["%x", "%y"], H: ["%h"], W: ["%i"], B: ["%t"], D: ["%d"]}
    program.lines = ["%lo = arith.constant 0 : index", "%hi = arith.constant 1 : index"]
    steps = choose.randrange(4, 14)
    jump = choose.randrange(steps) if choose.random() < 0.2 else None
    for number in range(steps):
        program.step(2)
        if number == jump:
            program.lines += [f"cf.br ^bb1({program.value(F)} : {F})", f"^bb1(%z: {F}):"]
            program.values[F].append("%z")
    returned = [program.values[F][-1], *choose.sample(program.values[F], choose.randrange(2))]
    types = ", ".join([F] * len(returned))
    arguments = f"%x: {F}, %y: {F}, %h: {H}, %i: {W}, %t: {B}, %d: {D}, %b: i1"
    body = "\n".join([*program.lines, f"func.return {', '.join(returned)} : {types}"])
    return parse_text(CTX, f"func.func @main({arguments}) -> ({types}) {{\n{body}\n}}\n{HELPERS}", "t.mlir")


def values_of(module: ModuleOp) -> list[SSAValue]:
    """Every result and every block argument."""
    found: list[SSAValue] = []
    for op in module.walk():
        found += op.results
        found += [arg for region in op.regions for block in region.blocks for arg in block.args]
    return found
