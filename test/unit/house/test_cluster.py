"""examples/cluster and docs/cluster.md: every chunk has its results once, whatever is lost on the way."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "cluster"
PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")

TAKE = """
func.func @main(%x: tensor<4x8xf32>, %rows: tensor<4xi64>) -> (tensor<4x4xf32>, tensor<4x8xf32>) {
  %w = graph.weight "w" : tensor<8x4xf32>
  %y = graph.take %w, %rows, axis = 0 : (tensor<8x4xf32>, tensor<4xi64>) -> tensor<4x4xf32>
  %z = graph.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y, %z : tensor<4x4xf32>, tensor<4x8xf32>
}
"""

WEIGHT = np.arange(32, dtype=np.float32).reshape(8, 4)


@pytest.mark.ci_cases(0)
@pytest.mark.parametrize("engine", ["dask"])  # Ray, a package of 80 MB, is for `make test-cluster`
def test_a_worker_is_killed_half_way(engine: str) -> None:
    """The script compares all results with NumPy. Its log of 200 chunks and of the tuner is in docs/acceptance."""
    words = [str(ROOT / "test" / "cluster.py"), "--engine", engine, "--chunks=20", "--trials=0", "--trust-code"]
    finished = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "all results the same bits as NumPy's" in finished.stdout


class Threads:
    """A cluster of two threads. Calls whose number is in `lost` fail, as they do where an engine gives up."""

    count = 2

    def __init__(self, *lost: int):
        self.pool, self.lost, self.submitted, self.sent = ThreadPoolExecutor(2), lost, 0, 0

    def send(self, path: Path, digest: str) -> Any:
        self.sent += 1
        return np.fromfile(path, np.uint8)

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        self.submitted += 1
        if self.submitted in self.lost:
            gone: Future[Any] = Future()
            gone.set_exception(RuntimeError("the worker died\ntoo often"))
            return gone
        return self.pool.submit(function, *arguments)


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The modules of the example, whose names are too common to stay."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    yield
    for path in EXAMPLE.glob("*.py"):
        sys.modules.pop(path.stem, None)


Run = Callable[..., int]


@pytest.fixture
def run(modules: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `map.py` on 4 rows a chunk, in a folder with a model and 10 rows."""
    import map as mapper  # pyright: ignore[reportMissingImports]

    monkeypatch.chdir(tmp_path)
    stepwell.compile(TAKE, weights={"w": WEIGHT}, threads=1).save("m.stepwell")
    save()

    def call(cluster: Threads, *words: str, watch: Any = None) -> int:
        monkeypatch.setattr(mapper, "open_cluster", lambda *_: nullcontext(cluster))
        default = [] if "m.stepwell" in words else ["m.stepwell", "data.npz", "-o", "out", "--engine=dask", "--chunk=4"]
        return mapper.main([*default, *words], watch)

    return call


def save(rows: int = 10, bad: int | None = None) -> np.ndarray[Any, Any]:
    """Writes the data set, and returns the rows of the weight that are taken."""
    taken = np.arange(rows) % 8
    if bad is not None:
        taken[bad] = 8
    np.savez("data.npz", x=np.arange(rows * 8, dtype=np.float32).reshape(rows, 8) - 30, rows=taken)
    return taken


def test_a_wrong_command_line_is_one_message_with_a_hint(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    import map as mapper  # pyright: ignore[reportMissingImports]

    hint = "hint: --engine dask or --engine ray says what starts the workers, or whose cluster --address is\n"
    for words, message in (
        (["m.stepwell", "d.npy", "-o", "out"], f"error: the following arguments are required: --engine\n{hint}"),
        (["m.stepwell"], f"error: the following arguments are required: data, -o/--output, --engine\n{hint}"),
        (["m.stepwell", "d.npy", "-o", "out", "--engine=dask", "--chunk=0"], "from 1 on\nhint: "),
    ):
        with pytest.raises(SystemExit) as ended:
            mapper.main(words)
        said = capsys.readouterr().err
        assert ended.value.code == 2
        assert message in said
        assert "usage" not in said
    assert mapper.main(["no.stepwell", "d.npy", "-o", "out", "--engine=dask"]) == 1
    assert capsys.readouterr().err.startswith("error: saved program 'no.stepwell': no such file")


def test_several_inputs_and_calls_of_a_fixed_size(run: Run) -> None:
    cluster = Threads()
    assert run(cluster, "--chunk=8", "--join") == 0
    np.testing.assert_array_equal(np.load("out/result0.npy"), WEIGHT[np.arange(10) % 8])
    np.testing.assert_array_equal(np.load("out/result1.npy"), np.maximum(np.load("data.npz")["x"], 0))
    assert [len(np.load(f"out/chunk-00000{n}.npz")["result0"]) for n in (0, 1)] == [8, 2]
    assert (cluster.sent, cluster.submitted) == (1, 2)
    again = Threads()
    assert (run(again, "--chunk=8"), again.sent) == (0, 0), "nothing is missing"


def test_a_chunk_that_fails_is_named_and_the_others_go_on(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    save(bad=5)
    assert run(Threads(3)) == 1
    said = capsys.readouterr().err
    assert re.search(r"^chunk 1 \(rows 4 to 7\): ExecutionError: .*graph.take: index out of range$", said, re.M)
    assert "\nchunk 2 (rows 8 to 9): RuntimeError: the worker died\n" in said
    assert "2 chunks have no results; the same command tries them again" in said
    assert [path.name for path in Path("out").glob("*.npz")] == ["chunk-000000.npz"]
    assert run(Threads(), "--errors=1", "--chunk=1", "-o", "other") == 1
    assert len(list(Path("other").glob("*.npz"))) <= 5 + 4, "none is begun after the one that failed"


def test_a_run_that_was_interrupted_goes_on(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(summary: Any) -> None:
        raise KeyboardInterrupt

    assert run(Threads(), watch=interrupt) == 130
    assert "interrupted; the same command goes on" in capsys.readouterr().err
    Path("out/chunk-000009.part").touch()
    cluster = Threads()
    assert run(cluster, "--join") == 0
    assert cluster.submitted == 2 and not list(Path("out").glob("*.part"))
    np.testing.assert_array_equal(np.load("out/result0.npy"), WEIGHT[np.arange(10) % 8])


def test_results_of_something_else_are_not_mixed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    from folder import Folder, Manifest  # pyright: ignore[reportMissingImports]

    with Folder(Path("busy"), Manifest("", "", 0, 1, ())):
        assert run(Threads(), "-o", "busy") == 1
    assert "error: 'busy' is being written to by another process" in capsys.readouterr().err
    assert run(Threads()) == 0
    assert run(Threads(), "--chunk=8") == 1
    assert "error: 'out' holds another run: chunk is 4, expected 8" in capsys.readouterr().err
    save(bad=0)
    assert run(Threads()) == 1
    assert "error: 'out' holds another run: data is " in capsys.readouterr().err
    Path("out/manifest.json").write_text("{")
    assert run(Threads()) == 1
    assert "manifest.json' is no manifest" in capsys.readouterr().err


def test_another_file_than_was_announced_is_not_loaded(modules: None) -> None:
    from chunk_worker import Settings, run_chunk  # pyright: ignore[reportMissingImports]

    answer = run_chunk(np.zeros(9, np.uint8), Settings("0" * 64, 1), [])
    assert re.match(r"ValueError: the model that came here has hash \w+, expected 0000", answer.error)
    assert not answer.loaded


X, ROWS = np.zeros((3, 8), np.float32), np.zeros(3, np.int64)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": X}, "'data.npz' holds x, expected x, rows"),
        ({"x": X, "rows": ROWS[:2]}, "'rows' has 2 rows, expected 3 as 'x' has"),
        ({"x": X[:, :7], "rows": ROWS}, "'x' has shape (3, 7), expected rows for tensor<4x8xf32>"),
        ({"x": X, "rows": ROWS.astype(np.int32)}, "'rows' has element type int32, expected int64 for tensor<4xi64>"),
    ],
)
def test_data_that_does_not_fit(
    run: Run, arrays: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez("data.npz", **arrays)
    assert run(Threads()) == 1
    assert f"error: {message}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ("tensor<1x8xf32>", "result 'result0' of the model is tensor<1x8xf32>, and input 'x' is tensor<4x8xf32>: rows"),
        ("tensor<f32>", "result 'result0' of the model is tensor<f32>, which has no rows"),
    ],
)
def test_a_model_without_rows(run: Run, result: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    axis = "[0], keepdims = true" if "x8" in result else "[0, 1]"
    stepwell.compile(
        f"""
func.func @main(%x: tensor<4x8xf32>) -> {result} {{
  %y = graph.sum %x, axis = {axis} : (tensor<4x8xf32>) -> {result}
  func.return %y : {result}
}}
"""
    ).save("m.stepwell")
    assert run(Threads()) == 1
    assert f"error: {message}" in capsys.readouterr().err


def test_the_page(run: Run) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    exec(blocks[0], {})
    (line,) = re.findall(r"^python examples/cluster/map.py (m.stepwell .*--join)$", PAGE, re.MULTILINE)
    assert run(Threads(), *line.split()) == 0
    exec(blocks[1], {"np": np})
    from map import argument_parser  # pyright: ignore[reportMissingImports]
    from tune import argument_parser as tuning  # pyright: ignore[reportMissingImports]

    for line in re.findall(r"^python examples/cluster/map.py (.*)$", PAGE, re.MULTILINE):
        argument_parser().parse_args(line.split())
    (line,) = re.findall(r"^python examples/cluster/tune.py (.*)$", PAGE, re.MULTILINE)
    assert tuning().parse_args(line.split()).trials == 64
    for option in re.findall(r"^\| `(--[a-z-]+)", PAGE, re.MULTILINE):
        assert f'"{option}"' in (EXAMPLE / "map.py").read_text(encoding="utf-8")


def test_every_file_is_mentioned() -> None:
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert all(f"[{path.name}]({path.name})" in readme for path in EXAMPLE.glob("*.py"))
