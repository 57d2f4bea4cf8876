"""AUDIT C4: faults of plug-ins name the package, the pass and the op; ours give the command that reproduces them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from stepwell.core.ir import extra_checks
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.plugins import PLUGIN_GROUP, LoadedPlugin, maker_of, registry
from stepwell.core.text.errors import diagnostic_of, internal_error_hint, reproduced_by
from stepwell.core.text.parsing import make_context, parse
from stepwell.tools.opt import main as opt
from xdsl.utils.exceptions import VerifyException

PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""

PLUG_IN = '''
from stepwell.core import module_pass
from stepwell.dialects.graph import PureGraphOp, tensor_operand, tensor_result
from xdsl.irdl import irdl_op_definition


@module_pass("fault-at-relu")
def fault_at_relu(module, ctx):
    """Fails at the first relu."""
    for op in module.walk():
        if op.name == "graph.relu":
            raise KeyError("zap")


@irdl_op_definition
class FaultyOp(PureGraphOp):
    """Has faults in all that it says."""

    name = "faulty.op"
    operand = tensor_operand("F")
    result = tensor_result()

    @classmethod
    def infer(cls, operand):
        return (operand,)

    def te(self, operand):
        return {}["missing"]


class TensorOp(FaultyOp):
    name = "faulty.tensor"

    def te(self, operand):
        return operand


class NothingOp(FaultyOp):
    name = "faulty.nothing"

    def te(self, operand):
        return ()


class BadlyInferredOp(FaultyOp):
    name = "faulty.infer"

    @classmethod
    def infer(cls, operand):
        return operand


@module_pass("fault-without-end")
def fault_without_end(module, ctx):
    """Calls itself."""
    fault_again()


def fault_again():
    fault_again()


class BadlyVerifiedOp(FaultyOp):
    name = "faulty.verifier"

    def verify_(self):
        return {}["missing"]
'''


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "faulty_parts.py").write_text(PLUG_IN)
    monkeypatch.syspath_prepend(tmp_path)
    provides = LoadedPlugin(PLUGIN_GROUP, "faulty", "faulty-parts", "faulty_parts:PLUGIN", None)
    monkeypatch.setattr(registry(), "plugins", [*registry().plugins, provides])
    yield import_module("faulty_parts")
    del sys.modules["faulty_parts"]
    for name in ("fault-at-relu", "fault-without-end"):
        registry().passes.pop(name, None)
        registry().owner.pop(("pass", name), None)


def test_who_made_a_module(plug_in: Any):
    assert maker_of("faulty_parts.passes") == "package 'faulty-parts'"
    assert maker_of("somewhere") == "module 'somewhere'"
    assert maker_of("__main__") == "module '__main__'"
    assert all(maker_of(name) is None for name in ("stepwell.core", "xdsl.ir", "numpy.linalg", "json"))


def test_a_fault_of_a_pass(plug_in: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "p.mlir"
    file.write_text(PROGRAM)
    assert opt([str(file), "-p", "fault-at-relu"]) == 1
    line = PLUG_IN[: PLUG_IN.index("raise KeyError")].count("\n") + 1
    assert capsys.readouterr().err == (
        f"{file}:2:3: error: 'graph.relu': package 'faulty-parts' failed: KeyError: 'zap' (faulty_parts.py:{line})\n"
        "    %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>\n"
        "    ^\n"
        "note: in pass 'fault-at-relu' of package 'faulty-parts' (number 1 of the pipeline)\n"
        "hint: this is a fault of package 'faulty-parts', not of the program or of stepwell; "
        f"this shows the traceback: stepwell-opt {file} -p fault-at-relu --debug\n"
    )


def test_the_exception_in_python_names_pass_and_package(plug_in: Any):
    with pytest.raises(KeyError) as caught:
        run_pipeline(make_context(), parse(PROGRAM), "fault-at-relu")
    assert caught.value.__notes__ == ["in pass 'fault-at-relu' of package 'faulty-parts' (number 1 of the pipeline)"]


def program_with(op_type: Any) -> Any:
    module = parse(PROGRAM)
    relu = next(op for op in module.walk() if op.name == "graph.relu")
    op = op_type.create(operands=relu.operands, result_types=[relu.results[0].type])
    op.location = relu.location
    relu.parent.insert_op_before(op, relu)
    return module


def test_a_fault_of_an_op_in_a_pass_of_ours(plug_in: Any):
    with pytest.raises(KeyError) as caught:
        run_pipeline(make_context(), program_with(plug_in.FaultyOp), "lower-graph-to-loops")
    diagnostic = diagnostic_of(caught.value)
    assert diagnostic.message.startswith(
        "'faulty.op': package 'faulty-parts' failed: KeyError: 'missing' (faulty_parts.py:"
    )
    assert str(diagnostic.point) == "<text>:2:3"


def test_a_fault_of_a_verifier(plug_in: Any):
    with pytest.raises(VerificationError) as caught:
        run_pipeline(make_context(), program_with(plug_in.BadlyVerifiedOp), "")
    assert caught.value.diagnostic.message == (
        "'faulty.verifier': the verifier of package 'faulty-parts' failed: KeyError: 'missing'"
    )


def test_a_fault_of_a_check(plug_in: Any, monkeypatch: pytest.MonkeyPatch):
    """A check that a package adds to the verifier of another one's op."""
    known = registry().extensions[extra_checks.OP_CHECK]
    monkeypatch.setitem(known, "graph.relu", lambda: lambda op: {}["missing"])
    monkeypatch.setitem(registry().root, (extra_checks.OP_CHECK, "graph.relu"), "faulty_parts")
    extra_checks._extensions.cache_clear()
    try:
        with pytest.raises(VerificationError) as caught:
            parse(PROGRAM)
    finally:
        extra_checks._extensions.cache_clear()
    assert caught.value.diagnostic.message == (
        "'graph.relu': the check of package 'faulty-parts' failed: KeyError: 'missing'"
    )


def test_faults_of_ours_give_the_command():
    assert internal_error_hint() == "this is a fault of the compiler, not of the program; --debug shows the traceback"
    with reproduced_by("stepwell-opt 'a b.mlir' -p O3 --debug"):
        shown = diagnostic_of(KeyError("oops"))
    assert (shown.message, shown.hint) == (
        "internal error: KeyError: 'oops'",
        "this is a fault of the compiler, not of the program; "
        "this shows the traceback: stepwell-opt 'a b.mlir' -p O3 --debug",
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("TensorOp", "the tensor 'relu', expected a tuple of 1 tensor; is the comma of (y,) missing?"),
        ("NothingOp", "(), expected a tuple of 1 tensor"),
    ],
)
def test_what_te_returns_is_checked(plug_in: Any, name: str, message: str):
    op_type = getattr(plug_in, name)
    with pytest.raises(OperationError) as caught:
        run_pipeline(make_context(), program_with(op_type), "lower-graph-to-loops")
    found = diagnostic_of(caught.value)
    assert found.message.startswith(f"'{op_type.name}' has no loops: 'te' of {name} returns ")
    assert found.message.endswith(message.partition("'relu'")[2]) and str(found.point) == "<text>:2:3"


def test_what_infer_returns_is_checked(plug_in: Any):
    module = program_with(plug_in.BadlyInferredOp)
    op = next(op for op in module.walk() if op.name == "faulty.infer")
    with pytest.raises(VerifyException) as caught:
        op.verify_()
    assert str(caught.value) == (
        "'infer' of BadlyInferredOp returns tensor<4xf32>, expected a tuple of Shaped; is the comma of (x,) missing?"
    )


def test_a_pass_that_calls_itself_without_end_is_named(plug_in: Any):
    with pytest.raises(RecursionError) as caught:
        run_pipeline(make_context(), parse(PROGRAM), "fault-without-end")
    found = diagnostic_of(caught.value)
    start = "package 'faulty-parts' failed: RecursionError: function 'fault_again' calls itself "
    assert found.message.startswith(start) and " times deep (faulty_parts.py:" in found.message
    assert found.hint is not None and found.hint.startswith("this is a fault of package 'faulty-parts'")
    assert diagnostic_of(RecursionError()).message == "the program is nested too deeply"
