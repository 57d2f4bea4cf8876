"""
Verification of a module in one walk: xDSL's checks of every op, and SSA dominance, which xDSL does not check.

The walk keeps the set of values that may be used at the point it is at. Blocks are entered in pre-order of the
dominator tree of their region, so on the way down the set holds exactly what dominates; it shrinks on the way up.
Nothing recurses: neither length nor depth of a program is limited here. About 1 µs per op on top of xDSL's checks.

An op whose verifier looks at nothing but itself may say what it depends on by `verification_key()`, which is then
checked once per walk: identical layers of a net cost little more than one. None stands for an op that is to be checked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cache
from typing import Final, NoReturn

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.interfaces import ConditionallySpeculatableInterface
from xdsl.ir import Block, ErasedSSAValue, Operation, OpResult, Region, SSAValue
from xdsl.irdl import IRDLOperation, OpDef, traits_def
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.traits import IsTerminator, NoTerminator, OpTrait
from xdsl.utils.exceptions import VerifyException

from ...lazy_dataclass import dataclass
from ..messages.diagnostics import Diagnostic, Sendable, about, attach_source_line, render
from ..messages.locations import nearest_source_point
from ..plugins import maker_of, registry
from .attribute_names import wrong_attribute
from .dominance import DominatorTree
from .extra_checks import OP_CHECK, Finding, missed_by_verifier
from .symbols import lookup_symbol

GRAPH_REGION_OPS: Final = frozenset({"hw.module", "pdl.pattern", "irdl.dialect", "irdl.operation"})
"""Ops whose regions have no order: a value may be used before the op that defines it."""


Notes = tuple[tuple[Operation, str], ...]
"""Other ops that a message points at, with what it says about each."""


class VerificationError(Sendable, VerifyException):
    """
    The error of invalid IR. `op` is the offending op, which another process is not sent, and `diagnostic` the message
    with its place.
    """

    def __init__(
        self,
        op: Operation,
        message: str,
        sources: Mapping[str, str] | None = None,
        *,
        hint: str | None = None,
        notes: Notes = (),
    ):
        super().__init__(message)
        self.op = op
        places = tuple(Diagnostic(text, "note", nearest_source_point(other)) for other, text in notes)
        diagnostic = Diagnostic(about(op, message), point=nearest_source_point(op), hint=hint, notes=places)
        self.diagnostic = attach_source_line(diagnostic, sources)

    def __str__(self) -> str:
        return render(self.diagnostic)


@dataclass(slots=True)
class _OpenBlock:
    """A block that is being walked, or (`ops` is `None`) waits for those above it on the stack."""

    block: Block
    tree: DominatorTree | None
    """The dominator tree of the region; `None` when the region has only this block."""
    unordered: bool = False
    """All values of the region may be used anywhere: a graph region, or code that never runs."""
    ops: Iterator[Operation] | None = None
    values: list[int] = field(default_factory=list)
    """Identities of the values added to the visible ones; removed when the block and those it dominates are left."""
    children: Iterator[Block] = iter(())
    pending: Operation | None = None
    """The op whose regions are being walked."""


def verify_module(module: Operation, *, sources: Mapping[str, str] | None = None) -> None:
    """
    Raises `VerificationError` for the first op (in the order of the walk) that is not valid.

    `sources` gives the text of files by name for the source line of the message.
    """
    _Verifier(sources).run(module)


class _Verifier:
    def __init__(self, sources: Mapping[str, str] | None):
        self.sources = sources
        self.visible: set[int] = set()
        self.stack: list[_OpenBlock] = []
        self.keys: dict[type[Operation], Callable[[Operation], Hashable | None] | None] = {}
        """`verification_key` of the classes met so far."""
        self.verified: set[tuple[type[Operation], Hashable]] = set()
        """Keys may hold identities of attributes: nothing is freed while a module is walked."""

    def run(self, root: Operation) -> None:
        self._check_structure(root)
        self._push_regions(root)
        while self.stack:
            block = self.stack[-1]
            if block.ops is None:
                self._enter(block)
            if block.pending is not None:
                self._leave_op(block, block.pending)
                block.pending = None
            if not self._walk_ops(block):
                continue
            child = next(block.children, None)
            if child is not None:
                self.stack.append(_OpenBlock(child, block.tree))
                continue
            self.visible.difference_update(block.values)
            self.stack.pop()
        self._check_meaning(root)

    def _walk_ops(self, block: _OpenBlock) -> bool:
        """Goes on with the ops of `block`; false when it stopped at one to walk its regions first."""
        visible = self.visible
        assert block.ops is not None
        for op in block.ops:
            for operand in op.operands:
                if id(operand) not in visible:
                    self._fail(op, invisibility(op, operand))
            self._check_structure(op)
            if op.regions:
                block.pending = op
                self._push_regions(op)
                return False
            self._leave_op(block, op)
        return True

    def _leave_op(self, block: _OpenBlock, op: Operation) -> None:
        self._check_meaning(op)
        self._make_visible(block, op.results)

    def _make_visible(self, block: _OpenBlock, values: Iterable[SSAValue]) -> None:
        for value in values:
            identity = id(value)
            if identity not in self.visible:
                self.visible.add(identity)
                block.values.append(identity)

    def _push_regions(self, op: Operation) -> None:
        # What is pushed last is walked first.
        for region in reversed(op.regions):
            first = region.first_block
            if first is None:
                continue
            if first.next_block is None:
                self.stack.append(_OpenBlock(first, None, unordered=_may_be_a_graph(op)))
                continue
            tree = DominatorTree(region)
            for block in reversed(tree.unreachable):
                self.stack.append(_OpenBlock(block, None, unordered=True))
            self.stack.append(_OpenBlock(first, tree))

    def _enter(self, block: _OpenBlock) -> None:
        self._check_block(block.block)
        block.ops = iter(block.block.ops)
        self._make_visible(block, block.block.args)
        if block.tree is not None:
            block.children = iter(block.tree.children(block.block))
        region = block.block.parent
        if block.unordered and region is not None:
            for other in region.blocks:
                self._make_visible(block, other.args)
                for op in other.ops:
                    self._make_visible(block, op.results)

    # Checks of one op

    def _check_block(self, block: Block) -> None:
        region = block.parent
        parent = None if region is None else region.parent
        if region is None or parent is None or block.first_op is not None:
            return
        if block.next_block is not None or region.first_block is not block:
            self._fail(parent, "a block of the op is empty, expected at least a terminator")
        if not parent.has_trait(NoTerminator):
            self._fail(parent, "the region is empty, expected at least a terminator")

    def _check_structure(self, op: Operation) -> None:
        block = op.parent
        region = None if block is None else block.parent
        if op.successors:
            self._check_successors(op, block, region)
        if block is None or region is None or block.last_op is not op:
            return
        parent = region.parent
        single_block = block.next_block is None and region.first_block is block
        if single_block and (parent is None or parent.has_trait(NoTerminator)):
            return
        if not op.has_trait(IsTerminator):
            self._fail(op, "the op is last in its block but is not a terminator")

    def _check_successors(self, op: Operation, block: Block | None, region: Region | None) -> None:
        if block is None or block.last_op is not op:
            self._fail(op, "an op with successors must be the last of its block")
        for successor in op.successors:
            if successor.parent is not region:
                self._fail(op, "the op branches to a block of another region")
            if region is not None and successor is region.first_block:
                self._fail(op, "the op branches to the entry block of its region")

    def _check_meaning(self, op: Operation) -> None:
        kind = op.__class__
        if op.attributes and isinstance(op, IRDLOperation):  # first: other errors may follow from an ignored property
            self._check_attributes(op)
        if kind not in self.keys:
            self.keys[kind] = _key_function(kind)
        key_of = self.keys[kind]
        key = None if key_of is None or op.regions or op.successors else key_of(op)
        if key is None or (kind, key) not in self.verified:
            self._check_by_verifier(op)
            if key is not None:
                self.verified.add((kind, key))

    def _check_by_verifier(self, op: Operation) -> None:
        try:
            if op.name in _CALLEES and isinstance(op, IRDLOperation) and _callee_fits(op):
                _without_traits(type(op)).verify(op)
            else:
                op.verify_()
        except VerifyException as error:
            self._fail(*_sharper(op, str(error)), error)
        except RecursionError as error:
            self._fail(op, "the op is nested too deeply", error)
        except Exception as error:
            # Some verifiers of xDSL raise bare exceptions (KeyError for a missing property, Exception, …).
            message = str(error) or type(error).__name__
            if (maker := maker_of(type(op).__module__)) is not None:
                message = f"the verifier of {maker} failed: {type(error).__name__}: {message}"
            self._fail(op, message, error)
        missed = self._missed(op)
        if missed is not None:
            self._fail(missed.op, missed.message, hint=missed.hint, notes=missed.notes)

    def _missed(self, op: Operation) -> Finding | None:
        try:
            return missed_by_verifier(op)
        except Exception as error:
            maker = maker_of(registry().root.get((OP_CHECK, op.name), "stepwell"))
            if maker is None:
                raise
            message = f"the check of {maker} failed: {type(error).__name__}: {error or type(error).__name__}"
            self._fail(op, message, error)

    def _check_attributes(self, op: IRDLOperation) -> None:
        """A property written among the attributes would be ignored without a word."""
        wrong = wrong_attribute(type(op), op.attributes, op.properties)
        if wrong is not None:
            self._fail(op, wrong[0], hint=wrong[1])

    # Errors

    def _fail(
        self,
        op: Operation,
        message: str,
        cause: Exception | None = None,
        *,
        hint: str | None = None,
        notes: Notes = (),
    ) -> NoReturn:
        raise VerificationError(op, message, self.sources, hint=hint, notes=notes) from cause


_CHECKS_NOTHING: Final = (
    OpTrait.verify,
    *(type(each).verify for each in ConditionallySpeculatableInterface.traits.traits),
)
"""What traits have for a verifier that asks for nothing."""


def _key_function(kind: type[Operation]) -> Callable[[Operation], Hashable | None] | None:
    """`verification_key` of a class, unless attributes or traits of its definition ask for more."""
    key_of = getattr(kind, "verification_key", None)
    if key_of is None or not issubclass(kind, IRDLOperation):
        return None
    definition = kind.get_irdl_definition()
    plain = not definition.attributes and all(type(each).verify in _CHECKS_NOTHING for each in definition.traits)
    return key_of if plain else None


def depends_on_types(op: Operation) -> bool:
    """Returns whether an op is as valid as all others of its types and properties."""
    key_of = _key_function(type(op))
    return key_of is not None and key_of(op) is not None


class VerifiedOps:
    """Ops that have been verified, by what their verification depends on. Its keys keep what they identify alive."""

    def __init__(self) -> None:
        self._functions: dict[type[Operation], Callable[[Operation], Hashable | None] | None] = {}
        self._known: dict[tuple[type[Operation], Hashable], tuple[object, ...]] = {}

    def __contains__(self, op: object) -> bool:
        assert isinstance(op, Operation)
        return (type(op), self._key(op)) in self._known

    def add(self, op: Operation) -> None:
        """Takes note that `op` is valid."""
        if (key := self._key(op)) is not None:
            types = (*(each.type for each in op.operands), *(each.type for each in op.results))
            held = (*types, *op.properties, *op.properties.values())
            self._known[type(op), key] = held

    def _key(self, op: Operation) -> Hashable | None:
        kind = type(op)
        if kind not in self._functions:
            self._functions[kind] = _key_function(kind)
        key_of = self._functions[kind]
        return None if key_of is None else key_of(op)


_CALLEES: Final = {"func.call": "func.func", "llvm.call": "llvm.func"}
"""What the calls of xDSL call. Their trait scans the module for it, which is quadratic in the calls of a program."""


def _callee_fits(op: IRDLOperation) -> bool:
    """Returns whether all is well between a call and its callee. Otherwise the trait of the call says what is not."""
    name = op.properties.get("callee")
    if not isinstance(name, SymbolRefAttr) or name.nested_references.data:
        return False
    callee = lookup_symbol(op, name.root_reference.data)
    if callee is None or callee.name != _CALLEES[op.name]:
        return False
    if not isinstance(callee, FuncOp):
        return True
    type_ = callee.function_type
    return type_.inputs.data == tuple(op.operand_types) and type_.outputs.data == tuple(op.result_types)


@cache
def _without_traits(kind: type[IRDLOperation]) -> OpDef:
    return replace(kind.get_irdl_definition(), traits=traits_def())


def _may_be_a_graph(op: Operation) -> bool:
    """Whether the regions of `op` have no order, as far as is known."""
    return op.name in GRAPH_REGION_OPS or isinstance(op, UnregisteredOp)


def _sharper(op: Operation, message: str) -> tuple[Operation, str]:
    """The op to blame and the message, where xDSL blames the op around it."""
    if message.startswith("Redefinition of symbol"):
        first: dict[object, Operation] = {}
        for inner in (inner for block in op.regions[0].blocks for inner in block.ops):
            name = inner.get_attr_or_prop("sym_name")
            if isinstance(name, StringAttr) and first.setdefault(name, inner) is not inner:
                return inner, f"symbol @{name.data} is defined twice{_at_line(first[name], ', first')}"
    if message.startswith("Operation using value defined out of its IsolatedFromAbove parent"):
        for inner in op.walk():
            for number, operand in enumerate(inner.operands):
                home = operand.owner if isinstance(operand.owner, Operation) else operand.owner.parent_op()
                if home is not None and home is not op and not op.is_ancestor(home):
                    subject = f"operand {number}" + (f" (%{operand.name_hint})" if operand.name_hint else "")
                    return inner, f"{subject} is defined{_at_line(home)}, outside of the '{op.name}' around the op"
    return op, message


def _at_line(op: Operation, before: str = "") -> str:
    point = nearest_source_point(op)
    return before if point is None else f"{before} at line {point.line}"


def invisibility(op: Operation, operand: SSAValue) -> str:
    """Returns why `op` may not use `operand`. The caller knows that it may not."""
    number = next(index for index, value in enumerate(op.operands) if value is operand)
    subject = f"operand {number}" + (f" (%{operand.name_hint})" if operand.name_hint else "")
    if isinstance(operand, ErasedSSAValue):
        return f"{subject} is a value that has been erased"
    if isinstance(operand, ForwardDeclaredValue):  # its name was defined inside the op, after it was read
        return f"{subject} is not defined before the op"
    definer = operand.op if isinstance(operand, OpResult) else None
    home = operand.owner if isinstance(operand.owner, Block) else operand.owner.parent
    if home is None or home.parent is None:
        return f"{subject} is defined by an op outside of the program"
    point = None if definer is None else nearest_source_point(definer)
    where = "" if point is None else f" at line {point.line}"
    using_block = _block_in_region(op, home.parent)
    if using_block is None:
        return f"{subject} is defined{where} in a region that this op is not in"
    if using_block is home:
        if definer is op or (definer is not None and definer.is_ancestor(op)):
            return f"{subject} is a result of the op itself"
        return f"{subject} is used before its definition{where}"
    return f"{subject} is defined{where} in a block that does not dominate this one"


def _block_in_region(op: Operation, region: Region) -> Block | None:
    """The block of `region` that holds `op`, directly or nested."""
    block = op.parent
    while block is not None and block.parent is not region:
        parent = block.parent_op()
        block = None if parent is None else parent.parent
    return block
