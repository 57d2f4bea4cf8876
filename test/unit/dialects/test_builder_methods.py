"""
The methods of `GraphBuilder` named after ops, operators on values, and numbers and arrays as operands.

`STEPWELL_UPDATE_DOCS=1` writes `dialects/graph/methods.pyi`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell import te
from stepwell.core.plugins import registry
from stepwell.dialects.graph import Graph, GraphBuilder
from stepwell.dialects.graph.builder import BuilderError
from stepwell.dialects.graph.methods import method_names, signature_of
from xdsl.ir import BlockArgument, OpResult

STUB = Path(__file__).parents[3] / "dialects" / "graph" / "methods.pyi"
HEAD = '''# Made by STEPWELL_UPDATE_DOCS=1 pytest test/unit/dialects/test_builder_methods.py; do not edit.

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Dialect, Operation, SSAValue

Value = Any
"""A value with operators."""

Operand = Any
"""A value, an op with one result, a number, a list of numbers, or an array."""

def add_methods(cls: type, ops: Sequence[type[Operation]]) -> None: ...
def method_names(ops: Sequence[type[Operation]]) -> dict[str, type[Operation]]: ...
def method_of(op_type: type[Operation]) -> Callable[..., Any]: ...
def signature_of(op_type: type[Operation]) -> inspect.Signature: ...

class DialectMethods:
    def __init__(self, builder: OpMethods, dialect: Dialect) -> None: ...
    def __getattr__(self, name: str) -> Callable[..., Any]: ...

class OpMethods:
    is_building: bool
    def _add(
        self, op: Operation, names: Sequence[str], where: FileLineColLoc, before: Sequence[Operation] = ()
    ) -> Any: ...
'''
OWN = {"constant"}
"""The ops whose methods the builder itself defines."""


def stub_line(name: str, op_type: Any) -> str:
    signature = signature_of(op_type)
    plain = [each.replace(annotation=_Text(each.annotation)) for each in signature.parameters.values()]
    plain[0] = plain[0].replace(annotation=inspect.Parameter.empty)
    text = f"def {name}{signature.replace(parameters=plain, return_annotation=_Text(signature.return_annotation))}: ..."
    text = text.replace("'", '"')
    if len(text) <= 116:
        return text
    parts = [str(each).replace("'", '"') for each in plain]
    star = next((at for at, each in enumerate(plain) if each.kind == each.KEYWORD_ONLY), None)
    if star is not None and not any(each.kind == each.VAR_POSITIONAL for each in plain):
        parts.insert(star, "*")
    lines = "".join(f"        {part},\n" for part in parts)
    return f"def {name}(\n{lines}    ) -> {signature.return_annotation}: ..."


class _Text(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def stub() -> str:
    methods = {name: op for name, op in method_names(list(Graph.operations)).items() if name not in OWN}
    return HEAD + "".join(f"    {stub_line(name, op)}\n" for name, op in methods.items())


def test_the_stub_is_up_to_date() -> None:
    if os.environ.get("STEPWELL_UPDATE_DOCS"):
        STUB.write_text(stub(), encoding="utf-8")
    assert STUB.read_text(encoding="utf-8") == stub(), "run with STEPWELL_UPDATE_DOCS=1"


def test_every_op_is_a_method_with_its_documentation() -> None:
    for name, op_type in method_names(list(Graph.operations)).items():
        method = getattr(GraphBuilder, name)
        assert name in dir(GraphBuilder)
        if name not in OWN:
            assert method.__doc__ == inspect.cleandoc(op_type.__doc__ or "")
    assert str(inspect.signature(GraphBuilder.softmax)) == (
        "(self, operand: 'Operand', axis: 'int' = -1, *, name: 'str | Sequence[str] | None' = None) -> 'Value'"
    )


class TestValues:
    """One program with every operator, compared with the same expressions of Python on arrays."""

    X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5.5
    N = np.arange(3, dtype=np.int32) + 4
    B = np.array([True, False, True])
    W = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2)

    CASES: tuple[Callable[[Any, Any, Any], Any], ...] = (
        lambda x, n, b: x + 1,
        lambda x, n, b: 1.5 - x,
        lambda x, n, b: x * x - x / 4,
        lambda x, n, b: abs(x) ** 2,
        lambda x, n, b: -x,
        lambda x, n, b: x @ TestValues.W,
        lambda x, n, b: TestValues.X.T @ x,
        lambda x, n, b: TestValues.X - x * 2,
        lambda x, n, b: x < 0,
        lambda x, n, b: x >= 0,
        lambda x, n, b: (x > -1) & ~(x >= 2),
        lambda x, n, b: n % 3 + n // 2,
        lambda x, n, b: 7 // n,
        lambda x, n, b: (n << 2) ^ (n >> 1) | 1,
        lambda x, n, b: b & [True, True, False],
        lambda x, n, b: x[1],
        lambda x, n, b: x[-1, 1:3],
        lambda x, n, b: x[::-1, ::2],
        lambda x, n, b: x[..., None, -1],
        lambda x, n, b: x[None, 1:],
        lambda x, n, b: x[[2, 0, 0]],
        lambda x, n, b: x[:, np.array([[3], [1]])],
        lambda x, n, b: x[3:1],
    )

    def test_operators_are_those_of_numpy(self) -> None:
        builder = GraphBuilder()
        with builder.function("main", x="tensor<3x4xf32>", n="tensor<3xi32>", b="tensor<3xi1>") as values:
            builder.emit_func_output(*[case(*values) for case in self.CASES])
        found = stepwell.compile(builder.get())(self.X, self.N, self.B)
        for number, (result, case) in enumerate(zip(found, self.CASES, strict=True)):
            expected = case(self.X, self.N, self.B)
            assert result.shape == expected.shape, number
            np.testing.assert_allclose(result, expected, rtol=1e-6, err_msg=str(number))

    def test_values_are_plain_ones_again_in_the_module(self) -> None:
        builder = GraphBuilder()
        with builder.function("main", x="tensor<4xf32>") as (x,):
            y = x + 1
            assert (x.shape, y.dtype) == ((4,), "f32")
            assert repr(x) == "<stepwell.Value %x : tensor<4xf32>>"
            builder.emit_func_output(y)
        builder.get()
        assert (type(x), type(y)) == (BlockArgument, OpResult)


def test_numbers_take_the_type_of_the_other_operand() -> None:
    builder = GraphBuilder()
    with builder.function("main", x="tensor<4xbf16>", i="tensor<2xi64>") as (x, i):
        y = builder.where(x > 0, x, 0.5)
        builder.emit_func_output(builder.concat([y, x, y], name="three"), builder.take(x, 3, axis=0), i * 2)
    text = str(builder.get())
    assert "dense<0.5> : tensor<bf16>" in text
    assert "%three = graph.concat %" in text
    assert "graph.constant dense<3> : tensor<i64>" in text


def test_the_ops_of_another_dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry().dialects, "other", lambda: Graph)
    builder = GraphBuilder()
    with builder.function("main", x="tensor<4xf32>") as (x,):
        builder.emit_func_output(builder.other.relu(x))
        assert "softmax" in dir(builder.other)
        with pytest.raises(AttributeError, match="dialect graph has no op 'rellu', did you mean 'relu'"):
            builder.other.rellu  # noqa: B018
    assert "graph.relu %x" in str(builder.get())


def test_call_te_makes_one_kernel_of_one_expression() -> None:
    def scaled(a: te.Tensor) -> Any:
        return te.compute(a.shape, lambda i, j: a[i, j] * 3.0, "scaled")

    builder = GraphBuilder()
    with builder.function("main", x="tensor<2x3xf32>", u="tensor<?x3xf32>") as (x, u):
        once, twice = builder.call_te(scaled, x, name="y"), builder.call_te(scaled, builder.call_te(scaled, x))
        builder.emit_func_output(once, twice, builder.call_te(scaled, u))
    module = builder.get()
    assert str(module).count("tensor_loop.func") == 2
    x, u = np.ones((2, 3), np.float32), np.ones((5, 3), np.float32)
    found = stepwell.compile(module)(x, u)
    for result, expected in zip(found, (3 * x, 9 * x, 3 * u), strict=True):
        np.testing.assert_array_equal(result, expected)


def wrong() -> Iterator[tuple[Callable[[Any, Any, Any], Any], str, str | None]]:
    yield (
        lambda b, x, n: x + n,
        "'graph.add': lhs has element type f32 but rhs has i32; convert with graph.astype",
        None,
    )
    yield lambda b, x, n: b.add(x, "a"), "'graph.add': rhs is 'a', expected a value, a number or an array", None
    yield (
        lambda b, x, n: b.add(x),
        "'graph.add': missing a required argument: 'rhs'",
        "it is called as add(lhs, rhs, *, name=None)",
    )
    yield (
        lambda b, x, n: b.softmax(x, axs=1),
        "'graph.softmax': got an unexpected keyword argument 'axs'",
        "did you mean 'axis'?",
    )
    yield lambda b, x, n: b.softmax(x, 7), "'graph.softmax': axis 7 is out of range for rank 2, expected -2 to 1", None
    yield lambda b, x, n: x @ np.ones((3, 2), "f"), "'graph.matmul': lhs has K = 4 columns but rhs has K = 3 rows", None
    yield (
        lambda b, x, n: x + np.full((3, 4), 0.1),
        "'graph.add': rhs is an array of float64 and shape (3, 4), which f32 cannot hold",
        "array.astype(numpy.float32) rounds it",
    )
    yield (
        lambda b, x, n: n + 1.5,
        "'graph.add': rhs is 1.5, which i32 cannot hold",
        "builder.astype converts the other operand",
    )
    yield lambda b, x, n: x * True, "'graph.multiply': rhs is a truth value, expected f32", None
    yield lambda b, x, n: x + [[1], [2, 3]], "'graph.add': rhs is no array", None
    yield lambda b, x, n: x[9], "index 9 is outside of dimension 0, which has 3 elements", None
    yield lambda b, x, n: x[0, 0, 0], "3 indices are given for a tensor of 2 dimensions", None
    yield lambda b, x, n: x[..., ...], "an index has ... twice, expected it once", None
    yield lambda b, x, n: x[::0], "the step of a slice is 0", None
    yield lambda b, x, n: x["a":], "a bound of a slice is 'a', expected a number", None
    yield lambda b, x, n: x[[True, False, True]], "an index is a mask", "an index is a number, a slice"
    yield lambda b, x, n: x[[0], [1]], "there are two arrays of indices", "builder.gather_nd"
    yield lambda b, x, n: x[0, [1]], "an array of indices stands beside a number or None", "index twice"
    yield (
        lambda b, x, n: x == 3,
        "== asks whether two values are the same one",
        "builder.equal(x, y) compares their elements",
    )
    yield (
        lambda b, x, n: x if x < 0 else n,
        "a value has no truth value while its function is built",
        "builder.where(condition, x, y) selects element by element",
    )
    yield lambda b, x, n: b.call_te(lambda a: 3, x), "call_te: the function returns 3, expected te.compute", None
    yield (
        lambda b, x, n: b.call_te(lambda a: te.compute(a.shape, lambda i, j: a[i]), x),
        "call_te: tensor 'x' has 2 dimensions but 1 indices were given",
        None,
    )
    yield lambda b, x, n: b.full(1), "'graph.full': missing a required argument: 'type_'", None
    yield lambda b, x, n: b.full(1, "tensor<"), "'tensor<' is not a type", None
    yield lambda b, x, n: b.constant(300, "i8"), "the constant is 300, which i8 cannot hold", None
    yield lambda b, x, n: b.pad(x), "'graph.pad': missing a required argument: 'pad_width'", None


@pytest.mark.parametrize(("action", "message", "hint"), list(wrong()))
def test_a_wrong_call_is_one_message_at_its_line(action: Any, message: str, hint: str | None) -> None:
    builder = GraphBuilder()
    with (
        pytest.raises(BuilderError) as caught,
        builder.function("main", x="tensor<3x4xf32>", n="tensor<3xi32>") as (x, n),
    ):
        action(builder, x, n)
    diagnostic = caught.value.diagnostic
    assert message in diagnostic.message
    assert hint is None or hint in (diagnostic.hint or "")
    assert diagnostic.point is not None
    assert diagnostic.point.file == __file__
    assert diagnostic.point.line >= action.__code__.co_firstlineno
    assert str(builder.get()) == "builtin.module {\n}"


def test_a_failed_call_leaves_nothing_behind() -> None:
    builder = GraphBuilder()
    with builder.function("main", x="tensor<4xf32>") as (x,):
        with pytest.raises(BuilderError):
            builder.add(x, np.ones(3, np.float32))
        builder.emit_func_output(x)
    assert "constant" not in str(builder.get())


@pytest.mark.parametrize(("name", "near"), [("mul", "'multiply'"), ("softmx", "'softmax'"), ("emitt", "'emit'")])
def test_a_method_that_is_not_there(name: str, near: str) -> None:
    with pytest.raises(AttributeError, match=f"a GraphBuilder has no method '{name}', did you mean {near}"):
        getattr(GraphBuilder(), name)


def test_a_builder_says_what_it_holds() -> None:
    builder = GraphBuilder()
    assert repr(builder) == "<stepwell.GraphBuilder of no function>"
    with builder.function("main", x="tensor<4xf32>") as (x,):
        assert repr(builder) == "<stepwell.GraphBuilder of @main, inside @main>"
        builder.emit_func_output(x)
