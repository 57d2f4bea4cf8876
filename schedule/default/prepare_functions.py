"""The functions of a module that prepare weights, as `prepack-weights` changes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from ...core.ir.cloning import clone_op
from ...core.ir.walk import ops_of
from ...core.roles import INSTANCES, PREPARE, prepare_function, prepare_key
from ...dialects.graph.calls import CallKernelOp
from ...dialects.graph.constants import WeightOp
from ...dialects.tensor_loop import CallOp, FuncOp
from ...dialects.traits import constant_kind
from .constants import STORED
from .moved_weights import MovedWeight


class PrepareFunctions:
    """The prepare functions of one module."""

    def __init__(self, module: ModuleOp, functions: dict[str, func.FuncOp]):
        self.module = module
        self.functions = functions
        self.kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
        self._used = {op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp | FuncOp)}
        self._numbers: dict[str, Iterator[int]] = {}
        self._callers = Counter(call.callee.string_value() for call in ops_of(module, func.CallOp))
        self._left: set[str] = set()
        """Kernels that a prepare function has called which is gone."""

    def fresh(self, prefix: str) -> str:
        """Returns a name that begins with `prefix` and that no function has."""
        names = (f"{prefix}{number}" for number in self._numbers.setdefault(prefix, count()))
        name = next(name for name in names if name not in self._used)
        self._used.add(name)
        return name

    def packed(
        self, sources: list[SSAValue], leaves: dict[SSAValue, MovedWeight], packing: FuncOp, packed_type: MemRefType
    ) -> dict[SSAValue, SSAValue]:
        """
        Returns the packed forms of weights, which are made of `leaves` where these are given.

        One prepare function makes all those that are read from the side-car (`merge-prepare-functions`).
        """
        made: dict[SSAValue, SSAValue] = {}
        instances: dict[str, Attribute] = {}
        shared: Operation | None = None
        for source in sources:
            owner = source.owner
            assert isinstance(owner, Operation)
            leaf = leaves[source].leaf if source in leaves else owner
            if not isinstance(leaf, WeightOp) or prepare_function(leaf.weight_key) is not None:
                made[source] = self._prepared(source, leaf, packing, packed_type)
            elif shared is None:
                made[source] = self._prepared(source, leaf, packing, packed_type)
                shared = made[source].owner  # pyright: ignore[reportAssignmentType]
            else:
                name = self.fresh("prepare_panels")
                instances[name] = ArrayAttr([StringAttr(leaf.weight_key)])
                use = WeightOp(prepare_key(name, 0), TensorType(packed_type.element_type, packed_type.get_shape()))
                made[source] = self._used_after(owner, use)
        if instances:
            assert isinstance(shared, func.CallOp)
            self.functions[shared.callee.string_value()].attributes[INSTANCES] = DictionaryAttr(instances)
        return made

    @staticmethod
    def _used_after(owner: Operation, use: Operation) -> SSAValue:
        """Returns the result of `use`, put after `owner`."""
        use.location = owner.location
        assert owner.parent is not None
        owner.parent.insert_op_after(use, owner)
        return use.results[0]

    def _prepared(self, source: SSAValue, leaf: Operation, packing: FuncOp, packed_type: MemRefType) -> SSAValue:
        """Returns the packed form of `source`, made by a prepare function, of `leaf` where that is a stored weight."""
        owner = source.owner
        assert isinstance(owner, Operation)
        result_type = TensorType(packed_type.element_type, packed_type.get_shape())
        body = Block()
        if constant_kind(leaf) in STORED:
            stored = clone_op(leaf)
            body.add_op(stored)
            value: SSAValue = stored.results[0]
        else:
            value = self._inlined(owner, source, body)
        call = CallKernelOp(packing.sym_name.data, [value], [result_type])
        body.add_ops([call, func.ReturnOp(*call.results)])
        name = self.fresh("prepare_panels")
        function = func.FuncOp(name, FunctionType.from_lists([], [result_type]), Region(body), "private")
        function.attributes[PREPARE] = UnitAttr()
        self.module.body.block.add_op(function)
        self.functions[name] = function
        self._callers[name] += 1
        for op in (call, function):
            op.location = owner.location
        return self._used_after(owner, func.CallOp(name, [], [result_type]))

    def erase_unused(self, source: SSAValue) -> None:
        """Erases the ops that only made the weight in its old form."""
        owner = source.owner
        assert isinstance(owner, Operation)
        if any(result.first_use is not None for result in owner.results):
            return
        owner.detach()
        owner.erase()
        if isinstance(owner, func.CallOp):
            name = owner.callee.string_value()
            self._callers[name] -= 1
            if not self._callers[name]:
                function = self.functions.pop(name)
                self._left |= {call.callee_name for call in ops_of(function, CallKernelOp)}
                function.detach()
                function.erase()

    def erase_unused_kernels(self) -> None:
        """Erases the private kernels that only prepare functions have called which are gone."""
        if not self._left:
            return
        called = {call.callee_name for call in ops_of(self.module, CallKernelOp)}
        called |= {call.callee.string_value() for call in ops_of(self.module, CallOp)}
        for name in self._left - called:
            kernel = self.kernels[name]
            if kernel.sym_visibility is not None and kernel.sym_visibility.data == "private":
                kernel.detach()
                kernel.erase()

    def _inlined(self, call: Operation, source: SSAValue, body: Block) -> SSAValue:
        """Copies the body of the prepare function that `call` calls. Returns the value that stands for `source`."""
        assert isinstance(call, func.CallOp) and isinstance(source, OpResult)
        function = self.functions[call.callee.string_value()]
        values: dict[SSAValue, SSAValue] = {}
        for op in function.body.block.ops:
            if isinstance(op, func.ReturnOp):
                return values[op.arguments[source.index]]
            body.add_op(clone_op(op, values))
        raise AssertionError("a function without a return")
