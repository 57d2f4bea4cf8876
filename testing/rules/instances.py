"""A random program that looks like the left side of a rule: its values, what surrounds it, who else uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from ...lazy_dataclass import dataclass
from ...patterns.language.chains import Chain
from ...patterns.language.combinators import Together
from ...patterns.language.constraints import And, Argument, Literal, Not, Where
from ...patterns.language.patterns import Any_, Capture, Constant, Op, Or, Pattern, Rest, Result, Splat
from ...patterns.language.structures import Call, Dominates, Function, If
from ..programs.ir_generators import TensorSpec, rarely
from .choices import Impossible
from .completions import any_op, arity, completion
from .hints import wished_dtype, wished_shape
from .leaves import LeafMaker, spec_of, type_of


@dataclass
class Instance:
    """A module with the entry `main`, the op that the rule is to be applied to, and what the arguments need."""

    module: ModuleOp
    root: Operation | None
    """`None`: the rule may apply anywhere."""
    flavours: list[str]
    """The needs of each argument, empty for one without special needs."""
    orders: dict[str, bool] = field(default_factory=dict)
    """Says of each commutative op of the pattern whether its operands stand in the order of the pattern."""
    dtype: str = ""
    names: dict[str, str] = field(default_factory=dict)
    """The names of the ops of the pattern."""


class InstanceMaker(LeafMaker):
    """Makes one instance of `rule`. `swap` says of a commutative op of the pattern whether to swap its operands."""

    def build(self) -> Instance:
        """Raises `Impossible`, or an error of the builder of an op, for choices that lead nowhere."""
        root = self._root(self._rule.lhs)
        for free in self._rule.free:
            self._free(free, root)
        returned = self._returned(root)
        self._block.add_op(func.ReturnOp(*returned))
        types: list[Attribute] = [argument.type for argument in self._block.args]
        function = func.FuncOp("main", (types, [value.type for value in returned]), Region(self._block))
        for number, argument in enumerate(self._block.args):
            argument.name_hint = argument.name_hint or f"a{number}"
        flavours = [self._flavours.get(argument, "") for argument in self._block.args]
        place = None if self._anywhere else root
        return Instance(
            ModuleOp([function, *self._functions.values()]),
            place,
            flavours,
            self._orders,
            self._dtype(root),
            self._names,
        )

    def _dtype(self, root: Operation) -> str:
        """The element type of the first tensor that the root takes or makes."""
        values = (value for value in (*root.operands, *root.results) if isinstance(value.type, TensorType))
        first = next(values, None)
        return self._taste.dtype if first is None else spec_of(first).dtype

    def _root(self, pattern: Pattern) -> Operation:
        if isinstance(pattern, Op):
            return self._op(pattern)
        value = self._value(pattern)
        self._anywhere = isinstance(pattern, Together)
        if not isinstance(value, OpResult):
            raise Impossible
        return value.op

    def _returned(self, root: Operation) -> list[SSAValue]:
        choose = self._choose
        results: list[SSAValue] = list(root.results)
        if len(results) > 1 and rarely(choose, 2):
            results = results[:1]
        below = "below" in self._hints.surroundings
        if len(results) == 1 and (not rarely(choose, 4) if below else rarely(choose, 12)):
            results = [self._user(results[0])]
        inner = [op.results[0] for op in self._made if op is not root and op.results and op.operands]
        if inner and rarely(choose, 6):
            results.append(choose.element(inner))
        return results

    def _user(self, value: SSAValue) -> SSAValue:
        """An op that takes `value`; a contraction where there can be one."""
        spec = spec_of(value)
        names = ["graph.conv2d"] if spec.rank == 4 else ["graph.matmul"] if spec.rank >= 2 else []
        if "below" in self._hints.surroundings and rarely(self._choose, 4):
            names.insert(0, self._choose.element(("graph.relu", "graph.add")))
        for name in names or ["graph.negative"]:
            known = [spec_of(value), *[None] * (arity(name) - 1)]
            done = completion(name)(self._choose, name.removeprefix("graph."), known, self._taste)
            others = [self._constant(spec, "") for spec in done.operands[1:]]
            value = self._make(name, [value, *others], done.properties).results[0]
        return value

    # Patterns

    def _value(self, pattern: Pattern, spec: TensorSpec | None = None) -> SSAValue:
        key: str = pattern.key
        bound = self._values.get(key)
        if bound is None:
            bound = self._new(pattern, spec)
            self._values[key] = bound
        return bound.results[0] if isinstance(bound, Operation) else bound

    def _new(self, pattern: Pattern, spec: TensorSpec | None) -> SSAValue | Operation:
        match pattern:
            case Op():
                return self._op(pattern)
            case Result(op, index):
                self._value(op)
                found = self._values[_known_key(op)]
                if not isinstance(found, Operation) or (index or 0) >= len(found.results):
                    raise Impossible
                return found.results[index or 0]
            case Or(alternatives):
                return self._value(self._choose.element(alternatives), spec)
            case Where(inner):
                return self._value(inner, spec or self._wished(pattern))
            case And(patterns):
                made = [self._value(each, spec) for each in sorted(patterns, key=_is_leaf)[:1]]
                for each in patterns:
                    if isinstance(each, Any_):
                        self._values.setdefault(each.key, made[0])
                return made[0]
            case Together(patterns):
                return [self._value(each) for each in patterns][0]
            case Dominates():
                return self._dominated(pattern)
            case Chain():
                return self._chained(pattern)
            case Call():
                return self._call(pattern)
            case If():
                return self._if(pattern)
            case _:
                return self._leaf(pattern, spec or self._wished(pattern) or self._taste.spec)

    def _wished(self, pattern: Pattern) -> TensorSpec | None:
        """The type that the tests of a leaf ask for."""
        dtype, shape = None, None
        if isinstance(pattern, Literal):
            type_ = getattr(pattern.value, "type", None)
            return None if type_ is None else TensorSpec(tuple(type_.get_shape()), str(type_.element_type))
        while isinstance(pattern, Where):
            dtype, shape = dtype or wished_dtype(pattern.test), shape or wished_shape(pattern.test)
            pattern = pattern.pattern
        if dtype is None and shape is None or not _is_leaf(pattern):
            return None
        sizes = self._taste.shape if shape is None else self._sizes(shape)
        return TensorSpec(sizes, dtype or self._taste.dtype)

    def _sizes(self, shape: Sequence[int | None]) -> tuple[int, ...]:
        """Free sizes are mostly those of the preferred shape, so that operands fit together."""
        skip = len(self._taste.shape) - len(shape)
        sizes = []
        for place, size in enumerate(shape, start=skip):
            own = self._taste.shape[place] if 0 <= place < len(self._taste.shape) else 2
            free = self._choose.element((1, 2, 3)) if rarely(self._choose, 6) else own
            sizes.append(free if size is None else size)
        return tuple(sizes)

    def _dominated(self, pattern: Dominates) -> SSAValue:
        """The parent, up to two ops of the path after it, and the child."""
        start = self._value(pattern.parent)
        for _ in range(self._choose.integer(0, 2)):
            known = dict(self._values)
            self._feed = start
            start = self._value(pattern.path)
            self._values = known
        self._feed = start
        result = self._value(pattern.child)
        self._feed = None
        return result

    def _chained(self, pattern: Chain) -> SSAValue:
        """What the chain begins with, and up to two steps more than it has at least."""
        value = self._value(pattern.start)
        for _ in range(self._choose.integer(pattern.least, pattern.least + 2)):
            known = dict(self._values)
            self._values[pattern.link.key] = value
            value = self._value(pattern.step)
            self._values = known
        return value

    def _if(self, pattern: If) -> SSAValue:
        condition = self._argument(None)
        self._values[_known_key(pattern.condition)] = condition
        arms, outer = [], self._block
        spec = None
        for part in (pattern.then, pattern.otherwise):
            if isinstance(part, tuple):
                raise Impossible
            self._block = Block()
            value = self._value(part, spec)
            spec = spec_of(value)
            self._block.add_op(scf.YieldOp(value))
            arms.append(self._block)
        self._block = outer
        op = scf.IfOp(condition, [type_of(spec or self._taste.spec)], Region(arms[0]), Region(arms[1]))
        self._block.add_op(op)
        return op.results[0]

    def _call(self, pattern: Call) -> SSAValue:
        """
        A call of a new function that computes something from its operands; a function that is matched cannot be drawn.
        """
        if isinstance(pattern.callee, Function):
            raise Impossible
        operands = [self._value(each) for each in pattern.operands or ()] or [self._argument(self._taste.spec)]
        name = pattern.callee or f"callee{len(self._functions)}"
        block = Block(arg_types=[operand.type for operand in operands])
        op_type = self._ctx.get_op("graph.logical_not" if spec_of(operands[0]).dtype == "i1" else "graph.square")
        op: Any = op_type(block.args[0])  # pyright: ignore[reportCallIssue]
        block.add_ops([op, func.ReturnOp(op.results[0])])
        types = [operand.type for operand in operands], [op.results[0].type]
        function = func.FuncOp(name, types, Region(block), visibility=StringAttr("private"))
        self._functions.setdefault(name, function)
        call = func.CallOp(name, operands, types[1])
        self._block.add_op(call)
        return call.results[0]

    def _free(self, pattern: Op, root: Operation) -> None:
        """A second op like the root, or one that differs in one thing; mostly before it."""
        choose = self._choose
        if rarely(choose, 3) and root.operands:
            operands = list(root.operands)
            short = root.name.removeprefix("graph.")
            known = [spec_of(value) for value in operands]
            done = completion(root.name)(choose, short, known, self._taste)
            made = self._make(root.name, operands[::-1] if rarely(choose, 3) else operands, done.properties)
        else:
            made = root.clone()
            self._block.add_op(made)
        if rarely(choose, 6):
            self._into_branch(made, root)
        elif not rarely(choose, 6):
            made.detach()
            self._block.insert_op_before(made, root)
        self._made.append(made)
        self._values[pattern.key] = made
        self._made.append(root)

    def _into_branch(self, op: Operation, root: Operation) -> None:
        """Moves `op` into a branch before `root`, where its results do not exist afterwards."""
        op.detach()
        type_ = op.results[0].type
        yielded = scf.YieldOp(op.results[0])
        other = scf.YieldOp(self._entry.insert_arg(type_, len(self._entry.args)))
        branches = Region(Block([op, yielded])), Region(Block([other]))
        self._block.insert_op_before(scf.IfOp(self._argument(None), [type_], *branches), root)

    # Ops

    def _op(self, pattern: Op) -> Operation:
        if pattern.key in self._values:
            found = self._values[pattern.key]
            assert isinstance(found, Operation)
            return found
        choose = self._choose
        name = self._op_name(pattern) if pattern.names else any_op(choose)
        patterns = self._operand_patterns(pattern, name)
        known: list[TensorSpec | None] = []
        values: list[SSAValue | None] = [None] * len(patterns)
        for place, each in enumerate(patterns):
            if each is None and place == 0 and self._feed is not None:
                values[0] = self._feed
            elif each is not None and (not _is_leaf(each) or _known_key(each) in self._values):
                values[place] = self._value(each)
            found = values[place]
            wished = self._wished(each) if each is not None else None
            known.append(wished if found is None else spec_of(found))
        done = completion(name)(choose, name.removeprefix("graph."), known, self._taste)
        for place, (each, spec) in enumerate(zip(patterns, done.operands, strict=True)):
            if values[place] is None:
                flavour = done.flavours.get(place, "")
                values[place] = self._operand(each, spec, flavour)
        operands = [value for value in values if value is not None]
        fixed = {key: value for key, value in pattern.attributes if not isinstance(value, Capture)}
        drawn = self._like_another(pattern.key, done.properties)
        op = self._make(name, operands, {**drawn, **fixed}, pattern.key)
        self._values[pattern.key] = op
        return op

    def _like_another(self, key: str, properties: dict[str, Any]) -> dict[str, Any]:
        """The properties of an op that a condition `same-op` wants to be like this one, mostly."""
        self._drawn[key] = properties
        for required in self._rule.when:
            if required.name == "same-op" and key in required.keys and not rarely(self._choose, 5):
                properties = next((self._drawn[each] for each in required.keys if each in self._drawn), properties)
        return properties

    def _op_name(self, pattern: Op) -> str:
        """One of the names of an op. In every second instance it is one of those that were seen least."""
        counts = self._seen.get(pattern.key, {})
        least = min(counts.get(name, 0) for name in pattern.names)
        rare = [name for name in pattern.names if counts.get(name, 0) == least]
        self._names[pattern.key] = self._choose.element(rare if rarely(self._choose, 2) else pattern.names)
        return self._names[pattern.key]

    def _operand_patterns(self, pattern: Op, name: str) -> list[Pattern | None]:
        if pattern.operands is None or not pattern.names:
            return [None] * arity(name)
        patterns: list[Pattern | None] = list(pattern.operands)
        if patterns and isinstance(patterns[-1], Rest):
            least = max(arity(name) - len(patterns) + 1, 0)
            patterns[-1:] = [None] * (least if least else self._choose.integer(0, 2))
        return patterns

    def _operand(self, pattern: Pattern | None, spec: TensorSpec, flavour: str) -> SSAValue:
        if flavour.startswith("index:") and isinstance(pattern, Constant):
            made = self._values[pattern.key] = self._indices(spec, int(flavour.removeprefix("index:")))
            return made
        if flavour.startswith("index:") or pattern is None:
            made = self._argument(spec) if flavour or not rarely(self._choose, 4) else self._constant(spec, "")
            if flavour:
                self._flavours[made] = flavour
            if pattern is not None:
                self._values[pattern.key] = made
            return made
        made = self._value(pattern, spec)
        if flavour and made.owner is self._entry:
            self._flavours.setdefault(made, flavour)
        return made


def _is_leaf(pattern: Pattern) -> bool:
    """Whether a pattern stands for a value that anything may compute, or for a constant."""
    if isinstance(pattern, Where):
        return _is_leaf(pattern.pattern)
    if isinstance(pattern, Or | And):
        return all(_is_leaf(each) for each in pattern.parts())
    return isinstance(pattern, Any_ | Splat | Constant | Literal | Argument | Not)


def _known_key(pattern: Pattern) -> str:
    """The key of the value below the tests of it."""
    while isinstance(pattern, Where):
        pattern = pattern.pattern
    return pattern.key


__all__ = ["InstanceMaker", "Instance"]
