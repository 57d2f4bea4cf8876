"""
bench/: engines that crash, hang, lack an op or are wrong are reported and the run goes on; figures, tables and the
page.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"
sys.path.insert(0, str(BENCH))

import page  # noqa: E402
from suite import measure  # noqa: E402
from suite.figures import Row, bootstrap, class_figures, make_row  # noqa: E402
from suite.measure import Harness, Measurement  # noqa: E402
from suite.report import aligned, case_cells, case_header, markdown, troubles  # noqa: E402
from threads import Speeds  # noqa: E402

CASE: dict[str, Any] = {
    "name": "small",
    "class": "C1-small",
    "kind": "gemm",
    "sizes": [8, 8, 8],
    "dtype": "f32",
}

ENGINE = """
import os, time
import numpy as np
from suite.engine import Unsupported, Variant

class Right:
    def __init__(self, program, arrays):
        self.a, self.b = (arrays[value.name] for value in program.inputs)
    def __call__(self):
        self.y = self.a @ self.b
    def results(self):
        return [self.y]

def variants(program, arrays):
    right = Right(program, arrays)
    {body}
"""

BODIES = {
    "crashes": "os._exit(3)\n    yield",
    "crashes_second": 'yield Variant("first", right, right.results)\n    os._exit(3)',
    "hangs": "time.sleep(1000)\n    yield",
    "wrong": 'yield Variant("zeros", right, lambda: [right.y * 1.01])',
    "raises": 'yield ValueError("no such size")',
    "lacks": 'yield Unsupported("no matmul")',
    "threads": 'yield Variant(os.environ["STEPWELL_THREADS"] + os.environ["OMP_NUM_THREADS"], right, right.results)',
    "right": 'yield ValueError("a bad variant")\n    yield Variant("good", right, right.results)',
}


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules `bench_crashes` … on the path of the workers."""
    for name, body in BODIES.items():
        (tmp_path / f"bench_{name}.py").write_text(ENGINE.format(body=body))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def measured(*names: str) -> Measurement:
    with Harness([f"bench_{name}" for name in names], None, 2, 0.001) as harness:
        assert harness.missing == {}
        return harness.measure(CASE)


def test_trouble_is_reported_and_others_go_on(engines: None):
    found = measured("crashes", "wrong", "raises", "lacks", "right")
    assert {name: why.split(":")[0] for name, why in found.trouble.items()} == {
        "bench_crashes": "lost",
        "bench_wrong": "wrong",
        "bench_raises": "failed",
        "bench_lacks": "unsupported",
    }
    assert "code 3" in found.trouble["bench_crashes"]
    assert found.variants["bench_right"] == "good"
    assert found.variants["roof"] in ("copy", "stream")
    assert len(found.seconds["bench_right"]) == len(found.peak_gflops) == 2
    assert min(found.seconds["bench_right"]) > 0


def test_engines_are_told_the_number_of_threads_and_several_have_no_roof(engines: None):
    with Harness(["bench_threads"], None, 1, 0.001, threads=2) as harness:
        found = harness.measure(CASE)
    assert found.variants == {"bench_threads": "22"}
    assert found.trouble == {}


def test_an_engine_that_hangs_is_ended(engines: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(measure, "LOAD_LIMIT", 3.0)
    found = measured("hangs", "right")
    assert "no answer within 3 s" in found.trouble["bench_hangs"]
    assert "bench_right" in found.seconds


def test_a_lost_engine_tries_its_first_variant(engines: None):
    found = measured("crashes_second")
    assert found.trouble == {}
    assert found.variants["bench_crashes_second"] == "first"


def test_an_engine_that_is_not_installed_is_missing():
    with Harness(["no_such_engine"], None, 1, 0.001) as harness:
        assert list(harness.missing) == ["no_such_engine"]
        assert "no_such_engine" in harness.missing["no_such_engine"]
        assert harness.measure(CASE).seconds.keys() == {"roof"}


def sample(ratios: list[float], trouble: dict[str, str] | None = None) -> Row:
    """A row of a measurement in which ours takes 1 ms and NumPy `ratios` ms."""
    seconds = {"stepwell": [1e-3] * len(ratios), "numpy": [1e-3 * ratio for ratio in ratios]}
    seconds |= {"torch": [1.0] * len(ratios), "roof": [1e-6] * len(ratios)}
    return make_row(Measurement(CASE, seconds, trouble=trouble or {}, peak_gflops=[1e-3] * len(ratios)))


def test_a_row_has_the_ratio_to_the_best_peer():
    row = sample([1.0, 2.0, 3.0])
    assert (row.best_peer, row.ratio) == ("numpy", 2.0)
    assert row.interval == (1.0, 3.0)
    assert row.microseconds["stepwell"] == pytest.approx(1000)
    assert row.gflops == pytest.approx(2 * 8**3 / 1e-3 / 1e9)
    assert row.roof_share == pytest.approx(1.024)
    assert row.ceiling == pytest.approx(2.0 / 1.024)


def test_the_interval_is_that_of_the_median():
    low, high = bootstrap(np.linspace(0.9, 1.1, 41))
    assert 0.9 < low < 1.0 < high < 1.1
    assert bootstrap(np.ones(15)) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([1.3, 1.3], "reaches the goal"),
        ([1.1, 1.1], "passes the floor"),
        ([1.0, 1.0], "below the floor"),
        ([2.0, 0.8], "fails: small is below 0.85"),
    ],
)
def test_verdicts_of_classes(ratios: list[float], verdict: str):
    asked = {"title": "GEMM", "floor": 1.05, "goal": 1.2}
    rows = [sample([ratio]) for ratio in ratios]
    rows[0].name = "other"
    figures = class_figures("C1-small", asked, rows)
    assert figures.verdict == verdict
    assert figures.mean == pytest.approx(np.sqrt(ratios[0] * ratios[1]))


def test_a_class_fails_when_ours_is_wrong():
    row = sample([2.0])
    row.trouble["stepwell"] = "wrong: x"
    figures = class_figures("C1-small", {"title": "", "floor": 1.0, "goal": 1.0}, [row])
    assert figures.verdict == "fails: 1 of our results are missing or wrong"


def test_tables_show_trouble_in_words():
    row = sample([2.0], {"openvino": "lost: no answer", "onnxruntime": "unsupported: x"})
    cells = case_cells(row, ["stepwell", "openvino"])
    assert cells[:3] == ["small", "1000", "lost"]
    assert len(cells) == len(case_header(["stepwell", "openvino"]))
    assert troubles([row]) == ["small: openvino lost: no answer"]
    assert markdown(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert aligned(["a", "b"], [["long", "10"]]) == "a      b\nlong  10"


def test_speed_up_counts_only_where_there_were_two_cores():
    lines = list(Speeds("gemm", True, [1.7, 1.9], [1.85, 1.2], [1.0]).lines())
    assert "1.70 × one (floor 1.6): passes" in lines[1]
    assert "1.00 × one (floor 0.8): passes" in lines[2]
    lines = list(Speeds("gemm", False, [1.9], [1.2], []).lines())
    assert "DIFFERENT" in lines[0] and "not measurable" in lines[1] and len(lines) == 2


def run_script(name: str, *arguments: str) -> str:
    command = [sys.executable, str(BENCH / name), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the spinner is pinned to a CPU")
def test_a_spinning_process_ends_with_the_one_that_started_it():
    """Also where that is killed, and cannot clean up."""
    code = f"""
import os, sys, time
sys.path.insert(0, {str(BENCH)!r})
from threads import spinner
with spinner(min(os.sched_getaffinity(0))) as process:
    print(process.pid, flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        spinning = int(parent.stdout.readline())
        assert Path(f"/proc/{spinning}").exists()
        parent.kill()
    end = time.monotonic() + 30
    while _runs(spinning) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _runs(spinning)


def _runs(pid: int) -> bool:
    """Whether the process is there, other than as a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.ci_cases(0)
def test_a_quick_run_and_its_page(tmp_path: Path):
    kernels, compile_time, copy = tmp_path / "k.json", tmp_path / "c.json", tmp_path / "page.md"
    names = ["gemm_100x100x100", "empty"]
    printed = run_script(
        "kernels.py",
        "--quick",
        "--case",
        *names,
        "--engines",
        "stepwell",
        "numpy",
        "absent",
        "--json",
        str(kernels),
    )
    assert "absent is skipped" in printed and "GEMM, up to 256" in printed
    result = json.loads(kernels.read_text())
    assert [row["name"] for row in result["cases"]] == names
    for row in result["cases"]:
        assert row["trouble"] == {} and row["best_peer"] == "numpy"
        assert set(row["microseconds"]) == {"stepwell", "numpy", "roof"}
    run_script("compile_time.py", "--quick", "--json", str(compile_time))
    before = page.PAGE.read_text(encoding="utf-8")
    copy.write_text(before, encoding="utf-8")
    for _ in range(2):  # The second run replaces the section of the first one, and that of no other processor.
        page.main([str(kernels), "--compile-time", str(compile_time), "--page", str(copy), "--processor", "Z80"])
    text = copy.read_text(encoding="utf-8")
    for part in ("| gemm_100x100x100 |", "#### Compile time", page.END):
        assert text.count(part) == before.count(part) + 1
    assert str(tmp_path) not in text


@pytest.mark.parametrize(
    "machine, title",
    [
        ({"cpu": "AMD EPYC", "kind": "Zen 5"}, "AMD EPYC (Zen 5)"),
        ({"cpu": "Intel(R) Xeon(R) Processor @ 2.10GHz", "kind": "Sapphire Rapids"}, "Intel Xeon (Sapphire Rapids)"),
        ({"cpu": "AMD EPYC", "kind": ""}, "AMD EPYC"),
        ({"cpu": "AMD EPYC"}, "AMD EPYC"),
    ],
)
def test_the_section_of_a_processor_has_its_kind(machine: dict[str, str], title: str) -> None:
    assert page.title_of(machine) == title


def test_unknown_cases_are_named():
    command = [sys.executable, str(BENCH / "kernels.py"), "--case", "gemm_7"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode != 0 and "no case gemm_7" in run.stderr


REFUSED = [
    (("kernels.py", "--class", "C1-small", "C77"), "no class C77; the classes are C1-small,"),
    (("kernels.py", "--rounds", "0"), "--rounds: found 0, expected a whole number of at least 1"),
    (("kernels.py", "--cpu", "9999"), "--cpu: found 9999, expected -1 or a CPU from 0 to"),
    (("kernels.py", "--json", "nowhere/x.json"), "--json: there is no folder 'nowhere' to write 'x.json' to"),
    (("kernels.py", "--json", "."), "--json: '.' is a folder, expected a file"),
    (("kernels.py", "--plot", "x.jpg"), "--plot: found 'x.jpg', expected a name that ends in .svg or .png"),
    (("kernels.py", "--case", "empty", "--engines", "no_such_engine"), "no engine is left to measure"),
    (("threads.py", "--case", "gemm_7"), "invalid choice: 'gemm_7'"),
    (("threads.py", "--rounds", "-1"), "--rounds: found -1, expected a whole number of at least 1"),
    (
        ("compile_time.py", "--repetitions", "x"),
        "--repetitions: found x, expected a whole number of at least 1",
    ),
    (("models.py", "no_such.onnx"), "there is no file 'no_such.onnx'"),
    (("page.py", "no_such.json"), "there is no file 'no_such.json'"),
    (("page.py", str(BENCH / "cases.json")), "holds no figures: expected a file that --json wrote"),
    (("plot.py", str(BENCH / "plot.py"), "x.svg"), "holds no figures: expected a file that --json wrote"),
]


@pytest.mark.parametrize(
    ("command", "message"), REFUSED, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_what_cannot_be_is_said_before_anything_is_measured(
    command: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """In this process: a process for each would take seconds to import what it does not need."""
    monkeypatch.chdir(tmp_path)
    script, *arguments = command
    monkeypatch.setattr(sys, "argv", [script, *arguments])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(script.removesuffix(".py")).main()
    assert ended.value.code not in (0, None)
    assert message in f"{ended.value.code} {capsys.readouterr().err}"


def test_lists_the_cases_of_a_class():
    assert run_script("nets.py", "--list").split()[0] == "mlp_784_128_10_b1"
