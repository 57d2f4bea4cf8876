"""
Measures a server: many clients at once, every answer compared with the program called directly.

`python load.py m.stepwell --clients 64 --requests 20000` starts `serve.py`, sends requests, prints throughput, latency,
memory and processor time, and ends the server. The exit code is 1 where an answer was wrong or missing.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from engines import Array, Tensor, open_engine

HERE = Path(__file__).resolve().parent
HEAD = """POST /v1/predict HTTP/1.1
Host: localhost
Content-Type: application/octet-stream
X-Shape: {}
Content-Length: {}

"""


@dataclass
class Case:
    """A request and its right answer."""

    request: bytes
    expected: Array


@dataclass
class Outcome:
    """What one client saw."""

    seconds: list[float] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    wrong: int = 0
    other_bits: int = 0


def cases_of(path: Path, engine: str, rows: int, count: int) -> list[Case]:
    """Returns random requests, and what the engine gives where it is called with each of them alone."""
    loaded = open_engine(path, engine, threads=1)
    if len(loaded.inputs) != 1 or len(loaded.outputs) != 1:
        raise SystemExit("load.py measures models with one input and one output")
    (tensor,) = loaded.inputs
    random = np.random.default_rng(0)
    cases = []
    for _ in range(count):
        array = random.random([rows, *[size or 1 for size in (tensor.shape or (1,))[1:]]]).astype(tensor.dtype)
        (expected,) = loaded.run([filled(array, tensor)])
        head = HEAD.format("x".join(map(str, array.shape)), array.nbytes).replace("\n", "\r\n")
        cases.append(Case(head.encode() + array.tobytes(), np.asarray(expected)[:rows]))
    return cases


def filled(array: Array, tensor: Tensor) -> Array:
    """Returns the array with as many rows as a model with a fixed batch takes."""
    size = (tensor.shape or (None,))[0]
    return array if size is None else np.concatenate([array, *[array[-1:]] * (size - len(array))])


async def client(port: int, cases: list[Case], first: int, requests: int, outcome: Outcome) -> None:
    """
    Sends requests one after the other over one connection.

    It knows just enough of HTTP, since a whole client takes more of the processor than the server does.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for n in range(first, first + requests):
        case = cases[n % len(cases)]
        start = time.perf_counter()
        writer.write(case.request)
        head = await reader.readuntil(b"\r\n\r\n")
        (size,) = re.findall(rb"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(size))
        outcome.seconds.append(time.perf_counter() - start)
        status = int(head.split(None, 2)[1])
        outcome.codes[status] += 1
        if status == 200 and body != case.expected.tobytes():
            found = np.frombuffer(body, case.expected.dtype).reshape(case.expected.shape)
            right = np.allclose(found, case.expected, rtol=1e-4, atol=1e-4)
            outcome.wrong += not right
            outcome.other_bits += right
    writer.close()


def run(port: int, cases: list[Case], clients: int, requests: int) -> Outcome:
    """Returns what all clients saw together."""
    total = Outcome()
    shares = [requests // clients + (n < requests % clients) for n in range(clients)]

    async def all_clients() -> None:
        await asyncio.gather(*(client(port, cases, 7 * n, share, total) for n, share in enumerate(shares)))

    asyncio.run(all_clients())
    return total


def get(port: int, path: str) -> tuple[int, str]:
    """Returns the status and the text of a page of the server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def metric(port: int, name: str) -> float:
    """Returns one number of /metrics."""
    (found,) = re.findall(rf"^{name} (\S+)$", get(port, "/metrics")[1], re.MULTILINE)
    return float(found)


def processor_seconds(pid: int) -> float:
    """Returns the processor time of a process, as Linux counts it."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def start(model: Path, engine: str, options: list[str]) -> tuple[subprocess.Popen[str], int]:
    """Starts a server and waits until it is ready. Returns the process and the port."""
    command = [sys.executable, str(HERE / "serve.py"), str(model), "--port=0", f"--engine={engine}", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    found = re.search(r":(\d+)$", server.stdout.readline())
    if found is None:
        raise SystemExit("the server did not start")
    port = int(found[1])
    while get(port, "/readyz")[0] != 200:
        time.sleep(0.05)
    return server, port


def measure(options: argparse.Namespace, rest: list[str]) -> bool:
    """Prints the figures of one server. Returns whether all answers were right."""
    cases = cases_of(options.model, options.engine, options.rows, 64)
    server, port = start(options.model, options.engine, ["--log-level=warning", *rest])
    try:
        early = options.warm_up
        outcomes = [run(port, cases, options.clients, early)]
        memory, processor, began = metric(port, MEMORY), processor_seconds(server.pid), time.perf_counter()
        outcomes.append(run(port, cases, options.clients, options.requests - early))
        seconds, used = time.perf_counter() - began, processor_seconds(server.pid) - processor
        grown, calls = metric(port, MEMORY), metric(port, "stepwell_call_rows_count")
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(60)
    times = np.array(outcomes[1].seconds) * 1000
    wrong, bits = (sum(getattr(each, name) for each in outcomes) for name in ("wrong", "other_bits"))
    answers = sum((each.codes for each in outcomes), Counter[int]())
    print(f"{options.engine} {options.model.name}: {options.clients} clients, {options.requests} requests")
    print(f"  answers {dict(answers)}, wrong {wrong}, right with other bits {bits}")
    print(
        f"  {len(times) / seconds:.0f} requests/s, p50 {np.median(times):.2f} ms, p99 {np.percentile(times, 99):.2f} ms"
    )
    rows = options.requests * options.rows / calls
    print(f"  rows of a call {rows:.1f}, processor time of the server {used / len(times) * 1e3:.3f} ms per request")
    print(f"  memory after {early}: {memory / 1e6:.1f} MB, at the end {grown / 1e6:.1f} MB; exit code {code}")
    return not wrong and set(answers) == {200} and code == 0


MEMORY = "process_resident_memory_bytes"


def main() -> int:
    """Returns 1 where an answer was wrong. Options that are not known here go to `serve.py`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--engine", choices=["stepwell", "onnxruntime"], default="stepwell")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--warm-up", type=int, help="requests before memory is looked at; a tenth of all without it")
    parser.add_argument("--rows", type=int, default=1, help="rows of a request")
    options, rest = parser.parse_known_args()
    options.warm_up = options.requests // 10 if options.warm_up is None else options.warm_up
    return 0 if measure(options, rest) else 1


if __name__ == "__main__":
    raise SystemExit(main())
