"""Random loop functions, and random patterns of loops, half of them generalised from a part of such a function."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from loop_functions import CTX
from stepwell.core.text.parsing import parse_text
from stepwell.dialects.tensor_loop import BlockOp, FuncOp, LoopOp
from stepwell.patterns.language.loops import Axis, Loops
from stepwell.patterns.language.patterns import Any_, Op, Or, Pattern, Rest
from stepwell.patterns.language.rules import Require, compare, negated
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

BUFFERS = ("%A", "%B", "%C")
SIZES = (2, 3, 4)
UNARY = ("arith.negf", "math.exp")
BINARY = ("arith.addf", "arith.mulf")


def random_loops(choose: Random) -> ModuleOp:
    """A module with a loop function of one to three nests over buffers of rank 2."""
    size = choose.choice(SIZES)
    heads = ", ".join(f"{name}: memref<{size}x{size}xf32>" for name in BUFFERS)
    nests = [_nest(choose, size, number) for number in range(choose.randrange(1, 4))]
    text = f"tensor_loop.func private @f({heads}) outs(%D: memref<{size}x{size}xf32>) {{\n{''.join(nests)}}}"
    return parse_text(CTX, text, "p.mlir")


def _nest(choose: Random, size: int, number: int) -> str:
    loops = [f"%i{number}_{place}" for place in range(choose.randrange(1, 4))]
    kinds = ["spatial"] * len(loops)
    if choose.random() < 0.4:
        kinds[-1] = "reduce"
    axes = [
        f"{kind}(%v{number}_{at} in {size} = {loop})" for at, (kind, loop) in enumerate(zip(kinds, loops, strict=True))
    ]
    spatial = [each[8:-1] for each in axes if each.startswith("spatial")]
    reduce = [each[7:-1] for each in axes if each.startswith("reduce")]
    heads = [f"{kind}({', '.join(each)})" for kind, each in (("spatial", spatial), ("reduce", reduce)) if each]
    names = [f"%v{number}_{at}" for at in range(len(loops))]
    body = "".join(_store(choose, names, f"{number}_{store}", size) for store in range(choose.choice((1, 1, 1, 2))))
    block = f'tensor_loop.block "b{number}" {" ".join(heads)} {{\n{body}}}\n'
    if choose.random() < 0.5:
        return f"tensor_loop.grid ({', '.join(loops)}) in ({', '.join([str(size)] * len(loops))}) {{\n{block}}}\n"
    for loop in reversed(loops):
        block = f"tensor_loop.for {loop} in {size}{choose.choice(('', ' parallel', ' unrolled'))} {{\n{block}}}\n"
    return block


def _store(choose: Random, axes: list[str], name: str, size: int) -> str:
    type_ = f"memref<{size}x{size}xf32>"
    lines: list[str] = []

    def index() -> str:
        return f"[{choose.choice(axes)}, {choose.choice(axes)}]"

    def value(depth: int) -> str:
        made = f"%s{name}_{len(lines)}"
        if depth == 0 or choose.random() < 0.4:
            lines.append(f"{made} = memref.load {choose.choice(BUFFERS)}{index()} : {type_}")
        elif choose.random() < 0.5:
            inner = value(depth - 1)
            made = f"%s{name}_{len(lines)}"
            lines.append(f"{made} = {choose.choice(UNARY)} {inner} : f32")
        else:
            one, other = value(depth - 1), value(depth - 1)
            made = f"%s{name}_{len(lines)}"
            lines.append(f"{made} = {choose.choice(BINARY)} {one}, {other} : f32")
        return made

    stored = value(2)
    target = choose.choice((*BUFFERS, "%D"))
    return "".join(f"  {line}\n" for line in lines) + f"  memref.store {stored}, {target}{index()} : {type_}\n"


# Patterns


class Generaliser:
    """A pattern of a part of a loop function, looser at random. A value that is met again mostly has one name."""

    def __init__(self, choose: Random):
        self._choose = choose
        self._known: dict[SSAValue, Pattern] = {}

    def of(self, op: Operation) -> Loops:
        """The pattern of a block, a loop or a loop function."""
        choose = self._choose
        if isinstance(op, BlockOp):
            arguments = self._axes(list(op.axes))
            attributes = (("block_name", op.block_name),) if choose.random() < 0.2 else ()
            return self._maybe_unordered(Loops("block", arguments, self._parts(op), attributes))
        if isinstance(op, LoopOp):
            variables = list(op.variables)
            while choose.random() < 0.6 and isinstance(inner := op.body.block.first_op, LoopOp):
                op = inner
                variables += op.variables
            return self._maybe_unordered(Loops("nest", self._axes(variables), self._parts(op)))
        assert isinstance(op, FuncOp)
        return Loops("kernel", self._values(list(op.body.block.args)), self._parts(op))

    def _maybe_unordered(self, made: Loops) -> Loops:
        """The pattern, or that of arguments in any order, which then stand in another one."""
        if self._choose.random() > 0.35:
            return made
        single = list(made.single_arguments)
        self._choose.shuffle(single)
        rest = () if made.rest is None else (made.rest,)
        return replace(made, arguments=(*single, *rest)).unordered()

    def _axes(self, values: list[BlockArgument]) -> tuple[Pattern, ...]:
        if self._choose.random() < 0.08:
            self._choose.shuffle(values)
        return self._values(values)  # type: ignore[arg-type]

    def _values(self, values: list[SSAValue]) -> tuple[Pattern, ...]:
        cut = self._choose.randrange(len(values) + 1) if self._choose.random() < 0.35 else len(values)
        made = [self._argument(value) for value in values[:cut]]
        if cut < len(values) or self._choose.random() < 0.1:
            each = Axis(self._choose.choice((None, "spatial"))) if self._choose.random() < 0.3 else None
            made.append(Rest(each=each))
        return tuple(made)

    def _argument(self, value: SSAValue) -> Pattern:
        choose = self._choose
        if value in self._known and choose.random() < 0.9:
            return self._known[value]
        holder = value.owner.parent_op() if isinstance(value.owner, Block) else None
        made: Pattern = Any_()
        if isinstance(holder, BlockOp | LoopOp) and choose.random() < 0.8:
            kind = holder.kinds[value.index] if choose.random() < 0.6 else None  # type: ignore[attr-defined]
            kind = choose.choice(("spatial", "reduce", "parallel", "serial")) if choose.random() < 0.04 else kind
            extent = holder.extents[value.index] if choose.random() < 0.3 else None  # type: ignore[attr-defined]
            made = Axis(kind, choose.choice(SIZES) if choose.random() < 0.05 else extent)  # type: ignore[arg-type]
        self._known.setdefault(value, made)
        return made

    def _parts(self, op: Operation) -> tuple[Pattern, ...]:
        found = [each for each in op.regions[0].block.ops if not each.results and each.name != "tensor_loop.yield"]
        made: list[Pattern] = []
        for each in found:
            if self._choose.random() < 0.2:
                made.append(Rest())
                if self._choose.random() < 0.7:
                    continue
            made.append(self.of(each) if each.regions else self._store(each))
        return tuple(made)

    def _store(self, op: Operation) -> Pattern:
        if self._choose.random() < 0.15:
            return Op((op.name,))
        return self._op(op, 0)

    def _op(self, op: Operation, depth: int) -> Op:
        operands = [self._value(value, depth + 1) for value in op.operands]
        if self._choose.random() < 0.15:
            operands[1:] = [Rest()]
        names = (op.name,) if self._choose.random() < 0.85 else (op.name, self._choose.choice((*UNARY, *BINARY)))
        return Op(names, tuple(operands))

    def _value(self, value: SSAValue, depth: int) -> Pattern:
        if value in self._known and self._choose.random() < 0.9:
            return self._known[value]
        if isinstance(value, BlockArgument):
            return self._argument(value)
        if depth > 3 or self._choose.random() < 0.3:
            made: Pattern = Any_()
        else:
            made = self._op(value.owner, depth)  # type: ignore[arg-type]
            if self._choose.random() < 0.15:
                made = Or((made, Any_()) if self._choose.random() < 0.5 else (Op(UNARY, (Any_(),)), made))
        self._known.setdefault(value, made)
        return made


def random_loops_pattern(choose: Random, module: ModuleOp) -> tuple[Loops, tuple[Require, ...]]:
    """A pattern of a part of the module, and mostly a condition on extents."""
    places = [op for op in module.walk() if isinstance(op, BlockOp | LoopOp | FuncOp)]
    pattern = Generaliser(choose).of(choose.choice(places))
    axes = [part for part in pattern.arguments if not isinstance(part, Rest)]
    if not axes or pattern.kind == "kernel" or choose.random() < 0.6:
        return pattern, ()
    one, other = choose.choice(axes), choose.choice(axes)
    formula = choose.choice(("extent($0) == 3", "extent($0) * 2 >= extent($1) + 4", "mod(extent($0), 2) == 0"))
    made = compare(formula, *(one, other)[: 2 if "$1" in formula else 1])
    return pattern, ((made if choose.random() < 0.7 else negated(made)),)
