"""
Steps that only rules of two functions have: calls of functions that come with the rule, and constants of any element
type.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.traits import IsTerminator

from ...core.messages.diagnostics import OperationError
from ...core.text.parsing import parse_text
from ...dialects.graph.constants import FullOp
from ...lazy_dataclass import dataclass
from ..language.constants import element_type, is_float_type
from ..language.equivalence import BlockOrder
from ..language.functions import enclosing_module, symbol_name
from ..language.match import Index, Match, Session, as_value
from ..language.registry import condition
from ..pdl.steps import Source, as_list


class AddedFunctions(Index):
    """The functions that rules added to modules, by their text, so that a second use calls the same function."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._names: dict[tuple[ModuleOp, str], str] = {}

    def name_in(self, match: Match, name: str, text: str) -> str:
        """Returns the name of the function in the module of the match, and adds the function when it is not there."""
        module = enclosing_module(match.root)
        known = self._names.get((module, text))
        there = {symbol_name(op): op for op in (*module.body.ops, *match.new_functions)}
        if known is not None and known in there:
            return known
        (function,) = parse_text(match.session.ctx, text, name).body.ops
        function.detach()
        chosen = self._chosen(function, name, there)
        if chosen not in there:
            function.properties["sym_name"] = StringAttr(chosen)
            for op in function.walk():
                op.location = match.root.location
            match.new_functions.append(function)
        self._names[module, text] = chosen
        return chosen

    @staticmethod
    def _chosen(function: Operation, name: str, there: dict[str | None, Operation]) -> str:
        """Returns the first of `name`, `name_1`, … that is free or names an equal function."""
        number = 0
        while True:
            chosen = name if number == 0 else f"{name}_{number}"
            function.properties["sym_name"] = StringAttr(chosen)
            if chosen not in there or function.is_structurally_equivalent(there[chosen]):
                return chosen
            number += 1


@dataclass(frozen=True)
class CallFunction:
    """
    Calls the private function whose text is `text`. It is added to the module of the root under a free name like
    `name`.
    """

    key: str
    name: str
    text: str
    operands: tuple[Source, ...]
    types: tuple[Attribute, ...]

    def run(self, match: Match) -> bool:
        """Makes the call. Returns true, since it never declines."""
        operands = [value for source in self.operands for value in as_list(source.get(match))]
        name = match.session.index(AddedFunctions).name_in(match, self.name, self.text)
        match.bound[self.key] = match.add(func.CallOp(name, operands, self.types))
        return True


@dataclass(frozen=True)
class Fill:
    """Makes a `graph.full` of `number` with the shape of `type` and the element type of the value bound to `like`."""

    key: str
    number: float
    type: Attribute
    like: str

    def run(self, match: Match) -> bool:
        """Makes the constant. Returns true, since it never declines."""
        assert isinstance(self.type, TensorType)
        dtype = element_type(as_value(match.bound[self.like]).type)
        number = float(self.number) if is_float_type(dtype) else int(self.number)
        if number != self.number:
            message = f"rule '{match.rule.name}' makes a constant {self.number}, which {dtype} does not have"
            raise OperationError(match.root, message)
        filled = FullOp(number, TensorType(dtype, self.type.get_shape()))
        match.bound[self.key] = match.add(filled)
        return True


@condition("no-effect-between", protects="structure")
def no_effect_between(match: Match, first: Operation, *others: Operation) -> bool:
    """
    The ops are in one block, those below the roots are pure, and no op with an effect stands between any two of them.
    """
    ops = (first, *others)
    block = first.parent
    if block is None or any(op.parent is not block for op in ops):
        return False
    purity = match.session.purity
    if not all(purity.is_pure(op) for op in ops if op not in match.roots):
        return False
    begin, *rest = match.session.index(BlockOrder).ordered(list(dict.fromkeys(ops)))
    left = set(rest)
    op = begin.next_op
    while op is not None and left:
        if op in left:
            left.discard(op)
        elif not purity.is_pure(op) and not _is_harmless(op, match):
            return False
        op = op.next_op
    return True


def _is_harmless(op: Operation, match: Match) -> bool:
    """Returns whether an op has regions (a branch, a loop) all of whose ops are pure."""
    return bool(op.regions) and all(
        each.has_trait(IsTerminator) or bool(each.regions) or match.session.purity.is_pure(each) for each in op.walk()
    )


__all__ = ["AddedFunctions", "CallFunction", "Fill", "no_effect_between"]
