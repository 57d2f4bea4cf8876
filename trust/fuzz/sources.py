"""Kinds of random programs: ops of the graph dialect, motifs, layers, what rules match, ops of other packages."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, Final

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import IRDLOperation

from ...core.ir.element_types import ATTRIBUTES
from ...core.ir.verification import verify_module
from ...core.plugins import registry
from ...core.text.parsing import parse_text
from ...dialects.traits import LoopSemantics, LoopTemplate
from ...lazy_dataclass import dataclass
from ...patterns.language.rules import Rule
from ...rewrites.shipped import SHIPPED, shipped_rules
from ...testing.graphs.random_graph import random_graph
from ...testing.programs.program_generators import random_program
from ...testing.rules.drawing import Drawing
from .families import program_text
from .layers import random_net


class Source(ABC):
    """A kind of random programs."""

    name: str

    @abstractmethod
    def program(self, context: Context, seed: int) -> ModuleOp | None:
        """Returns the program of a seed, or `None` where that leads nowhere. The same seed gives the same program."""


class Ops(Source):
    """A chain of ops of the graph dialect, of all element types."""

    name = "ops"

    def program(self, context: Context, seed: int) -> ModuleOp | None:
        text = random_program(seed, 6 + seed % 25, smooth=seed % 2 == 1).text
        return parse_text(context, text, f"ops-{seed}.mlir")


class Families(Source):
    """All ops of the graph dialect in turn, a few at a time, with functions of elements around them."""

    name = "families"

    def program(self, context: Context, seed: int) -> ModuleOp | None:
        return parse_text(context, program_text(seed), f"families-{seed}.mlir")


class Motifs(Source):
    """A few of the shapes that graph passes look for: products, scales, branches, casts, loops."""

    name = "motifs"

    def program(self, context: Context, seed: int) -> ModuleOp | None:
        graph = random_graph(seed, "smooth" if seed % 2 else "any")
        return parse_text(context, str(graph.module), f"motifs-{seed}.mlir")


class Layers(Source):
    """A net of layers, with sizes around those of tiles."""

    name = "layers"

    def program(self, context: Context, seed: int) -> ModuleOp | None:
        return parse_text(context, random_net(seed), f"layers-{seed}.mlir")


TOGETHER: Final = 12
"""The rules that a program is made for: a function for each, since most of the time goes into one more compilation."""


@dataclass
class Rules(Source):
    """What the left sides of rules match, a function for each of some rules."""

    rules: Sequence[Rule]
    name: str = "rules"
    _drawings: dict[str, Drawing] = field(default_factory=dict[str, Drawing])

    def program(self, context: Context, seed: int) -> ModuleOp | None:
        if not self.rules:
            return None
        count = min(TOGETHER, len(self.rules))
        made = ModuleOp([])
        for number in range(seed * count, (seed + 1) * count):
            function = self._function(context, self.rules[number % len(self.rules)], number // len(self.rules))
            if function is not None:
                function.sym_name = StringAttr(f"main{len(made.body.block.ops)}")
                made.body.block.add_op(function)
        return parse_text(context, str(made), f"rules-{seed}.mlir") if made.body.block.ops else None

    def _function(self, context: Context, rule: Rule, number: int) -> func.FuncOp | None:
        """Returns a program for a rule that is one function, of the first draws that give one."""
        drawing = self._drawings.setdefault(rule.name, Drawing(context, rule, 0))
        for draw in range(4):
            instance = drawing.draw(number + 1000 * draw)
            ops = [] if instance is None else list(instance.module.body.block.ops)
            if len(ops) == 1 and isinstance(ops[0], func.FuncOp):
                ops[0].detach()
                return ops[0]
        return None


def all_shipped_rules() -> tuple[Rule, ...]:
    """Returns the rules that Stepwell ships, but those about groups of ops."""
    return tuple(rule for name in SHIPPED for rule in shipped_rules(name) if rule.group is None)


SIZES: Final = (1, 2, 3, 4, 4, 5, 8)
DTYPES: Final = ("f32", "f32", "f32", "f64", "i32", "i1", "f16", "i64", "ui8")
TRIES: Final = 60


@dataclass
class Dialects(Source):
    """Ops of some classes, which feed each other. Types are drawn until the op takes them."""

    classes: Sequence[type[IRDLOperation]]
    name: str = "dialects"

    def program(self, context: Context, seed: int) -> ModuleOp | None:
        if not self.classes:
            return None
        choose = random.Random(seed)
        block = Block()
        values: list[Any] = []
        for _ in range(choose.randrange(1, 5)):
            made = self._op(choose, block, values)
            if made is not None:
                values += made.results
        if not values:
            return None
        unused = [value for value in values if value.first_use is None]
        block.add_op(func.ReturnOp(*unused))
        type_ = FunctionType.from_lists([each.type for each in block.args], [each.type for each in unused])
        module = ModuleOp([func.FuncOp("main", type_, Region(block))])
        return parse_text(context, str(module), f"dialects-{seed}.mlir")

    def _op(self, choose: random.Random, block: Block, values: Sequence[Any]) -> Operation | None:
        """Adds an op to the block that takes values which are there where that fits, and new arguments."""
        op_class = choose.choice(list(self.classes))
        count = len(op_class.get_irdl_definition().operands)
        for _ in range(TRIES):
            usual = _type(choose)
            types = [usual if choose.random() < 0.8 else _type(choose) for _ in range(count)]
            given = [_value(choose, type_, block, values) for type_ in types]
            made = _made(op_class, given)
            if made is not None:
                block.add_op(made)
                return made
            for argument in [each for each in given if each in block.args and each.first_use is None]:
                block.erase_arg(argument)
        return None


def _value(choose: random.Random, type_: Attribute, block: Block, values: Sequence[Any]) -> Any:
    known = [each for each in (*values, *block.args) if each.type == type_]
    if known and choose.random() < 0.6:
        return choose.choice(known)
    if values and choose.random() < 0.4:
        return choose.choice(list(values))
    return block.insert_arg(type_, len(block.args))


def _type(choose: random.Random) -> TensorType[Any]:
    shape = [choose.choice(SIZES) for _ in range(choose.choice((1, 2, 2, 3)))]
    return TensorType(ATTRIBUTES[choose.choice(DTYPES)], shape)


def _made(op_class: type[IRDLOperation], given: Sequence[Any]) -> Operation | None:
    """Returns an op on some values, or `None` where it does not take them."""
    try:
        made = op_class(*given)
        holder = Block(arg_types=[each.type for each in given])
        copy = made.clone(dict(zip(given, holder.args, strict=True)))
        holder.add_ops([copy, func.ReturnOp(*copy.results)])
        outputs = [each.type for each in copy.results]
        function = FunctionType.from_lists([each.type for each in given], outputs)
        verify_module(ModuleOp([func.FuncOp("main", function, Region(holder))]))
    except Exception:  # Whatever an op of another package says to types that it does not take.
        return None
    return made


def op_classes(dialects: Iterable[str]) -> list[type[IRDLOperation]]:
    """Returns the ops of dialects that say what they compute."""
    found: list[type[IRDLOperation]] = []
    for name in dialects:
        for each in registry().dialects[name]().operations:
            if issubclass(each, IRDLOperation) and issubclass(each, LoopSemantics | LoopTemplate):
                found.append(each)
    return found


def dialects_of_others() -> list[str]:
    """Returns the dialects of packages other than xDSL and Stepwell."""
    found = registry()
    return [name for name in found.dialects if found.owner.get(("dialect", name)) not in ("stepwell", "xdsl")]
