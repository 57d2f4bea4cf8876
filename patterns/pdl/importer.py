"""Reads rules from `pdl.pattern` ops. They are translated into the pattern language and run by the same engine."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from ...core.messages.diagnostics import OperationError
from ...core.roles import DOC, EFFECTS
from ..language.rules import Numerics, Rule, numerics_of
from . import conditions as conditions  # registers the conditions

DEFAULT_NUMERICS: Numerics = "rounding"
"""The class of rules in PDL, which says nothing about numerics. Most of them relate equal real functions."""


def rules_of_pdl(module: ModuleOp, ctx: Context) -> list[tuple[Operation, Rule]]:
    """
    Returns the rules of the `pdl.pattern`s of `module` and of modules inside, each with its op, highest benefit first.

    A pattern without a name is called `pdl-pattern-N`, counted from 0. Raises `OperationError` at an op that the engine
    cannot carry out.
    """
    patterns = _patterns_of(module)
    if not patterns:
        return []
    found = [(op, _rule_of(op, number, ctx)) for number, op in enumerate(patterns)]
    return sorted(found, key=lambda each: -_benefit(each[0]))


def _patterns_of(module: ModuleOp) -> list[Operation]:
    """Returns the patterns in the order of the text. `walk` would look into the patterns too."""
    found: list[Operation] = []
    for op in module.body.ops:
        if op.name == "pdl.pattern":
            found.append(op)
        elif isinstance(op, ModuleOp):
            found += _patterns_of(op)
    return found


def _benefit(op: Operation) -> int:
    from xdsl.dialects import pdl

    assert isinstance(op, pdl.PatternOp)
    return op.benefit.value.data


def _rule_of(op: Operation, number: int, ctx: Context) -> Rule:
    from xdsl.dialects import pdl

    from .native import read_native_constraints
    from .pattern import PatternReader
    from .rewrite import RewriteReader

    assert isinstance(op, pdl.PatternOp)
    name = f"pdl-pattern-{number}" if op.sym_name is None else op.sym_name.data
    if op.benefit.value.data < 0:
        raise OperationError(op, f"benefit is {op.benefit.value.data}, expected a number from 0 on")
    reader = PatternReader(op, ctx)
    reader.read()
    read_native_constraints(reader)
    rewrite = RewriteReader(reader)
    function = rewrite.read()
    doc = reader.rewrite.attributes.get(DOC)
    return Rule(
        name,
        reader.lhs,
        (),
        tuple(reader.conditions),
        numerics=_numerics(reader.rewrite),
        doc=doc.data if isinstance(doc, StringAttr) else "",
        callback=function,
        also=rewrite.also,
        effects=_has_effects(reader.rewrite),
    )


def _numerics(rewrite: Operation) -> Numerics:
    op: Operation | None = rewrite
    while op is not None:
        if (found := numerics_of(op)) is not None:
            return found
        op = op.parent_op()
    return DEFAULT_NUMERICS


def _has_effects(rewrite: Operation) -> bool:
    """Returns whether the rewrite, its pattern or a module around them has the attribute that allows effects."""
    op: Operation | None = rewrite
    while op is not None and EFFECTS not in op.attributes:
        op = op.parent_op()
    return op is not None


__all__ = ["DEFAULT_NUMERICS", "rules_of_pdl"]
