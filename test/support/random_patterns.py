"""Random patterns and rules: of no program at all, and generalised from a program."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Final

from random_programs import values_of
from random_reach import random_chain, random_comparison, random_rest, random_test, reaching_further
from slow_tests import CALLEES, CONSTANTS, values_between
from stepwell.dialects.traits import is_commutative
from stepwell.patterns.language.chains import Chain
from stepwell.patterns.language.combinators import Together, is_expr
from stepwell.patterns.language.constraints import And, Argument, HasAttr, HasKind, Literal, Not, Where
from stepwell.patterns.language.patterns import (
    Any_,
    Capture,
    Constant,
    Op,
    Or,
    Pattern,
    Rest,
    Result,
    Splat,
    all_below,
    fresh_key,
)
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.language.rules import Require, Rule, negated
from stepwell.patterns.language.structures import Call, Dominates, Function, If
from stepwell.patterns.matching.compiled_rule import compile_rule
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ContainerType,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    ShapedType,
    StringAttr,
)
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.irdl import IRDLOperation

# Patterns of no program

NAMES: Final = tuple(f"graph.{name}" for name in ("exp", "relu", "tanh", "add", "subtract", "multiply", "maximum"))


def random_pattern(choose: random.Random, depth: int, shared: list[Pattern]) -> Pattern:
    """A pattern of any shape; leaves of `shared` may stand in several places."""
    if depth == 0 or choose.random() < 0.1:
        leaves = (
            Any_(),
            Any_(),
            Constant(),
            Argument(),
            Argument(choose.randrange(3)),
            Argument(name="y"),
            Splat(1.0),
            Splat(0.0),
            *shared[:2],
        )
        leaf = choose.choice(leaves)
        if isinstance(leaf, Any_):
            shared.append(leaf)
        return leaf

    def below() -> Pattern:
        return random_pattern(choose, depth - 1, shared)

    pick = choose.random()
    if pick < 0.25:
        return Op((choose.choice(NAMES[:3]),), (below(),))
    if pick < 0.55:
        return Op(tuple(choose.sample(NAMES[3:], choose.randrange(1, 3))), (below(), below()))
    if pick < 0.65:
        return Or((below(), below()))
    if pick < 0.7:
        return And((below(), below()))
    if pick < 0.75:
        return Not(below())
    if pick < 0.83:
        return random_test(choose, below())
    if pick < 0.88:
        return Dominates(below(), random_pattern(choose, depth - 1, []), below())
    if pick < 0.92:
        return Call(choose.choice((None, "f", Function(None, below()))), choose.choice((None, (below(),))))
    if pick < 0.95:
        return If(below(), below(), below())
    if pick < 0.97:
        return random_chain(choose, below())
    return choose.choice((Op(()), Op((), (below(), Rest())), Result(Op(()), 1), Op(NAMES, (Rest(),))))


# Patterns of a program


@dataclass
class Generaliser:
    """Makes patterns that stand for given values, with more freedom than the values have, and a few mistakes."""

    choose: random.Random
    mistakes: float = 0.02
    patterns: dict[SSAValue, Pattern] = field(default_factory=dict)
    ops: dict[Operation, Op] = field(default_factory=dict)

    def chance(self, share: float) -> bool:
        return self.choose.random() < share

    def of(self, value: SSAValue, depth: int) -> Pattern:
        """A pattern of `value`; mostly the same object each time that it is asked for."""
        if value in self.patterns and self.chance(0.8):
            return self.patterns[value]
        if self.patterns and self.chance(self.mistakes + 0.02):  # of another value: the two must be the same
            return self.choose.choice(list(self.patterns.values()))
        made = self.core(value, depth)
        if self.chance(0.3):
            made = self.decorated(made, value)
        self.patterns[value] = made
        return made

    def core(self, value: SSAValue, depth: int) -> Pattern:
        if not isinstance(value, OpResult) or depth == 0 or self.chance(0.1):
            return self.leaf(value)
        op = value.op
        if op.name in CONSTANTS:
            return self.constant(value)
        if op.name == "scf.if" and len(op.results) > 1 and self.chance(0.7):
            return self.one_of_several(value, depth)
        if op.name == "func.call" and len(op.results) > 1 and self.chance(0.5):
            return Result(self.call(op, depth), value.index)
        if self.chance(0.07):
            return self.expression(value, depth)
        if len(op.results) > 1:
            return Result(self.op(op, depth), value.index if not self.chance(self.mistakes) else 1)
        if op.name == "scf.if" and self.chance(0.7):
            ends = [region.block.last_op for region in op.regions]
            assert ends[0] is not None and ends[1] is not None
            parts = (op.operands[0], ends[0].operands[0], ends[1].operands[0])
            return If(*(self.of(each, depth - 1) for each in parts))
        if op.name in CALLEES and self.chance(0.7):
            return self.call(op, depth)
        if self.chance(0.2):
            return self.dominated(value, depth) or self.op(op, depth)
        return self.op(op, depth)

    def one_of_several(self, value: OpResult, depth: int) -> Pattern:
        """A result of a branch, by what is yielded in its place or by everything that is."""
        op = value.op
        ends = [each.operands for each in (region.block.last_op for region in op.regions) if each is not None]
        condition = self.of(op.operands[0], depth - 1)
        if self.chance(0.4):
            return If(condition, *(self.of(each[value.index], depth - 1) for each in ends))
        parts = [tuple(self.of(each, depth - 1) for each in end) for end in ends]
        return Result(If(condition, *parts), value.index)

    def expression(self, value: OpResult, depth: int) -> Pattern:
        """The value by the ops that compute it, from some values on that patterns stand for."""
        holes: dict[SSAValue, Pattern] = {}
        seen, stack = set[SSAValue](), list[SSAValue]([value])
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            inner = isinstance(current, OpResult) and not current.op.regions
            if current is not value and (self.chance(0.4) or not inner):
                holes[current] = self.of(current, depth - 1)
            elif isinstance(current, OpResult):
                stack += current.op.operands
        return Any_() if value.op.regions else is_expr(value, holes)

    def together(self, value: OpResult, depth: int) -> Pattern:
        """The value, where another op uses one of its operands too; or an operand by some of its users."""
        operands = [each for each in value.op.operands if each.uses.get_length() > 1]
        if not operands:
            return self.of(value, depth)
        shared = self.choose.choice(operands)
        users = list(dict.fromkeys(use.operation for use in shared.uses if use.operation.results))
        others = [user.results[0] for user in users if user is not value.op and len(user.results) == 1]
        others = others[: self.choose.randrange(1, 3)]
        if not others:
            return self.of(value, depth)
        first = (
            Op((value.op.name,), self.sharing(value.op, shared))
            if self.chance(0.7)
            else self.patterns.setdefault(shared, Any_())
        )
        rest = [Op((each.op.name,), self.sharing(each.op, shared)) for each in others]
        self.patterns.setdefault(shared, Any_())
        made = Together((first, *rest))
        return made.holds("only-used-by", *rest) if self.chance(0.2) else made

    def sharing(self, op: Operation, shared: SSAValue) -> tuple[Pattern, ...]:
        """Patterns of the operands of an op, with that of `shared` as it is known."""
        known = self.patterns.setdefault(shared, Any_())
        return tuple(known if each is shared else self.of(each, 0) for each in op.operands)

    def leaf(self, value: SSAValue) -> Pattern:
        if isinstance(value, OpResult):
            plain = Op((value.op.name,)) if self.chance(0.5) else Op(())
            return Any_() if self.chance(0.7) or len(value.op.results) > 1 else plain
        index: int = value.index  # type: ignore[attr-defined]
        return self.choose.choice((Any_(), Any_(), Argument(), Argument(index), Argument(name=value.name_hint)))

    def constant(self, value: OpResult) -> Pattern:
        number = value.op.properties.get("value")
        if isinstance(number, FloatAttr | IntegerAttr):
            return self.choose.choice(
                (Constant(), Splat(float(abs(number.value.data) if str(number.type) == "i1" else number.value.data)))
            )
        return Constant() if number is None or self.chance(0.5) else Literal(number)

    def op(self, op: Operation, depth: int) -> Op:
        if op in self.ops:
            return self.ops[op]
        names = [op.name] if not self.chance(self.mistakes) else [self.choose.choice(NAMES)]
        if self.chance(0.2):
            names.insert(self.choose.randrange(2), self.choose.choice(NAMES))
        made = Op(() if self.chance(0.05) else tuple(names), self.operands(op, depth), self.attributes(op))
        self.ops[op] = made
        return made

    def operands(self, op: Operation, depth: int) -> tuple[Pattern, ...] | None:
        if self.chance(0.1):
            return None
        operands = list(op.operands)
        if is_commutative(op) and self.chance(0.5):
            operands.reverse()
        if self.chance(0.1):
            count = self.choose.randrange(len(operands) + 1)
            return *(self.of(each, depth - 1) for each in operands[:count]), random_rest(self.choose)
        made = [self.of(each, depth - 1) for each in operands]
        return tuple(made[:1] * len(made) if self.chance(0.05) else made)

    def attributes(self, op: Operation) -> tuple[tuple[str, object], ...]:
        found: list[tuple[str, object]] = []
        defined = op.get_irdl_definition().properties if isinstance(op, IRDLOperation) else {}
        defaults = {name: each.default_value for name, each in defined.items() if each.default_value is not None}
        for name, value in {**defaults, **op.properties, **op.attributes}.items():
            if self.chance(0.3):
                plain = value.data if isinstance(value, StringAttr) else value
                found.append((name, self.choose.choice((value, plain, Capture(fresh_key())))))
        if self.chance(self.mistakes):
            found.append(("my.tag", "b"))
        return tuple(found)

    def call(self, op: Operation, depth: int) -> Call:
        name: str = op.properties["callee"].root_reference.data  # type: ignore[attr-defined]
        callee = self.choose.choice((name, None, self.function(op, name, depth)))
        return Call(callee, self.operands(op, depth))

    def function(self, user: Operation, name: str, depth: int) -> Function | None:
        module: Operation | None = user
        while module is not None and module.name != "builtin.module":
            module = module.parent_op()
        assert module is not None
        named = [each for each in module.regions[0].block.ops if each.properties.get("sym_name") == StringAttr(name)]
        if named[0].name != "func.func":
            return None
        block = named[0].regions[0].block if len(named[0].regions[0].blocks) == 1 else named[0].regions[0].blocks[1]
        assert block.last_op is not None
        body = self.of(block.last_op.operands[0], depth - 1)
        parameters = None if self.chance(0.4) else tuple(self.of(each, depth - 1) for each in block.args)
        kind = () if self.chance(0.7) else self.attributes(named[0])
        return Function(parameters, body, tuple(pair for pair in kind if pair[0] == "kind"))

    def dominated(self, value: OpResult, depth: int) -> Dominates | None:
        """The value by one that dominates it, and a path that covers what lies between."""
        assert value.op.parent is not None
        above = [result for op in value.op.parent.ops for result in op.results]
        for parent in reversed(above):
            between = values_between(value.op, parent)
            if between is not None and self.chance(0.7):
                names = sorted({each.owner.name for each in between if isinstance(each.owner, Operation)})
                steps: list[Pattern] = [Op((name,)) for name in names] or [Op(("graph.exp",))]
                whole = [Op(tuple(names)) if names else Any_(), Or(tuple(steps)), Any_(), Op(())]
                child = Op((value.op.name,)) if self.chance(0.5) else self.op(value.op, 1)
                return Dominates(self.of(parent, depth - 1), self.choose.choice(whole), child)
        return None

    def decorated(self, made: Pattern, value: SSAValue) -> Pattern:
        """`made` with an alternative, a test, or something else that (mostly) holds of `value`."""
        wrong = random_pattern(self.choose, 1, [])
        options = [
            lambda: Or((wrong, made)),
            lambda: Or((made, wrong)),
            lambda: And((made, Any_())),
            lambda: And((Any_(), made)),
            lambda: And((made, Not(wrong))),
            lambda: And((made, Not(self.choose.choice([*self.patterns.values(), wrong])))),
            lambda: made.optional(lambda inner: Op((self.choose.choice(NAMES[:3]),), (inner,))),
            lambda: self.tested(made, value),
            lambda: self.tested(made, value),
            lambda: self.related(made),
            lambda: self.reassociated(made),
            lambda: random_test(self.choose, made),
            lambda: reaching_further(self.choose, made),
            lambda: reaching_further(self.choose, made),
        ]
        return self.choose.choice(options)()

    def related(self, made: Pattern) -> Pattern:
        """`made` with a condition on another part of the pattern."""
        known = [each for each in self.patterns.values() if not isinstance(each, Op)]
        return (
            made.holds(self.choose.choice(("same-shape", "same-type", "not-same")), self.choose.choice(known))
            if known
            else made
        )

    def reassociated(self, made: Pattern) -> Pattern:
        """`made` in any association, when it has several."""
        try:
            return made.assoc()
        except RuleError:
            return made

    def tested(self, made: Pattern, value: SSAValue) -> Pattern:
        """`made` with a test that holds."""
        type_ = value.type
        options = [lambda: made.has_type(type_)]
        if isinstance(type_, ContainerType):
            options.append(lambda: made.has_dtype(str(type_.get_element_type())))
        if isinstance(type_, ShapedType):
            sizes = [size if size != DYNAMIC_INDEX and self.chance(0.5) else None for size in type_.get_shape()]
            options.append(lambda: made.has_shape(*sizes))
        if value.uses.get_length() == 1:
            options.append(lambda: made.single_use())
        if isinstance(value, OpResult):
            op = value.op
            pairs = tuple({**op.properties, **op.attributes}.items())
            options.append(lambda: Where(made, HasAttr(pairs[: self.choose.randrange(len(pairs) + 1)])))
            options.append(lambda: Where(made, HasKind(("elementwise", "broadcast", "reduction"))))
        return self.choose.choice(options)()


# Rules


def sure_keys(pattern: Pattern) -> list[str]:
    """Keys of the values that every match binds: nothing of alternatives, negations and paths."""
    if isinstance(pattern, Function | Rest):
        return []
    key: str = pattern.key
    if isinstance(pattern, Or | Not):
        return [key] if isinstance(pattern, Or) else []
    parts = (pattern.parent, pattern.child) if isinstance(pattern, Dominates) else pattern.parts()
    parts = (pattern.start,) if isinstance(pattern, Chain) else parts
    if isinstance(pattern, Result):  # what an op with several results stands for is no value
        inner = pattern.op.key  # type: ignore[attr-defined]
        return [key, *(each for each in sure_keys(pattern.op) if each != inner)]
    found = [key] if not isinstance(pattern, Op) else []
    return found + [each for part in parts for each in sure_keys(part)]


def random_rule(choose: random.Random, module: ModuleOp, *, derived: bool) -> Rule:
    """
    A rule without a replacement: a pattern, now and then with conditions; none about what took no part.

    The loader may refuse it for another reason.
    """
    while True:
        made = _random_rule(choose, module, derived=derived)
        try:
            compile_rule(made)
        except RuleError as error:
            if "which is not matched" in str(error):
                continue
        return made


def _random_rule(choose: random.Random, module: ModuleOp, *, derived: bool) -> Rule:
    if derived:
        generaliser = Generaliser(choose, mistakes=choose.choice((0.0, 0.02, 0.1)))
        results = [value for value in values_of(module) if isinstance(value, OpResult)]
        value, depth = choose.choice(results), choose.randrange(1, 5)
        pattern = generaliser.together(value, depth) if choose.random() < 0.1 else generaliser.of(value, depth)
    else:
        pattern = random_pattern(choose, choose.randrange(1, 5), [])
    whole = {part.key for part in all_below(pattern) if isinstance(part, If | Call)}  # ops, not values
    keys = sorted(set(sure_keys(pattern)) - whole)
    conditions: list[Require] = []
    if keys and choose.random() < 0.25:
        name = choose.choice(("single-use", "not-same", "same-type", "only-used-by", "block-argument"))
        count = 1 if name in ("single-use", "block-argument") else 2
        given = Require(name, tuple(choose.choice(keys) for _ in range(count)))
        conditions.append(given if choose.random() < 0.7 else negated(given))
    if keys and choose.random() < 0.3:
        conditions.append(random_comparison(choose, pattern, keys))
    return Rule("random", pattern, (), tuple(conditions), injective=choose.random() < 0.1)
