"""Reads rules from the pattern dialect into the objects of `language/`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...core.ir.verification import verify_module
from ...core.messages.collector import patient_collector
from ...core.messages.diagnostics import OperationError, StepwellError
from ...core.text.parsing import make_context, parse_text, read_source
from ...dialects.pattern import combinators, constraints, loops
from ...dialects.pattern import ops as dialect
from ..examples.pattern import rules_of_functions
from ..language import conditions as conditions  # registers the conditions
from ..language.combinators import Expression
from ..language.constraints import Literal, Not
from ..language.loops import Loops
from ..language.patterns import Any_, Capture, Constant, Op, Or, Pattern, Rest, Result, Splat, all_below
from ..language.registry import RuleError
from ..language.registry import load_rule_functions as load_rule_functions
from ..language.rules import Bound, Build, Computed, Create, Decide, Replacement, Require, Rule, root_pattern
from ..language.structures import Call, Function, If
from ..matching.compiled_rule import compile_rule
from ..pdl.importer import rules_of_pdl
from .patterns import loops_of, pattern_of

ROOTS = (Op, Constant, Splat, Literal, Call, If, Expression, Loops)
"""The patterns of which one must be in a root. The others match block arguments too."""

ENDS = (dialect.ReplaceOp, dialect.RewriteOp, dialect.PartitionOp, loops.DecideOp)
"""The ops that end a rule, the last one of which several may stand there."""

NO_PATTERNS = (constraints.AttributeOp, constraints.ComputeOp)
"""The ops before the replacement that stand for attributes."""

NAMING = (constraints.ComputeOp, *ENDS, dialect.RequireOp, dialect.CreateOp, dialect.BuildOp, dialect.YieldOp)


def rules_of_file(path: str | Path, ctx: Context | None = None) -> tuple[Rule, ...]:
    """Returns the rules of a file. Raises `StepwellError` when it cannot be read or has a rule that is not valid."""
    return rules_of_text(read_source(path), str(path), ctx)


def rules_of_text(text: str, name: str = "<rules>", ctx: Context | None = None) -> tuple[Rule, ...]:
    """Returns the rules of a text. Raises `StepwellError`, or `VerificationError` where an op is invalid."""
    return tuple(rule for _, rule in placed_rules_of_text(text, name, ctx))


def placed_rules_of_text(text: str, name: str, ctx: Context | None = None) -> tuple[tuple[Operation, Rule], ...]:
    """Returns the rules of a text, each with the op that it was read from. Raises what `rules_of_text` raises."""
    context = make_context() if ctx is None else ctx
    try:
        with patient_collector():
            module = parse_text(context, text, name)
            verify_module(module, sources={name: text})
            return _placed_rules(module, context)
    except OperationError as error:
        raise StepwellError(error.diagnostic, {name: text}) from error


def rules_of_valid_text(text: str, name: str) -> tuple[Rule, ...]:
    """Returns the rules of a text that is known to be valid, as those of shipped files are."""
    context = make_context()
    return tuple(rule for _, rule in _written_rules(parse_text(context, text, name), context, {}))


def rules_of_module(module: ModuleOp, ctx: Context) -> tuple[Rule, ...]:
    """Returns the rules of a module. Raises `OperationError` at the rule or op that is not valid."""
    return tuple(rule for _, rule in _placed_rules(module, ctx))


def _placed_rules(module: ModuleOp, ctx: Context) -> tuple[tuple[Operation, Rule], ...]:
    found: dict[str, tuple[Operation, Rule]] = {}
    places: dict[int, Operation] = {}
    for op, rule in _written_rules(module, ctx, places):
        if rule.name in found:
            raise OperationError(op, f"there are two rules called '{rule.name}'")
        try:
            compile_rule(rule, ctx)
        except RuleError as error:
            place = places.get(id(error.at)) or op
            raise OperationError(place, error.message, hint=error.hint) from error
        found[rule.name] = (op, rule)
    return tuple(found.values())


def _written_rules(module: ModuleOp, ctx: Context, places: dict[int, Operation]) -> list[tuple[Operation, Rule]]:
    """Returns the rules of a module with their ops. It adds the op that each part was made from to `places`."""
    load_rule_functions()
    written = [(op, _RuleReader(op, places).read()) for op in dialect.rules_of(module)]
    return [*written, *rules_of_functions(module), *rules_of_pdl(module, ctx)]


def _names(op: dialect.OpOp | dialect.CreateOp) -> tuple[str, ...]:
    return tuple(name.strip() for name in op.target.data.split("|"))


class _RuleReader:
    """Reads one `pattern.rule`. It adds the op that each part of the rule was made from to `places`."""

    def __init__(self, op: dialect.RuleOp, places: dict[int, Operation]):
        self._op = op
        self._places = places
        self._patterns: dict[SSAValue, Pattern] = {}
        self._keys: dict[SSAValue, str] = {}
        self._captures: dict[SSAValue, list[tuple[str, Capture]]] = {}

    def read(self) -> Rule:
        op = self._op
        self._find_captures()
        conditions: list[Require] = []
        decisions: list[Decide] = []
        last = op.body.block.last_op
        assert isinstance(last, ENDS)
        for part in op.body.block.ops:
            if isinstance(part, dialect.RequireOp):
                remark = None if part.remark is None else part.remark.data
                keys = tuple(self._key(value) for value in part.arguments)
                conditions.append(Require(part.target.data, keys, tuple(part.parameter_values.items()), remark))
                self._places[id(conditions[-1])] = part
            elif part.results and not isinstance(part, NO_PATTERNS):
                made = self._patterns[part.results[0]] = self._pattern(part)
                self._places[id(made)] = part
            elif isinstance(part, loops.DecideOp) and isinstance(last, loops.DecideOp):
                decisions.append(self._decision(part))
            elif isinstance(part, ENDS) and part is not last:
                raise OperationError(part, f"a rule ends once, but '{last.name}' comes after this")
        roots = self._roots(last)
        root, also = root_pattern(tuple(self._patterns[each] for each in roots))
        if isinstance(root, Loops) != bool(decisions):
            kind = "a rule about loops ends in 'pattern.decide', and no other does"
            raise OperationError(last, kind)
        if not any(isinstance(part, ROOTS) for part in all_below(root)) or isinstance(root, Function | Not):
            message = "the root of a rule must be a 'pattern.op' or another pattern of what an op computes"
            raise OperationError(_place_of(roots[0], last), message)
        free = self._free(root, conditions)
        self._check_reached(roots, free)
        return Rule(
            name=op.rule_name.data,
            lhs=root,
            rhs=self._replacement_of(last),
            when=tuple(conditions),
            free=free,
            numerics=op.numerics.data,  # pyright: ignore[reportArgumentType]
            doc="" if op.doc is None else op.doc.data,
            group=_group_of(last),
            also=also,
            injective=op.injective is not None,
            effects=op.effects is not None,
            decisions=tuple(decisions),
        )

    def _roots(self, last: Operation) -> tuple[SSAValue, ...]:
        """Returns the values of the roots of a rule that ends in `last`."""
        if isinstance(last, loops.DecideOp):
            inside = {value for each in self._patterns for value in _parts(each)}
            found = [
                value for value in self._patterns if isinstance(value.owner, loops.LoopsOp) and value not in inside
            ]
            if len(found) != 1:
                message = (
                    f"a rule that decides is about one block, nest or kernel that holds all else, found {len(found)}"
                )
                raise OperationError(last, message)
            return tuple(found)
        assert isinstance(last, dialect.ReplaceOp | dialect.RewriteOp | dialect.PartitionOp)
        return (last.root, *(() if isinstance(last, dialect.ReplaceOp) else last.others))

    def _decision(self, op: loops.DecideOp) -> Decide:
        given = () if op.parameters is None else tuple(op.parameters.data.items())
        found = Decide(self._key(op.target), (*given, *self._captured(op)), op.because.data)
        self._places[id(found)] = op
        return found

    def _key(self, value: SSAValue) -> str:
        if value not in self._keys:
            self._keys[value] = f"{value.name_hint or ''}.{len(self._keys)}"
        return self._keys[value]

    def _find_captures(self) -> None:
        """
        Gives each op the attributes that `pattern.attribute` asks of it, since an attribute is captured while its op is
        matched.
        """
        for op in self._op.body.block.ops:
            if isinstance(op, constraints.AttributeOp):
                if not isinstance(op.op.owner, dialect.OpOp | dialect.AnyOperationOp | loops.LoopsOp):
                    message = "only a 'pattern.op', 'pattern.any_op' or a pattern of loops has attributes"
                    raise OperationError(op, message)
                capture = (op.attribute_name.data, Capture(self._key(op.result)))
                self._captures.setdefault(op.op, []).append(capture)

    def _pattern(self, op: Operation) -> Pattern:
        key = self._key(op.results[0])
        captures = tuple(self._captures.get(op.results[0], ()))
        match op:
            case dialect.AnyOp():
                return Any_(key)
            case dialect.AnyOperationOp():
                return Op((), attributes=captures, key=key)
            case dialect.ConstantOp():
                return Constant(key)
            case dialect.SplatOp():
                return Splat(op.number.value.data, key)
            case dialect.RestOp():
                return Rest(key, None if op.each is None else self._patterns[op.each])
            case dialect.OrOp():
                return Or(self._operands(op.alternatives), key)
            case dialect.ResultOp():
                inner = self._patterns[op.op]
                if not isinstance(inner, Op | Call | If):
                    raise OperationError(op, "only a 'pattern.op', 'pattern.call' or 'pattern.if' has results")
                return Result(inner, None if op.index is None else op.index.value.data, key)
            case dialect.OpOp():
                attributes = (*op.parameter_values.items(), *captures)
                return Op(_names(op), self._operands(op.arguments), attributes, key, op.unordered is not None)
            case _:
                return self._other_pattern(op, key)

    def _other_pattern(self, op: Operation, key: str) -> Pattern:
        try:
            if isinstance(op, loops.LoopsOp):
                return loops_of(op, key, self._operands(op.operands), tuple(self._captures.get(op.results[0], ())))
            found = pattern_of(op, key, self._operands(op.operands))
        except RuleError as error:
            raise OperationError(op, error.message, hint=error.hint) from error
        if found is None:
            raise OperationError(op, "this op has no place before the replacement of a rule")
        return found

    def _operands(self, values: Sequence[SSAValue]) -> tuple[Pattern, ...]:
        return tuple(self._patterns[value] for value in values)

    def _captured(self, op: dialect.CreateOp | loops.DecideOp) -> Iterator[tuple[str, Capture | Computed]]:
        names = () if op.captured_names is None else op.captured_names.data
        for name, value in zip(names, op.captured, strict=True):
            assert isinstance(name, StringAttr)
            match value.owner:
                case constraints.AttributeOp():
                    yield name.data, Capture(self._key(value))
                case constraints.ComputeOp() as made:
                    yield name.data, Computed(made.formula.data, tuple(self._key(each) for each in made.arguments))
                case _:
                    message = "what follows 'set' must come from 'pattern.attribute' or 'pattern.compute'"
                    raise OperationError(op, message)

    def _free(self, root: Pattern, conditions: Sequence[Require]) -> tuple[Op, ...]:
        """Returns the ops that conditions name and that are not below the root."""
        reached = {id(pattern) for pattern in all_below(root)}
        named = {key for required in conditions for key in required.keys}
        return tuple(
            pattern
            for pattern in self._patterns.values()
            if isinstance(pattern, Op) and id(pattern) not in reached and pattern.key in named
        )

    def _check_reached(self, roots: Sequence[SSAValue], free: Sequence[Op]) -> None:
        """Refuses what the matcher would never look at: ops and tests that no root is computed from."""
        found = {id(op) for op in free}
        reached = [*roots, *(value for value, pattern in self._patterns.items() if id(pattern) in found)]
        done: set[SSAValue] = set()
        while reached:
            value = reached.pop()
            if value not in done:
                done.add(value)
                reached.extend(value.owner.operands if isinstance(value.owner, Operation) else ())
        for op in self._op.body.block.ops:
            if isinstance(op, constraints.ComputeOp):
                if op.result.first_use is None:
                    raise OperationError(op, "nothing takes this attribute, so it would never be computed")
                continue
            value = op.op if isinstance(op, constraints.AttributeOp) else op.results[0] if op.results else None
            if value is not None and value not in done and not _is_named_at_the_end(value):
                raise OperationError(
                    op,
                    f"rule '{self._op.rule_name.data}': the root does not reach this, so it would never be tested",
                    hint="use its result below the root; pattern.require tests a value that is used there already",
                )
            if isinstance(op, combinators.ExpressionOp):
                _check_used(op.body.block, "the expression does not depend on this op")

    def _replacement_of(
        self, last: dialect.ReplaceOp | dialect.RewriteOp | dialect.PartitionOp | loops.DecideOp
    ) -> tuple[Replacement, ...]:
        if isinstance(last, dialect.PartitionOp | loops.DecideOp):
            return ()
        if isinstance(last, dialect.ReplaceOp):
            kept = Bound(self._key(last.replacement))
            self._places[id(kept)] = last
            return (kept,)
        made: dict[SSAValue, Create | Build] = {}
        _check_used(last.body.block, "nothing that is yielded depends on this, so it would never be made")
        for op in last.body.block.ops:
            match op:
                case dialect.CreateOp():
                    operands = tuple(made.get(value) or Bound(self._key(value)) for value in op.arguments)
                    attributes = (*op.parameter_values.items(), *self._captured(op))
                    made[op.result] = Create(op.target.data, operands, attributes, key=self._key(op.result))
                    self._places[id(made[op.result])] = op
                case dialect.BuildOp():
                    keys = tuple(self._key(value) for value in op.arguments)
                    new = tuple(made[value] for value in dict.fromkeys(op.arguments) if value in made)
                    parameters = tuple(op.parameter_values.items())
                    made[op.result] = Build(op.target.data, keys, parameters, self._key(op.result), new)
                    self._places[id(made[op.result])] = op
                case dialect.YieldOp():
                    yielded = tuple(made.get(value) or Bound(self._key(value)) for value in op.arguments)
                    self._places |= {id(each): op for each in yielded if isinstance(each, Bound)}
                    return yielded
                case _:
                    raise OperationError(op, "only 'pattern.create', 'pattern.build' and 'pattern.yield' belong here")
        raise OperationError(last, "the replacement does not end in 'pattern.yield'")


def _place_of(value: SSAValue, otherwise: Operation) -> Operation:
    """Returns the op that a value comes from."""
    return value.owner if isinstance(value.owner, Operation) else otherwise


def _parts(value: SSAValue) -> tuple[SSAValue, ...]:
    """Returns what a pattern of loops holds."""
    return tuple(value.owner.operands) if isinstance(value.owner, loops.LoopsOp) else ()


def _is_named_at_the_end(value: SSAValue) -> bool:
    """Returns whether a condition or the replacement names a value. That is an error of its own where it is unbound."""
    return any(isinstance(use.operation, NAMING) for use in value.uses)


def _check_used(block: Block, message: str) -> None:
    for op in block.ops:
        if op.results and all(result.first_use is None for result in op.results):
            raise OperationError(op, message)


def _group_of(last: Operation) -> tuple[tuple[str, Attribute], ...] | None:
    if not isinstance(last, dialect.PartitionOp):
        return None
    return () if last.wanted is None else tuple(last.wanted.data.items())
