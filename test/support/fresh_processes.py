"""
Python code in processes of their own that need not import the package again.

One process imports it and waits. For each piece of code it makes a copy of itself (`fork`), so that what the code
registers is gone when it ends. Code that is to start from nothing belongs into `subprocess.run`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any


def run_fresh(code: str, folder: Path, arguments: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Runs `code` in `folder` with the present environment. `sys.argv[1:]` are the arguments."""
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    order = {"code": code, "folder": str(folder), "arguments": list(arguments), "environment": dict(os.environ)}
    server.stdin.write(json.dumps(order) + "\n")
    server.stdin.flush()
    answer = json.loads(server.stdout.readline())
    return subprocess.CompletedProcess(["-c", *arguments], answer["code"], answer["out"], answer["err"])


@cache
def _server() -> subprocess.Popen[str]:
    """The process that has imported the package. It ends with this one, which closes its input."""
    command = [sys.executable, str(Path(__file__).resolve())]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _serve() -> None:
    import stepwell

    for name in stepwell.__all__:
        getattr(stepwell, name)  # This imports what the name stands for.
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


def _run(order: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            _become(order)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = [file.seek(0) or file.read().decode(errors="replace") for file in (out, err)]
    return {"code": code, "out": texts[0], "err": texts[1]}


def _become(order: dict[str, Any]) -> None:
    """Runs the code as the main module of a process, and ends it."""
    code = 1
    try:
        os.environ.clear()
        os.environ.update(order["environment"])
        os.chdir(order["folder"])
        sys.argv[1:] = order["arguments"]
        exec(compile(order["code"], "<string>", "exec"), {"__name__": "__main__"})
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
