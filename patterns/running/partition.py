"""Partitioning: every match of a pattern becomes a private function and a call of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...core.messages.diagnostics import emit_remark, emit_warning
from ...core.messages.origins import fuse
from ...core.roles import PARTITIONED
from ...dialects.traits import may_fail
from ..language.constants import is_constant_op
from ..language.equivalence import BlockOrder
from ..language.functions import NameSupply, enclosing_module, is_closed, outlined
from ..language.match import Match, Session
from ..language.patterns import Pattern
from ..language.rules import Rule
from ..language.structures import Function
from ..matching.compiled_rule import CompiledRule, compile_rule
from ..matching.effects import op_with_effect_between
from ..matching.groups import Outside, covered_ops, input_values
from ..matching.several_roots import place_between
from .driver import is_dead, program_order, remark_text
from .matching import pattern_rule

Check = Callable[[Match], bool | str]
"""A test of a match. `True` takes it, and `False` or a reason leaves it alone. The reason becomes a remark."""


def partition(
    pattern: Pattern | tuple[Pattern, ...] | Rule,
    function: func.FuncOp,
    attributes: Mapping[str, Attribute | str] | None = None,
    check: Check | None = None,
    *,
    ctx: Context | None = None,
    name: str = "partitioned",
    duplicate: bool = True,
) -> list[func.FuncOp]:
    """
    Moves every match in `function` into a private function of its own, and returns those functions.

    Before:
        %0 = graph.conv2d %x, %w … ; %1 = graph.relu %0 …
    After:
        %1 = func.call @partitioned0(%x, %w)
        func.func private @partitioned0(…) attributes {graph.partitioned_from = "conv2d_relu_"}

    The last roots are tried first, so an outer match wins over one inside it. A match is left alone, with a remark,
    when it shares an op with an earlier one, spans blocks or has an effect. So it is when an op in it is used outside.
    In a rule with `effects`, ops with effects join where their order with other effects stays.
    If all such uses lead back into the match, that op is computed twice instead, unless `duplicate` is off. Values
    matched by `pattern.any` become parameters in the order of the pattern, each once. Constants that the pattern names
    are copied. A tuple of patterns is a match of several roots, whose function returns the results of all. The new
    functions get `attributes`. Closed functions, such as those made by partitioning or fusion, are skipped.
    """
    rule = pattern if isinstance(pattern, Rule) else pattern_rule(pattern)
    partitioner = Partitioner(rule, enclosing_module(function), attributes, ctx=ctx, name=name)
    return partitioner.run(function, check, duplicate=duplicate)


class Partitioner:
    """Partitions functions of one module by one rule. See `partition`."""

    def __init__(
        self,
        rule: Rule,
        module: ModuleOp,
        attributes: Mapping[str, Attribute | str] | None = None,
        *,
        ctx: Context | None = None,
        name: str = "partitioned",
    ):
        given = attributes or {}
        self._attributes = {
            **dict(rule.group or ()),
            **{key: StringAttr(value) if isinstance(value, str) else value for key, value in given.items()},
        }
        self._compiled: CompiledRule | None = None
        self._rule, self._ctx, self._module, self._name = rule, ctx, module, name
        self._session = Session(ctx or Context(), module)
        self._names = NameSupply(module)
        self._taken: set[Operation] = set()

    def run(self, function: func.FuncOp, check: Check | None = None, *, duplicate: bool = True) -> list[func.FuncOp]:
        """Moves every match in `function` into a function of its own, and returns these functions."""
        if is_closed(function):
            return []
        if isinstance(self._rule.lhs, Function):
            emit_warning(function, "not partitioned: the pattern is of a function, not of a call of one")
            return []
        if self._compiled is None:
            self._compiled = compile_rule(replace(self._rule, rhs=()), self._ctx)
        made: list[func.FuncOp] = []
        names = self._compiled.names
        for root in reversed(program_order(function)):
            if root in self._taken or (names and root.name not in names) or not root.results:
                continue
            match = self._compiled.match(root, self._session)
            if not match.matched:
                for remark, about in match.remarks:
                    emit_remark(root, remark_text(remark, about))
                continue
            ops = covered_ops(self._compiled.rule.lhs, match)
            outside = Outside(ops, match.roots)
            reason = self._why_not(ops, outside, duplicate) or _refusal(check, match)
            inputs = input_values(self._compiled.rule.lhs, match, ops)
            place = place_between(self._session.index(BlockOrder), match.roots, inputs) if reason is None else None
            if place is not None:
                reason = self._why_not_moved(ops, place)
            if place is None or reason is not None:
                reason = reason or "what it takes comes after a use of what it gives"
                emit_remark(root, f"not partitioned: {reason}")
                continue
            for op in outside.shared:
                emit_remark(root, f"'{op.name}' is computed twice: it is used outside the match too")
            made.append(self._outline(match, ops, inputs, place))
        return made

    def _why_not(self, ops: list[Operation], outside: Outside, duplicate: bool) -> str | None:
        root = ops[-1]
        for op in ops:
            if is_constant_op(op):
                continue
            if op in self._taken:
                return f"'{op.name}' belongs to another match"
            if op.parent is not root.parent:
                return f"'{op.name}' is in another block"
            if op.has_trait(IsTerminator) or (not self._rule.effects and self._has_effect(op)):
                return f"'{op.name}' has an effect"
        escaping = outside.escape()
        if escaping is not None:
            return f"'{escaping.name}' is used outside the match"
        if outside.shared and not duplicate:
            return f"'{outside.shared[0].name}' would be computed twice"
        twice = next((op for op in outside.shared if self._has_effect(op)), None)
        return None if twice is None else f"'{twice.name}' has an effect and would be computed twice"

    def _has_effect(self, op: Operation) -> bool:
        return not self._session.purity.is_harmless(op)

    def _why_not_moved(self, ops: list[Operation], place: Operation) -> str | None:
        """Returns why the call cannot stand at `place`: what may fail or has an effect keeps its side of effects."""
        kept = [op for op in ops if not is_constant_op(op) and (may_fail(op) or self._has_effect(op))]
        if not kept:
            return None
        # The call takes the place of an op of the match, or stands before one that uses a result.
        crossed = op_with_effect_between([*kept, place], self._session, but=ops)
        return None if crossed is None else f"'{crossed.name}', which has an effect, stands in between"

    def _outline(self, match: Match, ops: list[Operation], inputs: list[SSAValue], place: Operation) -> func.FuncOp:
        root, results = match.root, match.replaced
        name = self._names.fresh(self._name)
        if self._rule.effects:
            ops = self._session.index(BlockOrder).ordered(ops)
        function = outlined(name, ops, results, inputs, PARTITIONED)
        del function.attributes[PARTITIONED]
        function.attributes |= self._attributes
        kinds = [op.name.removeprefix("graph.") for op in ops if not is_constant_op(op)]
        function.attributes[PARTITIONED] = StringAttr("".join(f"{kind}_" for kind in kinds))
        self._module.body.block.add_op(function)
        self._session.purity.add(name, function)
        call = func.CallOp(name, inputs, [result.type for result in results])
        call.location = fuse(op.location for op in ops)
        block = root.parent
        assert block is not None
        block.insert_op_before(call, place)
        self._session.inserted(call)
        for old, new in zip(results, call.results, strict=True):
            new.name_hint = old.name_hint
        self._session.replace_uses(results, call.results)
        self._taken.add(call)
        roots = match.roots
        for op in reversed(ops):
            self._taken.update(op.walk())
            if op in roots or self._has_effect(op) or is_dead(op, self._session.purity):
                for inner in op.walk():
                    self._session.unlinked(inner)
                op.detach()
                op.erase()
        return function


def _refusal(check: Check | None, match: Match) -> str | None:
    verdict = True if check is None else check(match)
    if isinstance(verdict, str):
        return verdict
    return None if verdict else "the check refuses it"


__all__ = ["PARTITIONED", "Check", "Partitioner", "partition"]
