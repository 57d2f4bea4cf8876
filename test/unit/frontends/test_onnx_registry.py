"""
The table of converters: what signatures declare, rules of attributes, versions, domains, converters from other
packages.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_broken_models import info, model, node, tensor
from stepwell.core.plugins import StepwellPlugin
from stepwell.core.plugins import registry as plugins
from stepwell.frontends import ConversionError, Emitter, Known, OnnxError, Value, converter, direct
from stepwell.frontends.onnx import registry
from xdsl.dialects.builtin import ModuleOp


@pytest.fixture(autouse=True)
def own_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers is gone after it."""
    registry.load()
    monkeypatch.setattr(registry, "_table", {key: list(found) for key, found in registry._table.items()})
    yield


def acme(operator: str, inputs: str = "x", outputs: str = "y", opset: int = 1, **attributes: Any) -> Any:
    """A model of one node of the domain `com.acme`."""
    import onnx

    made = model([node(operator, inputs, outputs, "n", domain="com.acme", **attributes)])
    made.opset_import.append(onnx.helper.make_opsetid("com.acme", opset))
    return made


def ops_of(module: ModuleOp) -> list[str]:
    names = [op.name for op in module.walk()]
    return names[names.index("func.func") + 1 : -1]


def message(made: Any) -> str:
    with pytest.raises(OnnxError) as caught:
        stepwell.from_onnx(made)
    return str(caught.value)


X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)


def run(made: Any) -> np.ndarray[Any, Any]:
    (found,) = stepwell.compile(stepwell.from_onnx(made), cache=False)(X)
    return found


# Functions as converters


def test_a_signature_declares_inputs_and_attributes() -> None:
    @converter("Scale", domain="com.acme")
    def scale(b: Emitter, x: Value, y: Value | None = None, *rest: Value, by: float, name: str = "") -> Value:
        return b.multiply(x, by)

    found = registry.find("Scale", "com.acme", 1)
    assert found is not None
    assert [(each.name, each.optional, each.variadic, each.known) for each in found.inputs] == [
        ("x", False, False, False),
        ("y", True, False, False),
        ("rest", True, True, False),
    ]
    assert dict(found.attributes) == {"by": registry.REQUIRED, "name": ""}


def test_a_converter_builds_ops() -> None:
    @converter("Scale", domain="com.acme")
    def scale(b: Emitter, x: Value, *, by: float = 2.0) -> Value:
        return b.multiply(x, by)

    np.testing.assert_array_equal(run(acme("Scale")), X * 2)
    np.testing.assert_array_equal(run(acme("Scale", by=3.0)), X * 3)


def test_a_required_attribute() -> None:
    @converter("Scale", domain="com.acme")
    def scale(b: Emitter, x: Value, *, by: float) -> Value:
        return b.multiply(x, by)

    assert "node 'n' (com.acme:Scale, opset 1): attribute 'by' is missing" in message(acme("Scale"))


def test_an_unknown_attribute_is_not_lost() -> None:
    @converter("Scale", domain="com.acme")
    def scale(b: Emitter, x: Value, *, factor: float = 1.0) -> Value:
        return b.multiply(x, factor)

    text = message(acme("Scale", facttor=2.0))
    assert "attribute 'facttor' is not supported; Scale takes factor" in text
    assert "hint: did you mean 'factor'?" in text


def test_known_inputs_are_arrays() -> None:
    seen: list[Any] = []

    @converter("Scale", domain="com.acme")
    def scale(b: Emitter, x: Value, by: Known) -> Value:
        seen.append(by)
        return b.multiply(x, float(np.asarray(by)))

    made = acme("Scale", "x by")
    made.graph.initializer.append(tensor("by", 4))
    np.testing.assert_array_equal(run(made), X * 4)
    assert isinstance(seen[0], np.ndarray)
    made = acme("Scale", "x by")
    made.graph.input.append(info("by", ()))
    assert "input 1, 'by', is computed at run time, expected it to be known at import" in message(made)


def test_a_check_of_attributes() -> None:
    @converter("Scale", domain="com.acme", check=lambda given: "by is 0" if given.get("by") == 0 else None)
    def scale(b: Emitter, x: Value, *, by: float = 1.0) -> Value:
        return b.multiply(x, by)

    assert message(acme("Scale", by=0.0)).endswith("by is 0")
    run(acme("Scale", by=1.0))


def test_versions() -> None:
    @converter("Scale", domain="com.acme", since=3)
    def scale_3(b: Emitter, x: Value) -> Value:
        return b.multiply(x, 3)

    @converter("Scale", domain="com.acme", since=7)
    def scale_7(b: Emitter, x: Value) -> Value:
        return b.multiply(x, 7)

    for opset, factor in ((3, 3), (6, 3), (7, 7), (20, 7)):
        np.testing.assert_array_equal(run(acme("Scale", opset=opset)), X * factor)
    assert "com.acme:Scale (opset 2), node 'n'; supported from version 3 on" in message(acme("Scale", opset=2))


def test_the_same_version_twice() -> None:
    with pytest.raises(ValueError, match="Relu has a converter since version 1 already"):
        direct("Relu", "relu")


def test_one_may_replace_another() -> None:
    @converter("Relu", replace=True)
    def mine(b: Emitter, x: Value) -> Value:
        return b.negative(x)

    np.testing.assert_array_equal(run(model()), -X)


def test_those_of_stepwell_come_first(tmp_path: Path) -> None:
    """A module of converters may be the first that a program imports."""
    program = tmp_path / "program.py"
    program.write_text(
        "from stepwell.frontends import converter, direct\n"
        "for define in (converter('Relu'), lambda _: direct('Relu', 'relu')):\n"
        "    try:\n"
        "        define(lambda b, x: x)\n"
        "    except ValueError as error:\n"
        "        print(error)\n"
    )
    finished = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    assert finished.stdout == "Relu has a converter since version 1 already\n" * 2


def test_one_function_for_several_operators() -> None:
    @converter("Scale", domain="com.acme")
    @converter("Same", domain="com.acme")
    def same(b: Emitter, x: Value) -> Value:
        return b.relu(x)

    assert ops_of(stepwell.from_onnx(acme("Scale"))) == ops_of(stepwell.from_onnx(acme("Same")))


def test_what_goes_wrong_in_a_converter_is_an_error_of_the_node() -> None:
    @converter("Scale", domain="com.acme")
    def scale(b: Emitter, x: Value) -> Value:
        raise KeyError("by")

    text = message(acme("Scale"))
    assert "node 'n' (com.acme:Scale, opset 1): the converter of module 'test' failed: KeyError: 'by'" in text
    assert "this is a fault of module 'test', not of the program or of stepwell; --debug shows the traceback" in text


def test_what_goes_wrong_in_a_converter_of_ours_is_an_error_of_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    @converter("Scale", domain="com.acme")
    def scale(b: Emitter, x: Value) -> Value:
        raise KeyError("by")

    scale.__module__ = "stepwell.frontends.onnx.operators.scale"
    text = message(acme("Scale"))
    assert "node 'n' (com.acme:Scale, opset 1): it cannot be converted: KeyError: 'by'" in text
    assert "the converter did not expect this attribute or input" in text


def test_what_goes_wrong_in_a_check_is_an_error_of_the_node() -> None:
    """AUDIT C7."""

    def check(attributes: Mapping[str, Any]) -> str | None:
        return attributes["by"]

    @converter("Scale", domain="com.acme", check=check)
    def scale(b: Emitter, x: Value) -> Value:
        return x

    text = message(acme("Scale"))
    assert "node 'n' (com.acme:Scale, opset 1): the check of module 'test' failed: KeyError: 'by'" in text


@pytest.mark.parametrize(
    ("op", "error", "text"),
    [
        (7, TypeError, "M5 is to become 7, expected the name of an op of the graph dialect"),
        ("relluu", ValueError, "M5 is to become 'relluu', the graph dialect has no op 'relluu', did you mean 'relu'?"),
        (
            "mul",
            ValueError,
            "M5 is to become 'mul', the graph dialect has no op 'mul', did you mean 'graph.multiply'?",
        ),
    ],
)
def test_direct_takes_ops_that_there_are(op: Any, error: type[Exception], text: str) -> None:
    """AUDIT C7."""
    with pytest.raises(error) as caught:
        direct("M5", op, domain="com.acme")
    assert str(caught.value) == text


def test_no_such_op() -> None:
    @converter("Scale", domain="com.acme")
    def scale(b: Emitter, x: Value) -> Value:
        return b.reluu(x)

    assert "the graph dialect has no op 'reluu'" in message(acme("Scale"))


def test_the_standard_domain_has_two_names() -> None:
    assert registry.find("Relu", "ai.onnx", 20) is registry.find("Relu", "", 20)
    assert registry.find("Relu", "com.acme", 20) is None


# Rules


@pytest.mark.parametrize(
    ("rule", "given", "slope"),
    [
        ("alpha", {"slope": 0.5}, 0.5),
        (("alpha", 0.25), {}, 0.25),
        (("alpha", 0.25), {"slope": 0.5}, 0.5),
        (("alpha", 0.25, lambda value: value / 2), {"slope": 0.5}, 0.25),
    ],
)
def test_direct_renames_defaults_and_transforms(rule: Any, given: dict[str, float], slope: float) -> None:
    direct("Leak", "leaky_relu", domain="com.acme", slope=rule)
    np.testing.assert_allclose(run(acme("Leak", **given)), np.where(X < 0, X * slope, X))


def test_a_rule_without_default_is_of_a_required_attribute() -> None:
    direct("Leak", "leaky_relu", domain="com.acme", slope="alpha")
    assert "attribute 'slope' is missing" in message(acme("Leak"))


def test_ignored_excluded_and_extra_attributes() -> None:
    excluded = {"mode": "there is only one"}
    extra = {"alpha": 0.125}
    direct("Leak", "leaky_relu", domain="com.acme", ignored=["note"], excluded=excluded, extra=extra)
    np.testing.assert_allclose(run(acme("Leak", note="fast")), np.where(X < 0, X / 8, X))
    assert "attribute 'mode' is not supported: there is only one" in message(acme("Leak", mode=1))


def test_optional_inputs_of_direct() -> None:
    direct("Limit", "minimum", domain="com.acme", inputs=2)
    assert "input 1 is missing" in message(acme("Limit"))
    assert "the node has 3 inputs, expected at most 2" in message(acme("Limit", "x x x"))


@pytest.mark.parametrize("rule", [3, ("a", 1, 2), ("a",), (1, 2)])
def test_a_malformed_rule(rule: Any) -> None:
    with pytest.raises(TypeError, match="the rule of attribute 'slope' is"):
        direct("Leak", "leaky_relu", domain="com.acme", slope=rule)


# Other packages


def install(monkeypatch: pytest.MonkeyPatch, name: str, load: Callable[[], object]) -> None:
    """As if a package named a loader of converters in an entry point."""
    found = plugins()
    kinds = {kind: dict(loaders) for kind, loaders in found.extensions.items()}
    monkeypatch.setattr(found, "extensions", kinds)
    monkeypatch.setattr(found, "owner", dict(found.owner))
    monkeypatch.setattr(found, "root", dict(found.root))
    assert not found.add_plugin(StepwellPlugin(extensions={registry.PLUGIN_KIND: {name: load}}), name)
    monkeypatch.setattr(registry, "_loaded", False)
    monkeypatch.setattr("stepwell.frontends.onnx.operators.load", lambda: None)


def test_an_installed_package_brings_converters(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "acme", lambda: converter("Scale", domain="com.acme")(lambda b, x: b.multiply(x, 5)))
    np.testing.assert_array_equal(run(acme("Scale")), X * 5)


def test_a_package_that_fails_is_skipped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def load() -> None:
        raise ImportError("no module named acme")

    install(monkeypatch, "acme", load)
    assert "com.acme:Scale (opset 1), node 'n'" in message(acme("Scale"))
    warning = "warning: converters 'acme': skipped, they cannot be loaded: ImportError: no module named acme\n"
    assert capsys.readouterr().err == warning


def test_a_conversion_error_names_the_node_and_has_a_hint() -> None:
    @converter("Scale", domain="com.acme")
    def scale(b: Emitter, x: Value) -> Value:
        raise ConversionError("not today", hint="tomorrow")

    assert message(acme("Scale")).endswith("(com.acme:Scale, opset 1): not today\nhint: tomorrow")


def test_every_converter_is_listed() -> None:
    names = registry.known_operators()
    standard = [name for name in names if ":" not in name]
    assert standard == sorted(standard)
    assert {"Relu", "Conv", "MatMul"} <= set(names)
    assert all(found.operator in name for name, each in names.items() for found in each)
