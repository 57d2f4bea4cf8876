"""examples/serving and docs/serving.md: the server answers a real client rightly, within its limits, until it ends."""

from __future__ import annotations

import asyncio
import io
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import stepwell

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "serving"
PAGE = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
NPY, RAW = {"content-type": "application/x-npy"}, {"content-type": "application/octet-stream"}
NPZ = {"content-type": "application/x-npz"}
JSON = {"content-type": "application/json"}

OPEN = """
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %w = graph.weight "w" : tensor<8x4xf32>
  %y = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}
"""

FIXED = """
func.func @main(%x: tensor<4x8xf32>, %rows: tensor<4xi64>) -> tensor<4x4xf32> {
  %w = graph.weight "w" : tensor<8x4xf32>
  %y = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %part = graph.take %w, %rows, axis = 0 : (tensor<8x4xf32>, tensor<4xi64>) -> tensor<4x4xf32>
  %z = graph.add %y, %part : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %z : tensor<4x4xf32>
}
"""

WEIGHT = np.arange(32, dtype=np.float32).reshape(8, 4) / 8


class Server:
    """A server in a process of its own."""

    def __init__(self, folder: Path, text: str, *options: str):
        stepwell.compile(text, weights={"w": WEIGHT}, threads=1).save(folder / "m.stepwell")
        command = [sys.executable, str(EXAMPLE / "serve.py"), "m.stepwell", "--port=0", "--log-level=warning", *options]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().split()[-1]
        self.client = httpx.Client(base_url=self.url, timeout=20)
        while self.client.get("/readyz").status_code != 200:
            assert self.client.get("/healthz").status_code == 200

    def predict(self, content: bytes, headers: dict[str, str]) -> httpx.Response:
        return self.client.post("/v1/predict", content=content, headers=headers)

    def end(self) -> int:
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(tmp_path_factory.mktemp("open"), OPEN, "--max-batch=4", "--max-body=100000", "--trust-code")
    yield found
    assert found.end() == 0


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits for four rows, with room for two requests."""
    found = Server(tmp_path_factory.mktemp("fixed"), FIXED, "--max-wait=400", "--queue=2")
    yield found
    found.end()


def npy(array: np.ndarray[Any, Any]) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(**arrays: np.ndarray[Any, Any]) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def zipped(array: np.ndarray[Any, Any], method: int, size: int | None = None) -> bytes:
    """Returns the bytes of a zip file, which may say that its part has another size."""
    out, body = io.BytesIO(), npy(array)
    with zipfile.ZipFile(out, "w", method) as file:
        file.writestr("x.npy", body)
    told = len(body) if size is None else size
    return out.getvalue().replace(len(body).to_bytes(4, "little"), told.to_bytes(4, "little"))


def in_json(x: np.ndarray[Any, Any]) -> tuple[bytes, dict[str, str], Callable[[httpx.Response], Any]]:
    return json.dumps({"inputs": {"x": x.tolist()}}).encode(), JSON, lambda answer: answer.json()["outputs"]["result0"]


def in_npy(x: np.ndarray[Any, Any]) -> tuple[bytes, dict[str, str], Callable[[httpx.Response], Any]]:
    return npy(x), NPY, lambda answer: np.load(io.BytesIO(answer.content))


def in_bytes(x: np.ndarray[Any, Any]) -> tuple[bytes, dict[str, str], Callable[[httpx.Response], Any]]:
    shape = {"x-shape": f"{len(x)}x8"}
    return x.tobytes(), {**RAW, **shape}, lambda answer: np.frombuffer(answer.content, np.float32).reshape(-1, 4)


def test_many_threads_get_their_own_answers(server: Server) -> None:
    forms = [in_json, in_npy, in_bytes]

    def ask(thread: int) -> None:
        random = np.random.default_rng(thread)
        for n in range(25):
            x = random.random((1 + n % 3, 8)).astype(np.float32)
            body, headers, read = forms[n % len(forms)](x)
            answer = server.predict(body, headers)
            assert answer.status_code == 200, answer.text
            np.testing.assert_allclose(read(answer), x @ WEIGHT, rtol=1e-5)

    before = metrics(server)
    with ThreadPoolExecutor(8) as pool:
        for each in [pool.submit(ask, n) for n in range(8)]:
            each.result()
    after = metrics(server)
    gained = {name: value - before.get(name, 0) for name, value in after.items()}
    assert gained['stepwell_requests_total{code="200"}'] == gained["stepwell_request_seconds_count"] == 200
    assert gained["stepwell_call_rows_sum"] == 8 * sum(1 + n % 3 for n in range(25))
    assert 0 < gained["stepwell_call_rows_count"] <= 200
    assert after["stepwell_queue_length"] == 0
    assert after['stepwell_call_rows_bucket{le="+Inf"}'] == after["stepwell_call_rows_count"]


def metrics(server: Server) -> dict[str, float]:
    text = server.client.get("/metrics").text
    return {name: float(value) for name, value in re.findall(r"^([^#\s]\S*) (\S+)$", text, re.MULTILINE)}


ONE = np.ones((1, 8), np.float32)
CASES = [
    (b"{", JSON, 422, "the body is no JSON"),
    (b"[1]", JSON, 422, "the body has no inputs"),
    (b'{"inputs": {"y": [1]}}', JSON, 422, "there is no input 'y', expected x"),
    (b'{"inputs": {}}', JSON, 422, "input 'x' is missing"),
    (b'{"inputs": [[1, 2]]}', JSON, 422, "input 'x' has shape 1x2, expected tensor<?x8xf32>"),
    (b'{"inputs": [[1], [1, 2]]}', JSON, 422, "input 'x' holds no numbers, or rows of different lengths"),
    (b'{"inputs": ["one"]}', JSON, 422, "input 'x' holds \"one\", expected tensor<?x8xf32>"),
    (b'{"inputs": [["1_0", 2]]}', JSON, 422, "input 'x' holds \"1_0\", expected"),
    (b'{"inputs": [[1, true]]}', JSON, 422, "input 'x' holds true, expected"),
    (b'{"inputs": [[1, {"a": 1}]]}', JSON, 422, "input 'x' holds {\"a\": 1}, expected"),
    (b'{"inputs": {"\\ud800": 1}}', JSON, 422, "there is no input '\\ud800', expected x"),
    (npy(ONE.astype(np.float64)), NPY, 422, "input 'x' has element type float64, expected tensor<?x8xf32>"),
    (npy(ONE)[:-1], NPY, 422, "there are 31 bytes of elements, expected 32 for shape (1, 8) of float32"),
    (npy(np.array([None])), NPY, 422, "the array holds Python objects"),
    (b"no file", NPY, 422, "the body is no .npy file"),
    (npy(ONE[:0]), NPY, 422, "there are 0 rows, expected 1 to 4"),
    (npy(np.ones((7, 8), np.float32)), NPY, 422, "there are 7 rows, expected 1 to 4"),
    (b"no file", NPZ, 422, "the body is no .npz file"),
    (npz(x=np.zeros((9, 10000), np.float32)), NPZ, 422, "the arrays have 360128 bytes, expected at most 100000"),
    (zipped(ONE, zipfile.ZIP_LZMA), NPZ, 422, "'x.npy' is packed by method 14, expected stored or deflated"),
    (zipped(np.ones((90000, 8)), zipfile.ZIP_DEFLATED, 160), NPZ, 422, "the body is no .npz file: Bad CRC"),
    (ONE.tobytes(), RAW, 422, "the header X-Shape is '', expected sizes as in 2x784"),
    (ONE.tobytes(), {**RAW, "x-shape": "-1x-8"}, 422, "the header X-Shape is '-1x-8', expected sizes as in 2x784"),
    (ONE.tobytes(), {**RAW, "x-shape": "1x0_8"}, 422, "the header X-Shape is '1x0_8', expected sizes"),
    (ONE.tobytes(), {**RAW, "x-shape": "1x9"}, 422, "there are 32 bytes of elements, expected 36"),
    (b"x", {"content-type": "text/plain"}, 415, "media type 'text/plain', expected one of application/json"),
    (b"x" * 100001, JSON, 413, "the body is too large"),
    (b"x" * 1000001, JSON, 413, "the body is too large"),
]  # fmt: skip


@pytest.mark.ci_cases(8)
@pytest.mark.parametrize(("body", "headers", "status", "message"), CASES, ids=[case[3][:30] for case in CASES])
def test_what_is_refused(server: Server, body: bytes, headers: dict[str, str], status: int, message: str) -> None:
    # A body that is much too long is not read, so its client may see that the connection is closed.
    with httpx.Client(base_url=server.url) as client:
        try:
            answer = client.post("/v1/predict", content=body, headers=headers)
        except httpx.TransportError:
            assert len(body) > 400_000
            return
    assert answer.status_code == status
    assert message in answer.json()["error"]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--port=99999", "--port is 99999, expected 0 to 65535"),
        ("--timeout=-1", "--timeout is -1, expected seconds above 0"),
        ("--timeout=nan", "--timeout is nan, expected seconds above 0"),
        ("--max-wait=-1", "--max-wait is -1, expected milliseconds of at least 0"),
        *[(f"--{name}=0", f"--{name} is 0, expected at least 1") for name in ("max-body", "connections", "threads")],
    ],
)
def test_numbers_that_options_cannot_be(option: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "m.stepwell").touch()
    command = [sys.executable, str(EXAMPLE / "serve.py"), "m.stepwell", option]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith(f"error: {message}")


def refused_options(tmp_path: Path, *options: str) -> str:
    (tmp_path / "m.stepwell").touch()
    command = [sys.executable, str(EXAMPLE / "serve.py"), "m.stepwell", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    return done.stderr


def test_a_place_where_nothing_can_listen_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        errors = refused_options(tmp_path, f"--port={port}")
    assert errors == f"serve.py: error: cannot listen on 127.0.0.1:{port}: address already in use\n"
    unknown = refused_options(tmp_path, "--port=0", "--host=no.host.invalid")
    assert unknown.startswith("serve.py: error: cannot listen on no.host.invalid:0: ") and unknown.count("\n") == 1
    assert refused_options(tmp_path, "--port=0", "--host=a..b") == (
        "serve.py: error: cannot listen on a..b:0: this cannot be the name of a host\n"
    )


def test_a_log_level_is_one_that_uvicorn_knows(tmp_path: Path) -> None:
    assert "argument --log-level: invalid choice: 'foo' (choose from " in refused_options(tmp_path, "--log-level=foo")


TWO = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %w = graph.weight "w" : tensor<8x4xf32>
  %s = graph.sum %w : (tensor<8x4xf32>) -> tensor<f32>
  %0 = graph.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = graph.add %0, %s : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  func.return %1 : tensor<?xf32>
}
"""


def test_inputs_whose_sizes_do_not_agree_are_answered_422(tmp_path: Path) -> None:
    server = Server(tmp_path, TWO, "--gather=never")
    try:
        good, bad = (json.dumps({"inputs": {"x": [1, 2], "y": y}}).encode() for y in ([3, 4], [3, 4, 5]))
        assert server.predict(good, JSON).status_code == 200
        answer = server.predict(bad, JSON)
        assert answer.status_code == 422
        assert "3" in answer.json()["error"]
    finally:
        server.end()


def test_a_chunked_body_that_is_too_large(server: Server) -> None:
    answer = server.client.post("/v1/predict", content=iter([b"x" * 60000] * 3), headers=JSON)
    assert answer.status_code == 413


def test_numbers_that_json_does_not_have(server: Server) -> None:
    answer = server.predict(b'{"inputs": [["Infinity", 1, 1, 1, 1, 1, 1, 1]]}', JSON)
    assert answer.json()["outputs"]["result0"][0][1:] == ["Infinity"] * 3
    answer = server.predict(b'{"inputs": [[null, 1, 1, 1, 1, 1, 1, 1]]}', JSON)
    assert answer.json()["outputs"]["result0"][0] == ["NaN"] * 4
    assert (
        server.predict(b'{"inputs": [[1,1,1,1,1,1,1,1]]}', {**JSON, "accept": "*/*, application/x-npz"}).content[:2]
        == b"PK"
    )


def test_every_file_is_mentioned() -> None:
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert all(f"[{path.name}]({path.name})" in readme for path in EXAMPLE.glob("*.py"))


def ask_at_once(server: Server, bodies: Sequence[bytes]) -> list[httpx.Response]:
    """Returns the answers to requests of one moment."""
    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(lambda body: server.predict(body, NPZ), bodies))


def test_a_fixed_batch_is_filled(patient: Server) -> None:
    x, rows = np.ones((3, 8), np.float32), np.array([0, 5, 7])
    answer = patient.predict(npz(x=x, rows=rows), NPZ)
    np.testing.assert_allclose(np.load(io.BytesIO(answer.content))["result0"], x @ WEIGHT + WEIGHT[rows])
    assert patient.client.get("/v1/model").json()["rows"] == [4]
    wrong = patient.predict(npz(x=x, rows=rows[:2]), NPZ)
    assert (wrong.status_code, wrong.json()["error"]) == (422, "input 'rows' has 2 rows, expected 3 as 'x' has")
    several = patient.predict(npy(x), NPY)
    assert several.json()["error"].startswith("application/x-npy holds one array, and the model takes 2")


def test_a_request_fails_alone(patient: Server) -> None:
    good, bad = (npz(x=np.ones((2, 8), np.float32), rows=np.array([0, row])) for row in (1, 8))
    first, second = ask_at_once(patient, [good, bad])
    assert (first.status_code, second.status_code) == (200, 422)
    assert "graph.take: index out of range" in second.json()["error"]


def test_a_full_queue_is_an_answer(patient: Server) -> None:
    answers = ask_at_once(patient, [npz(x=np.ones((1, 8), np.float32), rows=np.array([0]))] * 8)
    assert {each.status_code for each in answers} == {200, 503}
    assert all(each.headers["retry-after"] == "1" for each in answers if each.status_code == 503)


def test_what_waits_is_answered_before_the_end(tmp_path: Path) -> None:
    server = Server(tmp_path, OPEN, "--max-wait=300", "--max-batch=4")
    answers: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: answers.append(server.predict(npy(ONE), NPY)))
    thread.start()
    while metrics_of_waiting(server) == 0 and thread.is_alive():
        pass
    server.process.send_signal(signal.SIGTERM)
    thread.join()
    assert [each.status_code for each in answers] == [200]
    assert server.process.wait(20) == 0


def metrics_of_waiting(server: Server) -> float:
    with httpx.Client(base_url=server.url) as client:
        return float(re.findall(r"^stepwell_queue_length (\S+)$", client.get("/metrics").text, re.MULTILINE)[0])


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The modules of the example, whose names are too common to stay."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    yield
    for path in EXAMPLE.glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_rows_that_depend_on_each_other_are_not_gathered(modules: None) -> None:
    from engines import Tensor  # pyright: ignore[reportMissingImports]
    from model import BadInput, Model  # pyright: ignore[reportMissingImports]

    class Fake:
        def __init__(self, function: Callable[..., Any]):
            self.inputs = self.outputs = (Tensor("x", np.dtype(np.float32), (None, 3), "rows"),)
            self.run, self.keep = lambda arrays: [function(arrays[0])], lambda programs: None

    assert Model(Fake(np.exp), 6, "auto", 1).sizes == (1, 2, 4, 6)
    whole = Model(Fake(lambda x: x - x.mean(axis=0)), 6, "auto", 1)
    assert not whole.gathers
    assert whole.check([np.ones((2, 3), np.float32)]) == 1
    with pytest.raises(BadInput, match="shapes 5x3 are new, and at most 1 are compiled for: 2x3"):
        whole.check([np.ones((5, 3), np.float32)])
    whole.worked(((2, 3),), False)
    assert whole.check([np.ones((5, 3), np.float32)]) == 1
    assert Model(Fake(lambda x: x - x.mean(axis=0)), 6, "always", 1).gathers


@pytest.mark.parametrize("option", re.findall(r"^\| `(--[a-z-]+)", PAGE, re.MULTILINE))
def test_the_options_of_the_page_exist(option: str) -> None:
    assert f'"{option}"' in (EXAMPLE / "serve.py").read_text(encoding="utf-8")


def test_a_model_that_cannot_be_loaded(modules: None) -> None:
    from app import Limits, Service  # pyright: ignore[reportMissingImports]

    failed: list[bool] = []
    service = Service(lambda: stepwell.load("missing.stepwell"), Limits(), lambda: failed.append(True))
    asyncio.run(service._start())
    health, ready = (asyncio.run(answer(None)) for answer in (service.health, service.ready))
    assert (failed, health.status_code, ready.status_code) == ([True], 500, 503)
    assert b"missing.stepwell" in health.body


@pytest.mark.ci_cases(0)
def test_answers_do_not_wait_for_acknowledgements(modules: None) -> None:
    """asyncio turns Nagle's algorithm off for sockets that name their protocol."""
    from serve import listen  # pyright: ignore[reportMissingImports]

    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
