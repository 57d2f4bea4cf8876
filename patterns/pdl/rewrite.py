"""Reads the body of a `pdl.rewrite` into steps."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects import pdl
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import NoMemoryEffect

from ...core.messages.diagnostics import OperationError
from ...dialects.graph.base import GraphOp
from ..language.registry import RuleError, known_builder
from .arity import allowed_number, counts, op_type_of
from .pattern import PatternReader, is_range, owner_of
from .steps import Call, Joined, Known, Make, PdlRewrite, Source, Step, Taken

REWRITE_OPS = (pdl.AttributeOp, pdl.TypeOp, pdl.TypesOp, pdl.ResultOp, pdl.ResultsOp, pdl.RangeOp)
"""The ops that only name something. They are read where they are used."""


class RewriteReader:
    """Reads what replaces the root. An op that the engine cannot carry out is an error at that op."""

    def __init__(self, pattern: PatternReader):
        self._pattern = pattern
        self._op = pattern.rewrite
        self._made: set[SSAValue] = set()
        self.also: tuple[str, ...] = ()
        """The keys of the ops that are replaced besides the root, known after `read`."""
        self._named: dict[SSAValue, Source] = {}
        """The values that native rewrites make."""
        self._replaced: dict[SSAValue, Source] = {}
        """The replacements of the results of matched ops."""

    def read(self) -> PdlRewrite:
        """Returns the callback of the rule. Raises `OperationError`."""
        op = self._op
        if op.name_ is not None:
            message = f"'with' calls the function '{op.name_.data}' outside of the pattern, which is not supported"
            raise OperationError(op, message, hint="call a builder in a body: 'pdl.apply_native_rewrite'")
        block = op.body.first_block
        if block is None or block is not op.body.last_block:
            raise OperationError(op, "expected a body of one block")
        steps: list[Step] = []
        for each in block.ops:
            match each:
                case pdl.OperationOp():
                    steps.append(self._make(each))
                case pdl.ApplyNativeRewriteOp():
                    steps.append(self._call(each))
                case pdl.ReplaceOp():
                    self._replace(each)
                case pdl.EraseOp():
                    self._erase(each)
                case _ if isinstance(each, REWRITE_OPS):
                    for result in each.results:  # Results without a use must make sense too.
                        self._source(each, result)
                case _:
                    raise OperationError(each, "this op has no place in 'pdl.rewrite'")
        root = self._replaced.pop(self._pattern.root, None)
        if root is None:
            raise OperationError(
                op,
                "the root is neither replaced nor erased, so the rule would apply for ever",
                hint="write 'pdl.replace %root with ...'",
            )
        self.also = tuple(self._pattern.key(value) for value in self._replaced)
        return PdlRewrite(tuple(steps), Joined((root, *self._replaced.values())))

    # Where things come from

    def _source(self, at: Operation, value: SSAValue) -> Source:
        """Returns the source of a PDL value used by `at`."""
        owner = owner_of(value)
        if value in self._made or self._pattern.is_matched(value):
            return Taken(self._pattern.key(value))
        if value in self._named:
            return self._named[value]
        match owner:
            case pdl.AttributeOp() if owner.value is not None:
                return Known(owner.value)
            case pdl.TypeOp() if owner.constantType is not None:
                return Known(owner.constantType)
            case pdl.TypesOp() if owner.constantTypes is not None:
                return Known(tuple(owner.constantTypes.data))
            case pdl.TypeOp() | pdl.TypesOp() if value in self._pattern.places:
                key, place = self._pattern.places[value][0]
                return Taken(key, "type" if isinstance(owner, pdl.TypeOp) else "types", place)
            case pdl.ResultOp():
                return self._result(owner)
            case pdl.ResultsOp():
                if owner.index is not None:
                    raise OperationError(owner, "a group of results by its number is not supported")
                self._check_op(owner, owner.parent_)
                return Taken(self._pattern.key(owner.parent_), "results")
            case pdl.RangeOp():
                return Joined(tuple(self._source(owner, each) for each in owner.arguments))
            case _:
                raise OperationError(at, f"what '{owner.name}' stands for is not known when the pattern matches")

    def _result(self, op: pdl.ResultOp) -> Source:
        parent = owner_of(op.parent_)
        assert isinstance(parent, pdl.OperationOp)
        self._check_op(op, op.parent_)
        index = op.index.value.data
        if parent.op in self._made:
            self._check_made_index(op, parent, index)
        else:
            self._pattern.checked_index(op, parent)
        return Taken(self._pattern.key(op.parent_), "result", index)

    def _check_op(self, at: Operation, value: SSAValue) -> None:
        if value not in self._made and not self._pattern.is_matched(value):
            raise OperationError(at, f"what '{owner_of(value).name}' stands for is not known here")

    def _check_made_index(self, op: pdl.ResultOp, parent: pdl.OperationOp, index: int) -> None:
        assert parent.opName is not None
        op_type = op_type_of(self._pattern.ctx, parent, parent.opName.data)
        least, more = counts(op_type.get_irdl_definition().results) if _is_defined(op_type) else (0, True)
        if index < 0 or (index >= least and not more):
            raise OperationError(op, f"result {index} is asked for, but '{op_type.name}' has {least}")

    # Steps

    def _make(self, op: pdl.OperationOp) -> Make:
        assert op.opName is not None  # PDL's verifier makes sure of this.
        op_type = op_type_of(self._pattern.ctx, op, op.opName.data)
        if _is_defined(op_type) and counts(op_type.get_irdl_definition().regions)[0]:
            raise OperationError(op, f"'{op.opName.data}' has regions, which PDL cannot make")
        if _is_defined(op_type):
            self._check_operands(op, op_type)
        operands = tuple(self._source(op, value) for value in op.operand_values)
        names = [name.data for name in op.attributeValueNames]
        attributes = tuple(
            (name, self._source(op, value)) for name, value in zip(names, op.attribute_values, strict=True)
        )
        types: tuple[Source, ...] | None = tuple(self._source(op, value) for value in op.type_values)
        like: str | None = None
        if not types:
            like = self._replaced_by(op)
            types = None if like is not None else self._types_to_infer(op, op_type)
        self._made.add(op.op)
        return Make(self._pattern.key(op.op), op.opName.data, operands, attributes, types, like)

    def _check_operands(self, op: pdl.OperationOp, op_type: type[IRDLOperation]) -> None:
        least, more = counts(op_type.get_irdl_definition().operands)
        found, ranges = len(op.operand_values), any(is_range(value) for value in op.operand_values)
        if not ranges and (found < least or (found > least and not more)):
            expected = allowed_number((least, more), "operand")
            raise OperationError(op, f"'{op_type.name}' has {expected}, {found} written")

    def _replaced_by(self, op: pdl.OperationOp) -> str | None:
        """Returns the key of the op that this one replaces. It has the types of that op then."""
        for use in op.op.uses:
            user = use.operation
            if isinstance(user, pdl.ReplaceOp) and user.repl_operation is op.op:
                return self._pattern.key(user.op_value)
        return None

    def _types_to_infer(self, op: pdl.OperationOp, op_type: type[Operation]) -> tuple[Source, ...] | None:
        """Returns no types where the op has none, and `None` where they are inferred."""
        if issubclass(op_type, GraphOp):
            return None
        if _is_defined(op_type) and counts(op_type.get_irdl_definition().results)[0] == 0:
            return ()
        message = f"no result types are written, and those of '{op_type.name}' cannot be inferred"
        raise OperationError(op, message, hint="write '-> (%type : !pdl.type)'")

    def _call(self, op: pdl.ApplyNativeRewriteOp) -> Call:
        name, parameters = op.constraint_name.data, tuple(op.attributes.items())
        try:
            known_builder(name, len(op.args), parameters)
        except RuleError as error:
            raise OperationError(op, error.message, hint=error.hint) from None
        arguments = tuple(self._source(op, value) for value in op.args)
        types = [result.type for result in op.res]
        key = f".call.{len(self._made)}.{len(self._named)}"
        if len(types) == 1 and isinstance(types[0], pdl.OperationType):
            key = self._pattern.key(op.res[0])
            self._made.add(op.res[0])
            return Call(key, name, arguments, parameters, None, as_op=True)
        if not all(isinstance(each, pdl.ValueType) for each in types) and not (len(types) == 1 and is_range(op.res[0])):
            message = "a native rewrite makes values, one range of values, or one op"
            raise OperationError(op, message)
        ranged = bool(types) and is_range(op.res[0])
        for number, result in enumerate(op.res):
            self._named[result] = Taken(key) if ranged else Taken(key, "item", number)
        return Call(key, name, arguments, parameters, None if ranged else len(types))

    def _replace(self, op: pdl.ReplaceOp) -> None:
        self._check_matched(op, op.op_value)
        if op.repl_operation is not None:
            self._check_op(op, op.repl_operation)
            self._replaced[op.op_value] = Taken(self._pattern.key(op.repl_operation), "results")
        else:
            self._replaced[op.op_value] = Joined(tuple(self._source(op, value) for value in op.repl_values))

    def _erase(self, op: pdl.EraseOp) -> None:
        """Reads an op that is erased. A pure op below the root goes by itself once it has no uses."""
        self._check_matched(op, op.op_value)
        target = owner_of(op.op_value)
        assert isinstance(target, pdl.OperationOp)
        if not target.type_values:
            self._replaced[op.op_value] = Joined(())
        elif op.op_value is self._pattern.root or not self._is_pure(target):
            message = "only ops without results, and pure ops below the root, can be erased"
            raise OperationError(op, message, hint="write 'pdl.replace': results may have users")

    def _is_pure(self, op: pdl.OperationOp) -> bool:
        if op.opName is None:
            return False
        op_type = op_type_of(self._pattern.ctx, op, op.opName.data)
        return op_type.has_trait(NoMemoryEffect)

    def _check_matched(self, op: Operation, value: SSAValue) -> None:
        if value in self._made:
            raise OperationError(op, "only ops of the pattern can be replaced or erased, not new ones")
        if value in self._replaced:
            raise OperationError(op, "the op is replaced or erased already")


def _is_defined(op_type: type[Operation]) -> TypeGuard[type[IRDLOperation]]:
    return issubclass(op_type, IRDLOperation)


__all__ = ["RewriteReader"]
