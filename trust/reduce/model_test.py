"""A reduced ONNX model as a numeric test for pytest, which passes once the fault is gone."""

from __future__ import annotations

import re
from pathlib import Path

from .onnx_model import Elsewhere
from .predicates import Command, Crash, Message, Predicate, Wrong

_HEAD = '''"""A model that stepwell reduce has made small: {wanted}."""

from pathlib import Path

{imports}

MODEL = Path(__file__).with_name("{model}")
'''

_AGAINST = """

def test_{name}() -> None:
    model = onnx.load(MODEL)
    module = stepwell.from_onnx(MODEL)
    (entry,) = entries(module)[0]
    inputs = made_inputs(entry, "random", {seed}, shapes_of(entry, None)).arrays
    expected = results_elsewhere("{runtime}", model, inputs)
    assert expected is not None
    assert not are_different(expected, stepwell.compile(module, cache=False)(*inputs))
"""

_WRONG = """

def test_{name}() -> None:
    module = stepwell.from_onnx(MODEL)
    check = CheckSemantics(CheckOptions({seed}))
    stepwell.core.run_pipeline(stepwell.core.make_context(), module, {pipeline!r}, instruments=[check])
"""

_CRASH = """

def test_{name}() -> None:
    module = stepwell.from_onnx(MODEL)
    stepwell.core.run_pipeline(stepwell.core.make_context(), module, {pipeline!r})
"""

_MESSAGE = """

def test_{name}() -> None:
    with pytest.raises(Exception, match={text!r}):
        module = stepwell.from_onnx(MODEL)
        stepwell.core.run_pipeline(stepwell.core.make_context(), module, {pipeline!r})
"""

_COMMAND = '''

def test_{name}() -> None:
    """The command succeeds while the fault is there."""
    command = {command!r}.replace("{{}}", shlex.quote(str(MODEL)))
    assert subprocess.run(command, shell=True, check=False).returncode != 0
'''

_REDUCE = "from stepwell.trust.reduce.onnx_model import are_different, results_elsewhere"
_INPUTS = "from stepwell.trust.entries import entries\nfrom stepwell.trust.inputs import made_inputs, shapes_of"
_CHECK = "from stepwell.trust.check import CheckOptions, CheckSemantics"


def test_of_model(predicate: Predicate, model: str, wanted: str) -> str:
    """Returns the text of a test beside a reduced model."""
    name = re.sub(r"\W+", "_", Path(model).stem).strip("_") or "model"
    values = {"name": name, "seed": getattr(getattr(predicate, "options", None), "seed", 0)}
    match predicate:
        case Elsewhere(runtime=runtime):
            imports = f"import onnx\nimport stepwell\n{_INPUTS}\n{_REDUCE}"
            body = _AGAINST.format(runtime=runtime, **values)
        case Wrong(pipeline=pipeline):
            imports = (
                "import stepwell\nimport stepwell.core\nfrom stepwell.trust.check import CheckOptions, CheckSemantics"
            )
            body = _WRONG.format(pipeline=pipeline, **values)
        case Crash(pipeline=pipeline):
            imports, body = "import stepwell\nimport stepwell.core", _CRASH.format(pipeline=pipeline, **values)
        case Message(text=text, pipeline=pipeline):
            imports = "import pytest\nimport stepwell\nimport stepwell.core"
            body = _MESSAGE.format(text=re.escape(text), pipeline=pipeline, **values)
        case Command(text=command):
            command = command if "{}" in command else command + " {}"
            imports, body = "import shlex\nimport subprocess", _COMMAND.format(command=command, **values)
        case _:
            imports, body = "import onnx", f"\n\nonnx.load(MODEL)  # {predicate}\n"
    return _HEAD.format(wanted=wanted, imports=imports, model=Path(model).name) + body
