"""Random functions with loops, conditions and index arithmetic, and a plain interpreter that counts what they touch."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stepwell.dialects.tensor_loop import BlockOp, LoopOp
from xdsl.dialects import arith, memref, scf
from xdsl.ir import Block, Operation, SSAValue

WORD = 1 << 64


@dataclass
class Writer:
    """Writes one random loop function, or one function on memrefs."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """The index values that are visible."""
    count: int = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def put(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, low: int, high: int) -> str:
        return self.put(f"arith.constant {self.random.randint(low, high)} : index")

    def operand(self) -> str:
        return self.random.choice(self.names) if self.names and self.random.random() < 0.8 else self.constant(-3, 9)

    def arithmetic(self) -> None:
        """Adds one op on indices."""
        kind = self.random.choice(
            (
                "addi",
                "subi",
                "muli",
                "divsi",
                "remsi",
                "remui",
                "divui",
                "floordivsi",
                "ceildivsi",
                "minsi",
                "maxsi",
                "shrsi",
                "minui",
                "select",
                "data",
                "narrow",
                "addi",
                "subi",
            )
        )
        if kind == "select":
            a, b, c, d = (self.operand() for _ in range(4))
            test = self.condition(a, b)
            self.names.append(self.put(f"arith.select {test}, {c}, {d} : index"))
        elif kind == "data":
            byte = self.put(f"memref.load %D[{self.put('arith.constant 0 : index')}] : memref<1xi8>")
            how = self.random.choice(("index_cast", "extui"))
            if how == "extui":
                byte = self.put(f"arith.extui {byte} : i8 to i32")
            self.names.append(self.put(f"arith.index_cast {byte} : {'i32' if how == 'extui' else 'i8'} to index"))
        elif kind == "narrow":
            byte = self.put(f"arith.index_cast {self.operand()} : index to i8")
            self.names.append(self.put(f"arith.index_cast {byte} : i8 to index"))
        elif kind in ("muli", "divsi", "remsi", "remui", "divui", "floordivsi", "ceildivsi", "shrsi"):
            low, high = {"muli": (-4, 6), "shrsi": (0, 3)}.get(kind, (1, 7))
            self.names.append(self.put(f"arith.{kind} {self.operand()}, {self.constant(low, high)} : index"))
        else:
            self.names.append(self.put(f"arith.{kind} {self.operand()}, {self.operand()} : index"))

    def condition(self, first: str, second: str) -> str:
        predicate = self.random.choice(("slt", "sle", "sgt", "sge", "eq", "ne", "ult", "ule", "uge", "ugt"))
        test = self.put(f"arith.cmpi {predicate}, {first}, {second} : index")
        if self.random.random() < 0.3:
            other = self.put(f"arith.cmpi slt, {self.operand()}, {self.constant(0, 20)} : index")
            test = self.put(f"arith.{self.random.choice(('andi', 'ori'))} {test}, {other} : i1")
        return test

    def accesses(self) -> None:
        for _ in range(self.random.randint(1, 4)):
            self.arithmetic()
        for _ in range(2):
            index = self.random.choice(self.names)
            shape = self.random.choice((4, 8, 12, 20, 40, 300))
            self.put(f"memref.load %A{shape}[{index}] : memref<{shape}xf32>")

    def guarded(self) -> None:
        depth = self.random.randint(0, 2)
        visible = list(self.names)
        for _ in range(depth):
            self.lines.append(f"scf.if {self.condition(self.operand(), self.operand())} {{")
        self.accesses()
        if depth and self.random.random() < 0.5:
            self.lines.append("} else {")
            self.names = list(visible)
            self.accesses()
        self.lines += ["}"] * depth
        self.names = visible

    def loops(self) -> str:
        """Returns a function on memrefs with `scf.for` loops."""
        depth = self.random.randint(1, 3)
        self.names.append(self.constant(0, 3))
        for _ in range(depth):
            low, step = self.constant(-2, 3), self.constant(1, 4)
            up = self.operand() if self.random.random() < 0.3 else self.constant(0, 9)
            name = self.fresh()
            self.lines.append(f"scf.for {name} = {low} to {up} step {step} {{")
            self.names.append(name)
        self.guarded()
        self.guarded()
        self.lines += ["}"] * depth
        return f"func.func @f({self.arguments()}) {{\n" + "\n".join([*self.lines, "func.return"]) + "\n}"

    def blocks(self) -> str:
        """Returns a loop function with a block that has bindings and conditions."""
        extents = [self.random.randint(1, 7) for _ in range(self.random.randint(1, 3))]
        variables = [f"%i{position}" for position in range(len(extents))]
        body = [f"tensor_loop.for {name} in {extent} {{" for name, extent in zip(variables, extents, strict=True)]
        bindings = [self.affine(variables) for _ in range(self.random.randint(1, 2))]
        self.names = [f"%a{position}" for position in range(len(bindings))]
        axes = ", ".join(f"{name} in 90 = {text}" for name, text in zip(self.names, bindings, strict=True))
        wheres = [f"{self.affine(variables)} < {self.random.randint(0, 15)}" for _ in range(self.random.randint(1, 2))]
        body.append(f'tensor_loop.block "b" spatial({axes}) where({", ".join(wheres)}) {{')
        self.guarded()
        return "\n".join(
            [f"tensor_loop.func @f({self.arguments()}) outs() {{", *body, *self.lines, *["}"] * (len(extents) + 2)]
        )

    def affine(self, variables: list[str]) -> str:
        terms = [f"{name} * {self.random.randint(1, 5)}" for name in variables if self.random.random() < 0.8]
        text = " + ".join([*terms, str(self.random.randint(0, 6))])
        kind = self.random.choice(
            ("", "", f" mod {self.random.randint(2, 9)}", f" floordiv {self.random.randint(2, 5)}")
        )
        return f"({text}){kind}" if kind else text

    def arguments(self) -> str:
        buffers = [f"%A{shape}: memref<{shape}xf32>" for shape in (4, 8, 12, 20, 40, 300)]
        return ", ".join(["%D: memref<1xi8>", *buffers])


def random_function(seed: int) -> str:
    """Returns the text of one function."""
    writer = Writer(random.Random(seed))
    return writer.blocks() if seed % 3 == 0 else writer.loops()


@dataclass
class Machine:
    """Runs a function for one byte of data, and notes every index of every load."""

    byte: int
    found: dict[Operation, list[int]] = field(default_factory=dict)
    values: dict[SSAValue, int] = field(default_factory=dict)

    def run(self, block: Block) -> None:
        for op in block.ops:
            self.step(op)

    def step(self, op: Any) -> None:
        if isinstance(op, LoopOp):
            (variable,), (extent,) = op.variables, op.extents
            self.repeat(op.body.block, variable, range(int(extent)))  # pyright: ignore[reportArgumentType]
        elif isinstance(op, BlockOp):
            operands = [self.values[each] for each in op.binding_operands]
            if all(expr.eval(operands, []) < bound for expr, bound in op.constraints):
                for axis, expr in zip(op.axes, op.binding_exprs, strict=True):
                    self.values[axis] = expr.eval(operands, [])
                self.run(op.body.block)
        elif isinstance(op, scf.ForOp):
            turns = range(self.values[op.lb], self.values[op.ub], self.values[op.step])
            self.repeat(op.body.block, op.body.block.args[0], turns)
        elif isinstance(op, scf.IfOp):
            region = op.regions[0 if self.values[op.cond] else 1]
            if region.blocks:
                self.run(region.block)
        elif isinstance(op, memref.LoadOp):
            if op.indices:
                self.found.setdefault(op, []).append(self.values[op.indices[0]])
            self.values[op.res] = self.byte
        elif op.results:
            self.values[op.results[0]] = computed(op, [self.values[each] for each in op.operands])

    def repeat(self, body: Block, variable: SSAValue, turns: range) -> None:
        for turn in turns:
            self.values[variable] = turn
            self.run(body)


def computed(op: Any, operands: list[int]) -> int:
    """Returns what an op of arith computes, in 64 bits."""
    if isinstance(op, arith.ConstantOp):
        return op.value.value.data  # pyright: ignore
    if isinstance(op, arith.SelectOp):
        return operands[1] if operands[0] else operands[2]
    if isinstance(op, arith.CmpiOp):
        return compared(op.predicate.value.data, *operands)
    if isinstance(op, arith.IndexCastOp):
        width = getattr(op.results[0].type, "bitwidth", 64)
        half = 1 << (width - 1)
        return (operands[0] + half) % (2 * half) - half
    if isinstance(op, arith.ExtUIOp):
        return operands[0] % 256
    first, second = operands
    result = {
        "arith.addi": lambda: first + second,
        "arith.subi": lambda: first - second,
        "arith.muli": lambda: first * second,
        "arith.divsi": lambda: abs(first) // second * (1 if first >= 0 else -1),
        "arith.remsi": lambda: abs(first) % second * (1 if first >= 0 else -1),
        "arith.remui": lambda: first % WORD % second,
        "arith.divui": lambda: first % WORD // second,
        "arith.floordivsi": lambda: first // second,
        "arith.ceildivsi": lambda: -(-first // second),
        "arith.minsi": lambda: min(first, second),
        "arith.maxsi": lambda: max(first, second),
        "arith.minui": lambda: min(first % WORD, second % WORD),
        "arith.shrsi": lambda: first >> second,
        "arith.andi": lambda: first & second,
        "arith.ori": lambda: first | second,
    }[op.name]()
    return (result + WORD // 2) % WORD - WORD // 2


def compared(predicate: int, first: int, second: int) -> int:
    if predicate >= 6:
        first, second = first % WORD, second % WORD
    tests = (first == second, first != second, first < second, first <= second, first > second, first >= second)
    return int(tests[predicate if predicate < 6 else predicate - 4])


def indices_met(body: Block, bytes_tried: tuple[int, ...]) -> Iterator[tuple[Operation, int]]:
    """Yields each load with each index that it is run with, for each byte of data."""
    for byte in bytes_tried:
        machine = Machine(byte)
        machine.run(body)
        for op, indices in machine.found.items():
            for index in indices:
                yield op, index
