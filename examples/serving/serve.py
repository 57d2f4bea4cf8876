"""
Serves a model over HTTP: `python serve.py m.stepwell --port 8000`. docs/serving.md tells what clients send.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path

import uvicorn
from app import Limits, make_app
from engines import open_engine
from uvicorn.config import LOG_LEVELS


def argument_parser() -> argparse.ArgumentParser:
    """Returns the options of the command."""
    limits = Limits()
    parser = argparse.ArgumentParser(description="Serves a model over HTTP (docs/serving.md).")
    add = parser.add_argument
    add("model", type=Path, help="a saved program (.stepwell), or a model to compile (.onnx, .mlir)")
    add("--host", default="127.0.0.1")
    add("--port", type=int, default=8000, help="0 takes a free one, which is printed")
    add("--threads", type=int, default=1, help="threads of a call")
    add("--workers", type=int, default=limits.workers, help="calls at once")
    add("--trust-code", action="store_true", help="run the machine code in the file (docs/saving.md)")
    add("--engine", choices=["stepwell", "onnxruntime"], default="stepwell", help="what runs the model")
    add("--gather", choices=["auto", "always", "never"], default="auto", help="whether requests share calls")
    add("--max-batch", type=int, default=limits.max_rows, help="most rows of a call, where the model leaves them open")
    add("--max-wait", type=float, default=limits.max_wait * 1000, help="milliseconds to wait for more requests")
    add("--queue", type=int, default=limits.queue, help="most requests that wait")
    add("--max-body", type=int, default=limits.body, help="most bytes of a request")
    add("--max-shapes", type=int, default=limits.shapes, help="most shapes, without rows, to compile for")
    add("--connections", type=int, default=1024, help="most clients at once")
    add("--timeout", type=float, default=limits.timeout, help="seconds that a request may wait")
    add("--log-level", choices=list(LOG_LEVELS), default="info", help="how much uvicorn says")
    return parser


def check_numbers(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Ends the command where an option is a number that it cannot be."""
    for name in ("threads", "max_batch", "queue", "workers", "max_shapes", "max_body", "connections"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} is {getattr(options, name)}, expected at least 1")
    if not 0 <= options.port <= 65535:
        parser.error(f"--port is {options.port}, expected 0 to 65535")
    if not 0 < options.timeout < inf:
        parser.error(f"--timeout is {options.timeout:g}, expected seconds above 0")
    if not 0 <= options.max_wait < inf:
        parser.error(f"--max-wait is {options.max_wait:g}, expected milliseconds of at least 0")


def limits_of(options: argparse.Namespace) -> Limits:
    """Returns the limits that the options say."""
    return Limits(
        max_rows=options.max_batch,
        max_wait=options.max_wait / 1000,
        queue=options.queue,
        body=options.max_body,
        timeout=options.timeout,
        workers=options.workers,
        shapes=options.max_shapes,
        gather=options.gather,
    )


def listen(host: str, port: int) -> socket.socket:
    """
    Returns a socket that takes connections.

    It names its protocol, as `socket.create_server` does not. Without it asyncio leaves Nagle's algorithm on, and each
    answer waits 40 ms for a delayed acknowledgement.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(address)
    listening.listen(1024)
    return listening


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until a signal comes. Returns 1 where the model cannot be loaded."""
    parser = argument_parser()
    options = parser.parse_args(arguments)
    if not options.model.exists():
        parser.error(f"there is no file '{options.model}'")
    check_numbers(parser, options)
    loaded = []

    def failed() -> None:
        loaded.append(False)
        server.should_exit = True

    load = partial(open_engine, options.model, options.engine, options.threads, options.trust_code)
    app = make_app(load, limits_of(options), failed)
    config = uvicorn.Config(
        app,
        log_level=options.log_level,
        access_log=False,
        limit_concurrency=options.connections,
        timeout_graceful_shutdown=30,
    )
    server = uvicorn.Server(config)
    try:
        listening = listen(options.host, options.port)
    except (OSError, UnicodeError) as error:  # a name of a host that cannot be one is a UnicodeError
        reason = getattr(error, "strerror", None) or "this cannot be the name of a host"
        parser.exit(2, f"{parser.prog}: error: cannot listen on {options.host}:{options.port}: {reason.lower()}\n")
    with listening:
        host, port = listening.getsockname()[:2]
        print(f"serving {options.model} on http://{host}:{port}", flush=True)
        # The server ends by itself and raises the signal again, which would end the process with its number.
        signal.signal(signal.SIGTERM, lambda *_: None)
        with suppress(KeyboardInterrupt):
            asyncio.run(server.serve(sockets=[listening]))
    return 1 if loaded else 0


if __name__ == "__main__":
    raise SystemExit(main())
