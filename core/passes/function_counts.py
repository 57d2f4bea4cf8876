"""
The count of functions that a pass changes, for passes that ask about no application of their own.

What a pass makes of one function is one application then. Where the limit leaves some of them out, they are put back as
they were, so that what the pass made of the others can be told apart. Functions whose type changes go together
with their callers, since calls must fit. Later passes may need what a pass does to every function, so the pipeline ends
after a pass that some functions were taken back from.

Some functions cannot be mixed at all, those of the llvm dialect with others for one. Then all of them are put back, and
`Applications.apart` is false.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ..ir.cloning import clone_op
from ..ir.structural_hash import structural_hash
from ..ir.verification import verify_module
from ..ir.walk import walk
from .applications import FUNCTION, Applications


class FunctionsBefore:
    """The functions of a module before a pass. Copies are kept where a limit may put them back."""

    def __init__(self, module: ModuleOp, count: Applications):
        self._module, self._count = module, count
        self._asked = count.asked
        self._ops = dict(named_ops(module))
        self._hashes = {name: structural_hash(op) for name, op in self._ops.items()}
        self._types = {name: _type(op) for name, op in self._ops.items()}
        self._callers = callers_of(self._ops)
        self._changed: set[str] = set()
        self._copy = None if count.limit is None else clone_op(module)

    def settle(self, pass_name: str) -> None:
        """Counts the functions that the pass has changed, and puts back those beyond the limit."""
        if self._count.asked != self._asked:
            return
        after = dict(named_ops(self._module))
        refused = [names for names in self.groups(after) if not self._admits(pass_name, names, after)]
        if refused:
            self._put_back({name for names in refused for name in names}, after)

    def _admits(self, pass_name: str, names: list[str], after: dict[str, Operation]) -> bool:
        bindings = {"function": ", ".join(f"@{name}" for name in names)}
        return self._count.admit(FUNCTION, pass_name, after[names[0]], "exact", lambda: bindings)

    def groups(self, after: dict[str, Operation]) -> list[list[str]]:
        """Returns the functions that have changed, callees before their callers, those together that must be."""
        both = [name for name in after if name in self._ops]
        changed = [name for name in both if structural_hash(after[name]) != self._hashes[name]]
        self._changed = set(changed)
        callers = callers_of(after)
        of = {name: name for name in changed}

        def root(name: str) -> str:
            while of[name] != name:
                name = of[name]
            return name

        for name in changed:
            if _type(after[name]) != self._types[name] and not _is_llvm(after[name]):
                for caller in sorted((callers.get(name, set()) | self._callers.get(name, set())) & of.keys()):
                    of[root(caller)] = root(name)
        found: dict[str, list[str]] = {}
        for name in callees_first(changed, callers):
            found.setdefault(root(name), []).append(name)
        return list(found.values())

    def _put_back(self, names: set[str], after: dict[str, Operation]) -> None:
        assert self._copy is not None
        kept = dict(named_ops(self._copy))
        mixed = clone_op(self._module)
        if not self._mix(mixed, names, kept):
            mixed = self._copy
            self._count.apart = names == self._changed
        _move_contents(mixed, self._module)

    @staticmethod
    def _mix(module: ModuleOp, names: set[str], kept: dict[str, Operation]) -> bool:
        """Puts old functions in the place of new ones. Returns whether the module is valid then."""
        for name, op in list(named_ops(module)):
            if name in names:
                op.parent.insert_op_before(clone_op(kept[name]), op)  # pyright: ignore[reportOptionalMemberAccess]
                op.detach()
        there = dict(named_ops(module))
        for name, op in kept.items():
            if name not in there:
                module.body.block.add_op(clone_op(op))
        try:
            verify_module(module)
        except VerifyException:
            return False
        return True


def named_ops(module: ModuleOp) -> Iterator[tuple[str, Operation]]:
    """Yields the ops of a module that have names, with these."""
    for op in module.body.block.ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            yield name.data, op


def callers_of(ops: dict[str, Operation]) -> dict[str, set[str]]:
    """Returns who names each symbol."""
    found: dict[str, set[str]] = {}
    for name, op in ops.items():
        for inner in walk(op):
            for attribute in (*inner.properties.values(), *inner.attributes.values()):
                for each in _symbols(attribute):
                    found.setdefault(each, set()).add(name)
    return found


def _symbols(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolRefAttr):
        yield attribute.root_reference.data
    elif isinstance(attribute, ArrayAttr):
        for each in attribute.data:
            yield from _symbols(each)
    elif isinstance(attribute, DictionaryAttr):
        for each in attribute.data.values():
            yield from _symbols(each)


def callees_first(names: list[str], callers: dict[str, set[str]]) -> list[str]:
    """Returns names so that each comes before those that call it, and else in their order."""
    callees: dict[str, list[str]] = {name: [] for name in names}
    for name in names:
        for caller in callers.get(name, ()):
            if caller in callees:
                callees[caller].append(name)
    found: dict[str, None] = {}
    for name in names:
        pending = [name]
        seen = {name}
        while pending:
            left = [each for each in callees[pending[-1]] if each not in found and each not in seen]
            if left:
                seen.add(left[0])
                pending.append(left[0])
            else:
                found[pending.pop()] = None
    return list(found)


def _type(op: Operation) -> tuple[str, str]:
    return op.name, str(op.properties.get("function_type"))


def _is_llvm(op: Operation) -> bool:
    return op.name.startswith("llvm.")


def _move_contents(source: ModuleOp, target: ModuleOp) -> None:
    """Makes a module hold what another one holds."""
    for op in list(target.body.block.ops):
        op.detach()
    for op in list(source.body.block.ops):
        op.detach()
        target.body.block.add_op(op)
    target.attributes.clear()
    target.attributes.update(source.attributes)
