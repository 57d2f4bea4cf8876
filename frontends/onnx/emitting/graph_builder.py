"""The builder of a graph: every op by its name, on values of the model, NumPy arrays and Python numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....core.ir.appending import new_op
from ....core.ir.verification import depends_on_types
from ....core.text.aliases import no_such_op
from ....dialects import graph
from ....dialects.graph.constants import ConstantOp, FullOp, WeightOp
from ....dialects.graph.shapes import Shaped
from ....dialects.graph.signature import tensor_type
from ..errors import ConversionError
from ..value import Value
from .values import Initialiser, KnownValue, RuntimeValue

if TYPE_CHECKING:
    import numpy as np
    from onnx import GraphProto

    from ....core.weights import RawTensor
    from .scopes import Scope

LARGEST_LITERAL: Final = 1024
"""The most elements that are written into the text. Larger arrays become weights."""

LARGEST_LITERAL_BESIDE_FILE: Final = 64
"""The same for floats where weights have a file of their own: more elements print as one long line of digits."""


PLAIN: Final = frozenset((int, float, bool, str, type(None)))
"""What the values of properties, and the elements of their lists, mostly are."""


@cache
def op_classes() -> dict[str, type[Operation]]:
    """Returns every graph op by its name without the dialect."""
    return {op.name.partition(".")[2]: op for family in graph.FAMILIES for op in graph.ops_of(family)}


class Made(NamedTuple):
    """What the ops of one key have in common. It keeps the types alive that the key knows by identity."""

    operand_types: tuple[Attribute, ...]
    result_types: Sequence[Attribute]
    properties: Mapping[str, Attribute]


def key_of(op_type: type[Operation], values: Sequence[SSAValue], properties: Mapping[str, Any]) -> Hashable | None:
    """
    Returns what says how an op is made of plain values, and what its result types are. It is `None` for other values.

    The types are known by identity, since hashing one takes longer. Whoever keeps the key keeps the types.
    """
    if not properties.keys().isdisjoint(("attributes", "result_types")):
        return None
    for value in properties.values():
        if not PLAIN.issuperset(map(type, value) if value.__class__ in (tuple, list) else (value.__class__,)):
            return None
    # As text, since 1, 1.0 and True are equal, and 0.0 and -0.0.
    return op_type, *(id(value.type) for value in values), repr(properties)


class GraphBuilder:
    """
    Builds the graph of a function, one op per call: `b.relu(x)`, `b.conv2d(x, w, strides=(2, 2))`.

    An operand is a `Value`, an SSA value, a NumPy array, or a Python number, which gets the element type of the first
    operand that is a tensor. The result is a `Value`, a tuple of them for an op with several. Raises `ConversionError`
    for an op that does not verify.
    """

    def __init__(self, entry: Block, body: Callable[[GraphProto, Scope, Mapping[str, Value]], list[Value]]):
        self.block = entry
        """Where ops are added."""
        self.location: LocationAttr = UnknownLoc()
        self.version = 1
        """The version of the operator set of the node that is converted."""
        self.output_count = 1
        """The number of outputs that the node names. The last of them are often left out."""
        self.wanted: tuple[bool, ...] = (True,)
        """Which outputs of the node have a name."""
        self.has_file = False
        """Whether the weights are written to a file that the caller named."""
        self.weights: dict[str, np.ndarray[Any, Any] | RawTensor] = {}
        """The arrays that are too large for the text, by key. Small integers of the model are as its file has them."""
        self.scope: Scope | None = None
        """The names that bodies of the node see."""
        self._made: dict[Hashable, Made] = {}
        """What has been made of valid ops, by their keys."""
        self.shapes: dict[tuple[Block, SSAValue], Value] = {}
        """The shapes that are computed, by the block that holds them and by their tensor."""
        self._entry = entry
        self._body = body
        self._last_literal: Operation | None = None
        self._literals: dict[Any, SSAValue] = {}
        self._literal_of: dict[int, tuple[Value, SSAValue]] = {}
        """The constants and weights that values are, by identity. The values are kept, lest another one gets it."""

    def __repr__(self) -> str:
        return f"<stepwell.Emitter of operator set {self.version}>"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op_type = op_classes().get(name)
        if op_type is None:
            raise AttributeError(no_such_op(name))
        return lambda *operands, **properties: self.emit(op_type, *operands, **properties)

    def emit(self, op_type: type[Operation], *operands: Any, **properties: Any) -> Any:
        """Adds an op, here at the node that is converted."""
        dtype = next((each.dtype for each in operands if isinstance(each, Value)), None)
        values = [self.ssa(operand, dtype) for operand in operands]
        alike = key_of(op_type, values, properties)
        made = None if alike is None else self._made.get(alike)
        if made is not None:
            return self.insert(new_op(op_type, values, made.result_types, made.properties))
        try:
            op = op_type(*values, **properties)  # pyright: ignore[reportCallIssue, reportArgumentType]
            op.verify_()
        except (VerifyException, TypeError, ValueError) as error:
            subject = f"'{op_type.name}': "
            raise ConversionError(subject + str(error).removeprefix(subject)) from error
        if alike is not None and not op.regions and tuple(op.operands) == tuple(values) and depends_on_types(op):
            self._made[alike] = Made(tuple(value.type for value in values), op.result_types, op.properties)
        return self.insert(op)

    def insert(self, op: Operation) -> Any:
        """Adds an op of any dialect and returns its results as values."""
        op.location = self.location
        self.block.add_op(op)
        results = tuple(RuntimeValue(result) for result in op.results)
        return results[0] if len(results) == 1 else results

    # Operands

    def ssa(self, operand: Any, dtype: str | None = None) -> SSAValue:
        """Returns the SSA value of an operand. A number gets the element type `dtype`."""
        match operand:
            case RuntimeValue():
                return operand.ssa
            case SSAValue():
                return operand
            case Value():
                if not isinstance(operand, Initialiser) and operand.known is None:
                    return operand.computed(self)
                return self._literal(operand, getattr(operand, "key", "constant"))
            case bool() | int() | float():
                if dtype is None:
                    raise ConversionError(f"the number {operand} has no element type")
                return self._splat(operand, Shaped((), dtype))
        return self._literal(KnownValue(operand), "constant")

    def constant(self, array: np.ndarray[Any, Any]) -> Value:
        """Returns an array as a value that is known."""
        return KnownValue(array)

    def full(self, shape: tuple[int, ...], value: float | int | bool, dtype: str) -> Value:
        """Returns a tensor with the same value everywhere."""
        return RuntimeValue(self._splat(value, Shaped(tuple(shape), dtype)))

    def _splat(self, value: float | int | bool, shaped: Shaped) -> SSAValue:
        return self._add_literal(("full", repr(value), shaped), lambda: FullOp(value, tensor_type(shaped)))

    def _literal(self, value: Value, key: str) -> SSAValue:
        found = self._literal_of.get(id(value))
        if found is None:
            found = self._literal_of[id(value)] = value, self._new_literal(value, key)
        return found[1]

    def _new_literal(self, value: Value, key: str) -> SSAValue:
        packed = value.packed if isinstance(value, Initialiser) else None
        if packed is None or prod(packed.shape) <= LARGEST_LITERAL:
            known = value.known
            assert known is not None
        else:
            known = None  # It stays packed, as the file of the model has it.
        if known is not None and self._is_literal(value, known):
            content = (known.tobytes(), value.shaped)
            return self._add_literal(content, lambda: ConstantOp.from_array(known))
        return self._add_literal(id(value), lambda: WeightOp(self._key(value, key), tensor_type(value.shaped)))

    def _is_literal(self, value: Value, known: np.ndarray[Any, Any]) -> bool:
        if known.size <= LARGEST_LITERAL_BESIDE_FILE or known.size > LARGEST_LITERAL:
            return known.size <= LARGEST_LITERAL
        # Integers are sizes and indices, which rules read. The same number everywhere prints as one.
        apart = self.has_file and "f" in value.dtype
        return not apart or known.tobytes() == known.reshape(-1)[:1].tobytes() * known.size

    def _key(self, value: Value, key: str) -> str:
        free, number = key, 0
        while free in self.weights:
            number += 1
            free = f"{key}_{number}"
        packed = value.packed if isinstance(value, Initialiser) else None
        array = value.known if packed is None else packed
        assert array is not None
        self.weights[free] = array
        return free

    def _add_literal(self, content: Any, make: Callable[[], Operation]) -> SSAValue:
        """Adds a literal at the start of the function, so that regions can use it too. Equal literals are one op."""
        found = self._literals.get(content)
        if found is None:
            op = make()
            op.location = self.location
            if self._last_literal is None:
                first = self._entry.first_op
                if first is None:
                    self._entry.add_op(op)
                else:
                    self._entry.insert_op_before(op, first)
            else:
                self._entry.insert_op_after(op, self._last_literal)
            self._last_literal = op
            found = self._literals[content] = op.results[0]
        return found

    # Regions

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Adds ops to `block` while the context is open."""
        outer, self.block = self.block, block
        try:
            yield
        finally:
            self.block = outer

    def subgraph(self, graph: GraphProto, given: Mapping[str, Value]) -> list[Value]:
        """Adds the nodes of a body of the current node here, with `given` as its inputs, and returns its outputs."""
        assert self.scope is not None
        scope = self.scope
        outputs = self._body(graph, scope, given)
        self.scope = scope
        return outputs

    # What many converters ask

    def static_shape(self, value: Value, what: str) -> tuple[int, ...]:
        """Returns the shape of a value. Raises `ConversionError` when an extent is not known."""
        if None in value.shape:
            raise ConversionError(f"{what} has the shape {value.shaped}, expected every extent to be known")
        return tuple(dim for dim in value.shape if dim is not None)

    def extent(self, value: Value, axis: int, what: str) -> int:
        """Returns one extent of a value. Raises `ConversionError` when it is not known."""
        found = value.shape[axis]
        if found is None:
            raise ConversionError(f"{what} is {value.shaped}, expected extent {axis % value.rank} to be known")
        return found

    def size(self, value: Value, what: str) -> int:
        """Returns the number of elements of a value of static shape."""
        return prod(self.static_shape(value, what))


Emitter = GraphBuilder
"""The name of the class in `stepwell.frontends`."""
