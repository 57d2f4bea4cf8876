"""
The lowering of tensor expressions to a loop function: every compute stage becomes one block in a grid of its own.

`create_prim_func` is the public entry for people who write te by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import FunctionType, IntegerAttr, TensorType, UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from ... import te
from ...core.ir.element_types import ATTRIBUTES
from ...core.ir.symbols import fresh_name, value_name
from ...core.ir.walk import walk
from ...core.messages.locations import copy_location
from ...core.roles import SIGNATURE, WRITTEN
from ...dialects import tensor_loop
from ...lazy_dataclass import dataclass
from ...te.expr import Expr, Var
from ...te.reductions import ReductionResult
from ...te.words import listed, shortened
from ..shared.te_types import buffer_of, buffer_type
from .te_scalar import REDUCTION_FLAGS, ScalarExpression
from .te_sizes import named_sizes


def create_prim_func(arguments: Sequence[te.Tensor | Var], name: str = "main") -> tensor_loop.FuncOp:
    """
    Returns the loop function over `arguments`: placeholders are its inputs, computed tensors its outputs.

    A `te.var` among the arguments is a number that the function takes, as a tensor of rank 0. An index is an i64 there.

    Unsigned integers and booleans, which buffers hold without a sign, stay what they are to callers: the function has
    them in its `stepwell.signature`. Symbolic sizes are its `stepwell.dims`.

    Raises TEError when an input or a size is not among the arguments, or an output comes before an input, and for names
    that the text of a program cannot hold.
    """
    given = listed(arguments, "create_prim_func")
    if not isinstance(name, str) or not name:
        raise te.TEError(f"the name of the function is {shortened(name)}, expected text that is not empty")
    scalars = {each: _scalar(each) for each in given if isinstance(each, Var)}
    tensors = [scalars[each] if isinstance(each, Var) else each for each in given]
    for each in tensors:
        if not isinstance(each, te.Tensor):
            raise te.TEError(f"an argument is {shortened(each)}, expected a tensor or a te.var")
    inputs = [tensor for tensor in tensors if tensor.source is None]
    outputs = [tensor for tensor in tensors if tensor.source is not None]
    if tensors != [*inputs, *outputs]:
        raise te.TEError("the placeholders must come before the computed tensors")
    if not outputs:
        raise te.TEError("at least one argument must be a computed tensor, found placeholders only")
    function = convert_te_to_tensor_loop(name, inputs, outputs, scalars=scalars)
    del function.properties["sym_visibility"]
    types = [[_tensor_type(tensor) for tensor in group] for group in (inputs, _distinct(outputs))]
    if any(buffer_of(type_).element_type != type_.element_type for group in types for type_ in group):
        function.attributes[SIGNATURE] = FunctionType.from_lists(*types)
    return function


def _scalar(variable: Var) -> te.Tensor:
    """Returns the input that holds the value of a variable."""
    return te.placeholder((), "i64" if variable.type == "index" else variable.type, variable.name)


def _tensor_type(tensor: te.Tensor) -> TensorType:
    """Returns the type by which callers know a tensor: its buffer has neither signs nor booleans."""
    return TensorType(ATTRIBUTES[tensor.dtype], buffer_type(tensor).get_shape())


def convert_te_to_tensor_loop(
    name: str,
    inputs: Sequence[te.Tensor],
    outputs: Sequence[te.Tensor],
    location: Operation | None = None,
    output_names: Sequence[str] = (),
    scalars: Mapping[Var, te.Tensor] | None = None,
) -> tensor_loop.FuncOp:
    """
    Returns the private loop function `name` with buffers for `inputs`, then `outputs`.

    Other stages get a `tensor_loop.alloc`. `scalars` are the variables whose values stand in inputs of rank 0.

    Raises TEError when an expression loads from a placeholder, or uses a size, that the inputs do not give.
    """
    outputs = _distinct(outputs)
    hints = [_hint(tensor.name) for tensor in inputs]
    hints += output_names or [f"out{i}" if len(outputs) > 1 else "out" for i in range(len(outputs))]
    function = tensor_loop.FuncOp.create_named(
        name, [buffer_type(t) for t in inputs], [buffer_type(t) for t in outputs], hints, visibility="private"
    )
    function.attributes[WRITTEN] = UnitAttr()  # A stage has a value at each index.
    if (names := named_sizes([*inputs, *outputs])) is not None:
        function.arg_attrs = names
    _LoopFunction(function, inputs, outputs, scalars or {}).build()
    if location is not None:
        for op in walk(function):
            copy_location(location, op)
    return function


def _distinct(outputs: Sequence[te.Tensor]) -> list[te.Tensor]:
    """Returns `outputs` with a copy stage for each that is an input or has come before."""
    result: list[te.Tensor] = []
    for tensor in outputs:
        if tensor.source is None or any(tensor is known for known in result):
            tensor = _copy(tensor)
        result.append(tensor)
    return result


def _copy(tensor: te.Tensor) -> te.Tensor:
    names = [f"i{dim}" for dim in range(tensor.rank)]
    copy = te.compute(tensor.shape, lambda *index: tensor[index], name="copy", varargs_names=names)
    assert isinstance(copy, te.Tensor)
    return copy


@dataclass
class _LoopFunction:
    """Fills a function. `buffers` and `sizes` grow as stages and symbolic sizes are met."""

    function: tensor_loop.FuncOp
    inputs: Sequence[te.Tensor]
    outputs: Sequence[te.Tensor]
    scalars: Mapping[Var, te.Tensor]

    def build(self) -> None:
        self.buffers: dict[te.Tensor, SSAValue] = dict(zip(self.inputs, self.function.inputs, strict=True))
        self.buffers.update(zip(self.outputs, self.function.outputs, strict=True))
        self.sizes: dict[Expr, SSAValue] = {}
        self.block_names: set[str] = set()
        for stage in te.stages(*self.outputs):
            self._stage(stage)

    def _add(self, op: Operation) -> Operation:
        block = self.function.body.block
        assert block.last_op is not None
        block.insert_op_before(op, block.last_op)
        return op

    def _extent(self, size: te.Dim) -> tensor_loop.Extent:
        """Returns a number, or the value of a symbolic size at the top of the function."""
        if isinstance(size, int):
            return size
        if size not in self.sizes:
            for node in te.post_order(size):
                if isinstance(node, Var) and node not in self.sizes:
                    self.sizes[node] = self._size_of_input(node)
            emitter = ScalarExpression(Block(), {}, self.sizes)
            value = emitter.emit(size)
            for op in list(emitter.block.ops):
                op.detach()
                self._add(op)
            self.sizes[size] = value
        return self.sizes[size]

    def _size_of_input(self, size: Var) -> SSAValue:
        for tensor, buffer in zip(self.inputs, self.function.inputs, strict=True):
            for dim, found in enumerate(tensor.shape):
                if found is size:
                    index = arith.ConstantOp(IntegerAttr.from_index_int_value(dim))
                    self._add(index)
                    op = memref.DimOp.create(operands=[buffer, index.result], result_types=[index.result.type])
                    op.results[0].name_hint = _hint(size.name)
                    return self._add(op).results[0]
        raise te.TEError(f"size '{size.name}' is not a dimension of any input")

    def _stage(self, stage: te.Compute) -> None:
        targets = self._targets(stage)
        for tensor in stage.inputs:
            if tensor not in self.buffers:
                raise te.TEError(f"stage '{stage.name}' reads '{tensor.name}', which is not among the arguments")
        axes = [*stage.axes, *stage.reduce_axes]
        names = _axis_names(axes)
        specs = [
            tensor_loop.Axis(axis.kind, self._extent(axis.extent), name) for axis, name in zip(axes, names, strict=True)
        ]
        fill = _StageBody(stage, targets, self.buffers, self.sizes, self.scalars)
        init = fill.init if stage.reduce_axes else None
        self._add(tensor_loop.perfect_grid(fresh_name(stage.name, self.block_names), specs, fill.body, init))

    def _targets(self, stage: te.Compute) -> list[SSAValue]:
        """Returns the buffers of a stage: one per result, or for a reduction one per component of its running value."""
        if not stage.reduce_axes:
            return [self._target(stage, i) for i in range(len(stage.bodies))]
        by_component = {
            body.index: self._target(stage, i)
            for i, body in enumerate(stage.bodies)
            if isinstance(body, ReductionResult)
        }
        identity = _reduction(stage).reducer.identity
        return [
            by_component[i] if i in by_component else self._alloc(stage, component.dtype)
            for i, component in enumerate(identity)
        ]

    def _target(self, stage: te.Compute, index: int) -> SSAValue:
        """Returns the buffer for result `index` of a stage, which is that of an output or else a new one."""
        for tensor, buffer in self.buffers.items():
            if tensor.source is stage and tensor.index == index:
                return buffer
        buffer = self._alloc(stage, stage.bodies[index].dtype)
        for user in te.stages(*self.outputs):
            for tensor in user.inputs:
                if tensor.source is stage and tensor.index == index:
                    self.buffers[tensor] = buffer
        return buffer

    def _alloc(self, stage: te.Compute, dtype: str) -> SSAValue:
        shape = tuple(axis.extent for axis in stage.axes)
        sizes = [self._extent(size) for size in shape]
        type_ = buffer_type(te.Tensor(shape, dtype, stage.name))
        alloc = tensor_loop.AllocOp(type_, [size for size in sizes if isinstance(size, SSAValue)])
        alloc.memref.name_hint = _hint(stage.name)
        return self._add(alloc).results[0]


@dataclass
class _StageBody:
    """Fills the block of one stage. `targets` are the buffers of its results."""

    stage: te.Compute
    targets: Sequence[SSAValue]
    buffers: dict[te.Tensor, SSAValue]
    sizes: dict[Expr, SSAValue]
    scalars: Mapping[Var, te.Tensor]

    def _emitter(self, block: Block, axes: Sequence[SSAValue]) -> tuple[ScalarExpression, list[SSAValue]]:
        """Returns an expression that knows the axes, and the indices of the element that is computed."""
        values: dict[Expr, SSAValue] = dict(self.sizes)
        emitter = ScalarExpression(block, self.buffers, values)
        for axis, value in zip((*self.stage.axes, *self.stage.reduce_axes), axes, strict=True):
            if axis.lower:
                value = emitter.add(arith.AddiOp(value, emitter.constant(axis.lower, "index")))
            emitter.values[axis] = value
        for variable in te.post_order(*self.stage.bodies) if self.scalars else ():
            if isinstance(variable, Var) and variable in self.scalars and variable not in self.sizes:
                emitter.values[variable] = emitter.emit(_loaded(variable, self.scalars[variable]))
        return emitter, list(axes[: len(self.stage.axes)])

    def init(self, block: Block, axes: Sequence[SSAValue]) -> None:
        """Stores the identity of the reduction."""
        emitter = ScalarExpression(block, self.buffers, {})
        reduction = _reduction(self.stage)
        for identity, target in zip(reduction.reducer.identity, self.targets, strict=True):
            emitter.store(emitter.emit(identity), target, list(axes[: len(self.stage.axes)]), identity.dtype)

    def body(self, block: Block, axes: Sequence[SSAValue]) -> None:
        """Computes one element, or adds one element to the running values of a reduction."""
        emitter, indices = self._emitter(block, axes)
        if self.stage.reduce_axes:
            return self._accumulate(emitter, indices)
        for expr, target in zip(self.stage.bodies, self.targets, strict=True):
            emitter.store(emitter.emit(expr), target, indices, expr.dtype)

    def _accumulate(self, emitter: ScalarExpression, indices: list[SSAValue]) -> None:
        reduction = _reduction(self.stage)
        reducer = reduction.reducer
        values = [emitter.emit(value) for value in reduction.values]
        for value in values:
            _set_reduction_flags(value, only=arith.MulfOp)
        for target, left in zip(self.targets, reducer.lhs, strict=True):
            emitter.values[left] = emitter.load(target, indices, left.dtype)
        emitter.values.update(zip(reducer.rhs, values, strict=True))
        combined = [emitter.emit(result) for result in reducer.results]
        for value, expr, target in zip(combined, reducer.results, self.targets, strict=True):
            _set_reduction_flags(value)
            emitter.store(value, target, indices, expr.dtype)


def _hint(name: str) -> str:
    """Returns a name of te as the name of a value. Raises TEError where the text cannot hold it."""
    found = value_name(name)
    if not SSAValue.is_valid_name(found):
        expected = "letters, digits, and any of _ $ . -, and no digit first"
        raise te.TEError(f"the text of a program cannot hold the name {name!r}, expected {expected}")
    return found


def _loaded(variable: Var, buffer: te.Tensor) -> Expr:
    return te.cast("index", buffer[()]) if variable.type == "index" else buffer[()]


def _reduction(stage: te.Compute) -> te.Reduction:
    body = stage.bodies[0]
    assert isinstance(body, ReductionResult)
    return body.reduction


def _set_reduction_flags(value: SSAValue, only: type[Operation] | None = None) -> None:
    """Marks the float sum or product that made `value`: its order and its fusion into an FMA are free."""
    kinds = (arith.AddfOp, arith.MulfOp) if only is None else only
    if isinstance(value.owner, kinds):
        value.owner.properties["fastmath"] = REDUCTION_FLAGS


def _axis_names(axes: Sequence[te.Axis]) -> list[str]:
    """Returns `v` and the name of each axis. A repeated name gets a number."""
    names: list[str] = []
    for axis in axes:
        base = name = _hint(f"v{axis.name}")
        number = 1
        while name in names:
            name, number = f"{base}{number}", number + 1
        names.append(name)
    return names
