"""
Programs of failing.py reduced by `stepwell reduce` and by C-Vise, on the same text with the same predicate.

`python test/trust/beside_cvise.py [--kinds KIND …] [--least 100] [--most 300] [--seconds 60]` prints the table of
docs/acceptance/reduce.md. The predicate is a command for both. It asks a server that has loaded what it needs, so that
its start takes no time. A program has to be valid for it, unless the whole one is not. Ours ends by itself; C-Vise has
so many seconds. C-Vise is a package of Debian and Ubuntu (`cvise`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from failing import CASES, SIZES, Case, made
from stepwell.core.text.parsing import make_context
from stepwell.trust.reduce.moves.all import moves_for
from stepwell.trust.reduce.predicates import Command, Predicate
from stepwell.trust.reduce.session import reduce
from stepwell.trust.reduce.subject import Program
from stepwell.trust.reduce.workers import VALID, Workers

CHECK = """#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/{port} || exit 1
cat "${{1:-{file}}}" >&3
printf '\\004' >&3
read -r -t 100 answer <&3
[ "$answer" = yes ]
"""


def serve(predicate: Predicate, wanted: str, is_valid: bool) -> tuple[int, int]:
    """Starts a process that answers whether a text is interesting. Returns its number and its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    child = os.fork()
    if child:
        listening.close()
        return child, port
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Nobody waits for those that answer.
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answer(connection, predicate, wanted, is_valid)
        connection.close()


def _answer(connection: socket.socket, predicate: Predicate, wanted: str, is_valid: bool) -> None:
    try:
        data = b""
        while not data.endswith(b"\4") and (more := connection.recv(1 << 16)):
            data += more
        program = Program(make_context(), data[:-1].decode("utf-8", "replace"), "t.mlir")
        is_asked = program.is_valid or not is_valid
        connection.sendall(b"yes\n" if is_asked and kind_of(program, predicate) == wanted else b"no\n")
    except BaseException:
        connection.sendall(b"no\n")
    finally:
        connection.close()
        os._exit(0)


def kind_of(program: Program, predicate: Predicate) -> str:
    """Returns what is interesting about a program, also a signal. A child finds out."""

    def ask(tell: Callable[[str], None]) -> bool:
        tell(VALID)
        kind = predicate.kind(program)
        tell(kind or "")
        return kind is not None

    answer = Workers(1, 90.0).ask(ask)
    return f"signal {answer.signal}" if answer.ending == "signal" else answer.told


def measured(case: Case, folder: Path, seconds: float) -> list[Any]:
    """Returns a row: ops and bytes before, then ops, bytes and seconds of both."""
    with made(case, folder) as (program, predicate, _):
        text, ops = program.text, program.ops()
        (folder / "t.mlir").write_text(text)
        server, port = serve(predicate, kind_of(program, predicate), program.is_valid)
        script = folder / "check.sh"
        script.write_text(CHECK.format(port=port, file="t.mlir"))
        script.chmod(0o755)
        try:
            started = time.perf_counter()
            reduce(program, Command(f"{script} {{}}"), moves_for(program), workers=Workers(2, 120.0))
            ours = [program.ops(), len(program.text), f"{time.perf_counter() - started:.1f}"]
            return [case.kind, ops, len(text), *ours, *_by_cvise(folder, script, seconds)]
        finally:
            os.kill(server, 9)
            os.waitpid(server, 0)


def _by_cvise(folder: Path, script: Path, seconds: float) -> list[Any]:
    started = time.perf_counter()
    command = ["cvise", "--not-c", "--n", "2", "--timeout", "60", str(script), "t.mlir"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            process.wait(seconds)
            took = f"{time.perf_counter() - started:.1f}"
        except subprocess.TimeoutExpired:
            took = f"not ended after {seconds:.0f}"
            os.killpg(process.pid, signal.SIGKILL)  # Its workers too.
    text = (folder / "t.mlir").read_text()
    return [Program(make_context(), text, "t.mlir").ops(), len(text), took]


def main() -> int:
    """Prints the table. Returns 0."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--least", type=int, default=0, help="leave out programs of fewer ops than this")
    parser.add_argument("--most", type=int, default=3000, help="leave out programs of more ops than this")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kinds", nargs="*", default=list(SIZES))
    options = parser.parse_args()
    if shutil.which("cvise") is None:
        print("cvise is not installed", file=sys.stderr)
        return 1
    ours, other = ("ops, ours | bytes, ours | seconds, ours", "ops, C-Vise | bytes, C-Vise | seconds, C-Vise")
    print(f"| kind | ops | bytes | {ours} | {other} |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in CASES:
        if options.least <= case.size <= options.most and case.kind in options.kinds:
            with TemporaryDirectory() as folder:
                print("| " + " | ".join(map(str, measured(case, Path(folder), options.seconds))) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
