"""Running command line tools inside this process: their streams are captured, their exit is an exit code."""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Final

from .run_line import Command, Finished

MainFunction = Callable[[Sequence[str]], int | None]

PACKAGE: Final = __name__.rpartition(".testing")[0]

IN_PROCESS_TOOLS: Final = {
    "stepwell-opt": f"{PACKAGE}.tools.opt:main",
    "asm-loops": f"{PACKAGE}.testing.assembly:main",
    "filecheck": f"{PACKAGE}.testing.in_process:filecheck_main",
    "FileCheck": f"{PACKAGE}.testing.in_process:filecheck_main",
    "cat": f"{PACKAGE}.testing.in_process:cat_main",
    "echo": f"{PACKAGE}.testing.in_process:echo_main",
}

CHILD_TOOLS: Final = {
    "stepwell-run": f"{PACKAGE}.tools.run:main",
    "stepwell-tune": f"{PACKAGE}.tools.tune:main",
}
"""Tools that run native code: in a forked child, which shares the imports but not a crash."""

CRASHED = -1
"""Exit code of a tool that raised: no orderly failure, so `not` does not accept it."""


def load_tool(location: str) -> MainFunction:
    """
    Returns the function behind `module:function`. It takes the arguments and returns an exit code, or `None` for 0.
    """
    module_name, _, function_name = location.partition(":")
    return getattr(import_module(module_name), function_name)


def filecheck_main(arguments: Sequence[str]) -> int:
    """The `filecheck` package as a tool. Exits with a message where it is not installed."""
    try:
        from filecheck.main import main
    except ModuleNotFoundError:
        raise SystemExit("filecheck is not installed: pip install filecheck") from None

    main(["filecheck", *arguments])
    return 0


def cat_main(arguments: Sequence[str]) -> int:
    """`cat`: files, or standard input when there are none."""
    for name in arguments or ["-"]:
        if name == "-":
            sys.stdout.buffer.write(sys.stdin.buffer.read())
        else:
            with open(name, "rb") as file:
                sys.stdout.buffer.write(file.read())
    return 0


def echo_main(arguments: Sequence[str]) -> int:
    """`echo`."""
    print(" ".join(arguments))
    return 0


@contextmanager
def captured_streams(data: bytes, merge: bool) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Makes `data` the standard input inside the block, and sends standard output and error to the two buffers."""
    out = io.BytesIO()
    err = out if merge else io.BytesIO()
    saved = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="surrogateescape")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    sys.stderr = sys.stdout if merge else io.TextIOWrapper(err, encoding="utf-8", write_through=True)
    try:
        yield out, err
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            if isinstance(stream, io.TextIOWrapper) and stream.buffer in (out, err):
                stream.detach()  # else its destruction closes the buffer
                if merge:
                    break
        sys.stdin, sys.stdout, sys.stderr = saved


def call_tool(main: MainFunction, command: Command, data: bytes) -> Finished:
    """Runs `main` with the arguments of `command` in this process."""
    with captured_streams(data, command.merge_stderr) as (out, err):
        try:
            result = main(command.words[1:])
            exit_code = 0 if result is None else int(result)
        except SystemExit as exit_:
            exit_code = _exit_code(exit_)
        except Exception:
            traceback.print_exc()
            exit_code = CRASHED
    return Finished(exit_code, out.getvalue(), b"" if command.merge_stderr else err.getvalue())


def _exit_code(exit_: SystemExit) -> int:
    if exit_.code is None:
        return 0
    if isinstance(exit_.code, int):
        return exit_.code
    print(exit_.code, file=sys.stderr)
    return 1


def call_tool_in_child(main: MainFunction, command: Command, data: bytes) -> Finished:
    """
    Runs a tool as `call_tool` does, in a forked child: a crash of native code ends the child and not the tests.

    The exit code of a child killed by signal n is -n, as with subprocesses.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            finished = call_tool(main, command, data)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump((finished.exit_code, finished.stdout, finished.stderr), pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        message = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) or not message:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        name = signal.Signals(number).name if number else "no result"
        return Finished(-number or CRASHED, stderr=f"{command.tool} was ended by {name}\n".encode())
    return Finished(*pickle.loads(message))


def run_subprocess(command: Command, data: bytes, timeout: float | None) -> Finished:
    """Runs a command that is no in-process tool."""
    # The tools of this environment, also when it has not been activated.
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    try:
        finished = subprocess.run(
            command.words,
            input=data,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if command.merge_stderr else subprocess.PIPE,
            timeout=timeout,
        )
    except FileNotFoundError:
        return Finished(127, stderr=f"{command.tool}: command not found\n".encode())
    except subprocess.TimeoutExpired:
        return Finished(CRASHED, stderr=f"{command.tool}: no end within {timeout} s\n".encode())
    return Finished(finished.returncode, finished.stdout, finished.stderr or b"")
