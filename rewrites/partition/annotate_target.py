"""The pass `annotate-target`."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import PassFailedException

from ...core.codegens import COMPILER
from ...core.messages.diagnostics import emit_remark
from ...core.passes.base import StepwellPass
from ...core.roles import COMPOSITE, PREPARE, TARGET
from ...dialects.traits import constant_kind, may_fail
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import functions_of, is_primitive
from ...patterns.language.match import Session
from ...patterns.running.driver import program_order
from .pattern_tables import DEFAULT, CodeGenerator, composite_name, text_attribute


@dataclass(frozen=True)
class AnnotateTargetPass(StepwellPass):
    """
    Marks each op with the first target of a list that supports it.

    A target says what it supports by predicates registered in Python (`rewrites.supported`), per op name. It may also
    do so by the pattern table of its name, of which only patterns of one op count here. Calls of composite functions
    (`merge-composite`) are looked up by the name of their pattern. Ops that no target takes, and those of targets after
    `default` in the list, have no mark and are Stepwell's own. An existing mark stays, so a second run with other
    targets adds to it. Constants and weights are never marked, nor ops that may fail or have effects, nor fused
    functions. Remarks repeat the reasons of predicates.

    Before:
        %0 = graph.relu %x : …
        %1 = graph.tanh %0 : …
    After (`targets=dsp`, which supports relu):
        %0 = graph.relu %x {graph.target = "dsp"} : …
        %1 = graph.tanh %0 : …

    Raises `PassFailedException` for a target that nobody registered.
    """

    name = "annotate-target"

    targets: tuple[str, ...]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.targets:
            raise PassFailedException(f"{self.name}: targets is empty, expected at least one name")
        session = Session(ctx, op)
        names = list(dict.fromkeys(self.targets))
        if DEFAULT in names:
            names = names[: names.index(DEFAULT)]
        targets = [CodeGenerator(name, ctx, session) for name in names]
        functions = {each.sym_name.data: each for each in functions_of(op)}
        for each in open_functions(op):
            for inner in program_order(each):
                if TARGET not in inner.attributes and can_be_external(inner, session):
                    self._annotate(inner, targets, composite_name(inner, functions))

    def _annotate(self, op: Operation, targets: list[CodeGenerator], composite: str | None) -> None:
        if isinstance(op, func.CallOp) and composite is None:
            return
        for target in targets:
            verdict = target.supports(op, composite)
            if isinstance(verdict, str):
                emit_remark(op, f"not for target '{target.name}': {verdict}")
            elif verdict:
                op.attributes[TARGET] = target.attribute()
                self.count(f"ops for {target.name}")
                return


def open_functions(module: ModuleOp) -> Iterator[func.FuncOp]:
    """Returns the functions that may be taken apart: no fused groups, composites, or functions of a code generator."""
    for function in functions_of(module):
        closed = is_primitive(function) or COMPOSITE in function.attributes or PREPARE in function.attributes
        if not closed and text_attribute(function, COMPILER) is None:
            yield function


def can_be_external(op: Operation, session: Session) -> bool:
    """Returns whether external code could compute `op`: tensors in and out, no effect, no failure to report."""
    return (
        bool(op.results)
        and not op.regions
        and not op.has_trait(IsTerminator)
        and constant_kind(op) is None
        and all(isinstance(value.type, TensorType) for value in (*op.operands, *op.results))
        and session.purity.is_pure(op)
        and not may_fail(op)
    )
