"""Running whole modules with the reference: calls, regions, constants, weights, failures and their places."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell import reference
from stepwell.reference import ReferenceFailure, ReferenceRunError


def run(text: str, *arrays: object, entry: str = "main", **options: object) -> tuple[np.ndarray, ...]:
    return reference.run(stepwell.parse(text), entry, *arrays, **options)  # type: ignore[arg-type]


def test_calls_constants_and_full() -> None:
    text = """
    func.func private @scale(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.primitive} {
      %two = graph.full 2.0 : tensor<2xf32>
      %y = graph.multiply %x, %two : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %y : tensor<2xf32>
    }
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %c = graph.constant dense<[1.0, -1.0]> : tensor<2xf32>
      %y = func.call @scale(%x) : (tensor<2xf32>) -> tensor<2xf32>
      %z = graph.add %y, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %y, %z : tensor<2xf32>, tensor<2xf32>
    }"""
    y, z = run(text, np.array([1, 2], np.float32))
    assert y.tolist() == [2.0, 4.0] and z.tolist() == [3.0, 3.0]


def test_literals_of_every_element_type() -> None:
    literals = {
        "dense<[true, false]> : tensor<2xi1>": [True, False],
        "dense<[-1, 2]> : tensor<2xi8>": [-1, 2],
        "dense<[255, 2]> : tensor<2xui8>": [255, 2],
        "dense<[1.5, -2.0]> : tensor<2xbf16>": [1.5, -2.0],
        "dense<[1.5, -2.0]> : tensor<2xf16>": [1.5, -2.0],
        "dense<7> : tensor<2xi64>": [7, 7],
        "dense<0.5> : tensor<2xf64>": [0.5, 0.5],
    }
    for literal, expected in literals.items():
        element_type = literal.split(" : ")[1]
        text = (
            f"func.func @main() -> {element_type} {{ %c = graph.constant {literal} func.return %c : {element_type} }}"
        )
        (found,) = run(text)
        assert found.astype(np.float64).tolist() == [float(value) for value in expected], literal


def test_weights_and_prepare_functions() -> None:
    text = """
    builtin.module attributes {stepwell.weights = "w.safetensors"} {
      func.func private @prepare_0() -> tensor<3x2xf32> attributes {stepwell.prepare} {
        %w = graph.weight "w" : tensor<2x3xf32>
        %t = graph.permute_dims %w, axes = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
        func.return %t : tensor<3x2xf32>
      }
      func.func @main(%x: tensor<1x3xf32>) -> tensor<1x2xf32> {
        %t = func.call @prepare_0() : () -> tensor<3x2xf32>
        %y = graph.matmul %x, %t : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
        func.return %y : tensor<1x2xf32>
      }
    }"""
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    (y,) = run(text, np.ones((1, 3), np.float32), weights={"w": w})
    assert y.tolist() == [[3.0, 12.0]]
    with pytest.raises(ReferenceRunError, match="weight 'w' was not given"):
        run(text, np.ones((1, 3), np.float32))


BRANCH = """
func.func @main(%x: tensor<4xf32>, %n: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %k = tensor.extract %n[] : tensor<i64>
  %steps = arith.index_cast %k : i64 to index
  %loop = scf.for %i = %zero to %steps step %one iter_args(%acc = %x) -> (tensor<4xf32>) {
    %next = graph.add %acc, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  %limit = arith.constant 2 : i64
  %small = arith.cmpi slt, %k, %limit : i64
  %r = scf.if %small -> (tensor<4xf32>) {
    %a = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %loop, %r : tensor<4xf32>, tensor<4xf32>
}"""


def test_structured_control_flow() -> None:
    x = np.array([1, 2, 3, 4], np.float32)
    loop, branch = run(BRANCH, x, np.array(3))
    assert loop.tolist() == (4 * x).tolist() and branch.tolist() == x.tolist()
    loop, branch = run(BRANCH, x, np.array(0))
    assert loop.tolist() == x.tolist() and branch.tolist() == (-x).tolist()


def test_first_failing_op_is_reported_with_its_place() -> None:
    text = """func.func @main(%x: tensor<3xi32>, %i: tensor<2xi64>) -> (tensor<2xi32>, tensor<3xi32>) {
  %a = graph.take %x, %i, axis = 0 : (tensor<3xi32>, tensor<2xi64>) -> tensor<2xi32>
  %b = graph.divide %x, %x : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  func.return %a, %b : tensor<2xi32>, tensor<3xi32>
}"""
    x = np.array([0, 1, 2], np.int32)
    with pytest.raises(ReferenceFailure, match="<text>:2:3: graph.take: index out of range") as both:
        run(text, x, np.array([0, 3]))
    assert both.value.message == "graph.take: index out of range"
    with pytest.raises(ReferenceFailure, match="<text>:3:3: graph.divide: integer division by zero"):
        run(text, x, np.array([0, -3]))


def test_dynamic_extents_take_the_size_of_the_argument() -> None:
    text = """func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
      %y = graph.exp %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
      func.return %y : tensor<?x2xf32>
    }"""
    assert run(text, np.zeros((5, 2), np.float32))[0].shape == (5, 2)
    with pytest.raises(ReferenceRunError, match="declares tensor<\\?x2xf32>, the reference gives float32 of shape"):
        run(text, np.zeros((5, 3), np.float32))


def test_wrong_calls_are_refused() -> None:
    text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { func.return %x : tensor<2xf32> }"
    with pytest.raises(ReferenceRunError, match="'@main' has 1 arguments, 0 were given"):
        run(text)
    with pytest.raises(ReferenceRunError, match="function '@other' is not in the module; it has"):
        run(text, entry="other")


def test_a_long_chain_needs_no_deep_stack() -> None:
    ops = [f"%v{i + 1} = graph.negative %v{i} : (tensor<1xf32>) -> tensor<1xf32>" for i in range(3000)]
    body = "\n".join(ops)
    text = f"func.func @main(%v0: tensor<1xf32>) -> tensor<1xf32> {{\n{body}\nfunc.return %v3000 : tensor<1xf32> }}"
    assert run(text, np.array([2.0], np.float32))[0].tolist() == [2.0]


def test_observer_sees_every_op_in_order() -> None:
    seen: list[str] = []
    run(BRANCH, np.ones(4, np.float32), np.array(1), observe=lambda op, results: seen.append(op.name))
    assert seen[:4] == ["arith.constant", "arith.constant", "tensor.extract", "arith.index_cast"]
    assert seen.count("graph.add") == 1 and "scf.for" in seen


def test_other_packages_register_their_ops() -> None:
    from stepwell.reference import registry

    def double(properties: dict[str, object], x: np.ndarray) -> tuple[np.ndarray, ...]:
        return (x * 2,)

    reference.register("test.double", double)
    try:
        reference.register("test.double", double)
        assert reference.evaluate("test.double", {}, np.array([1, 2]))[0].tolist() == [2, 4]
        with pytest.raises(ValueError, match="'graph.add' already has a reference"):
            reference.register("graph.add", double)
    finally:
        del registry.OPS["test.double"]


def test_reference_never_imports_te() -> None:
    """No file of reference/ names te (its table of element types aside), the lowering or the dialect classes."""
    from pathlib import Path

    folder = Path(reference.__file__).parent
    for path in sorted(folder.glob("*.py")):
        text = path.read_text().replace("from ..te import dtypes\n", "")
        for room in ("..te", "..lowering", "..dialects", "..runtime"):
            assert f"from {room}" not in text, f"{path.name} imports {room}"
