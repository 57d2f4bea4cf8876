"""What a student types at the prompt of Python: completion, help, what objects show, a schedule, and a wrong call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SESSION = """
import rlcompleter, stepwell
import numpy as np
from stepwell import te
complete = rlcompleter.Completer({"stepwell": stepwell}).complete
complete("stepwell.Gr", 0)
complete("stepwell.GraphBuilder.softm", 0)
n = 0
while complete("stepwell.", n):
    n += 1

("all names", n == len([name for name in dir(stepwell) if not name.startswith("_")]))
help(stepwell.compile)
help(stepwell.GraphBuilder.relu)
b = stepwell.GraphBuilder()
with b.function("main", x="tensor<4x8xf32>") as (x,):
    b.emit_func_output(b.relu(x * 2 - 1, name="y"))

b
exe = stepwell.compile(b.get())
exe
exe(np.ones((4, 8), "f"))[0][0, 0].item()
s = exe.schedule()
s
name = next(op.sym_name.data for op in s.module.walk() if op.name == "tensor_loop.func")
i, j = s.get_loops(s.get_block("relu", name))
j
s.vectorize(j)
stepwell.compile(s)(np.ones((4, 8), "f"))[0][0, 0].item()
stepwell.show(exe.memory)
A = te.placeholder((8,), "f32", "A")
A
A[0:4]
exe(np.ones((4, 7), "f"))
b.mul
with b.function("main", x="tensor<4x8xf32>") as (x,):
    b.softmax(x, axis=2)

"""


def test_a_session_at_the_prompt(tmp_path: Path) -> None:
    environment = {**os.environ, "STEPWELL_CACHE_DIR": str(tmp_path), "PAGER": "cat", "PYTHONSTARTUP": ""}
    done = subprocess.run(
        [sys.executable, "-q", "-i"], input=SESSION, capture_output=True, text=True, env=environment, timeout=120
    )
    for expected in (
        "'stepwell.GraphBuilder(",
        "'stepwell.GraphBuilder.softmax(",
        "('all names', True)",
        "Help on function compile in module",
        "Help on function relu in module",
        "<stepwell.GraphBuilder of @main>",
        "<stepwell.Executable main(x: tensor<4x8xf32>) -> (result0: tensor<4x8xf32>)>",
        "\n1.0\n",
        "<stepwell.Schedule of @",
        "<stepwell.LoopHandle ",
        "@main, bytes",
        "<te.Tensor A: f32[8]>",
        "<te.Tensor A_slice: f32[4] = A[i1]>",
    ):
        assert expected in done.stdout, f"{expected}\n{done.stdout}\n{done.stderr}"
    for message in (
        "ArgumentError: argument 'x' has shape 4x7, expected tensor<4x8xf32>",
        "AttributeError: a GraphBuilder has no method 'mul', did you mean 'multiply'?",
        "<stdin>:2:1: error: 'graph.softmax': axis 2 is out of range for rank 2, expected -2 to 1",
    ):
        assert message in done.stderr, f"{message}\n{done.stderr}"
    assert done.stderr.count("Traceback") == 3, done.stderr
