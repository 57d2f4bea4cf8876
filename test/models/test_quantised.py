"""Models from packages, quantised by Stepwell on inputs that mean something, do their task as well as in f32."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import stepwell
import zoo
from cases import bytes_of, line_of_text, speech

WORDS = (
    *("water", "stairs", "stone", "steps", "down", "well", "deep", "cool", "shade", "summer", "market", "river"),
    *("bridge", "garden", "window", "letter", "engine", "signal", "table", "number", "seven", "eleven", "forty"),
)


def reported(name: str, found: stepwell.runtime.Quantized) -> None:
    """Prints the summary, which `pytest -s` shows, and checks what holds for every model."""
    report = found.report
    print(f"\n{name}", *("  ".join(row) for row in report.summary), sep="\n  ")
    kept = [layer.name for layer in report.layers if not layer.quantised]
    print(f"  kept in floats: {', '.join(kept) or 'none'}")
    assert report.after >= report.before - 0.01


# magika


KINDS = {
    **dict.fromkeys((".py", ".pyi"), "python"),
    ".pyc": "pythonbytecode",
    ".json": "json",
    ".rst": "rst",
    ".so": "elf",
    ".c": "c",
    ".csv": "csv",
    ".css": "css",
    ".xml": "xml",
    ".png": "png",
    ".md": "markdown",
    ".exe": "pebin",
}
"""What magika calls files with these ends."""


def files(every: int, skip: int) -> tuple[list[dict[str, Any]], list[Any]]:
    """Returns files that come with Python and its packages, up to `every` of a kind, and what they are."""
    config = json.loads(zoo.found("magika", "magika/models/standard_v3_3/config.min.json").read_text())
    found: dict[str, list[Path]] = {}
    for folder in (Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")):
        for path in sorted(folder.rglob("*")):
            if path.suffix in KINDS and path.is_file() and path.stat().st_size > 1000:
                found.setdefault(path.suffix, []).append(path)
    chosen = [path for paths in found.values() for path in paths[skip :: max(1, len(paths) // every)][:every]]
    labels = [np.array([config["target_labels_space"].index(KINDS[path.suffix])]) for path in chosen]
    return [bytes_of(path.read_bytes()) for path in chosen], labels


def test_magika() -> None:
    """Files are called what they are."""
    path = zoo.found("magika", "magika/models/standard_v3_3/model.onnx")
    module = stepwell.from_onnx(path, dims={"bytes:0": 1})
    (batches, _), (tests, labels) = files(6, 0), files(24, 1)
    found = stepwell.quantize(module, batches, evaluation=tests, labels=labels, threads=1)
    reported("magika", found)
    assert found.report.bytes_after <= 0.3 * found.report.bytes_before


# silero-vad


def chunks(seed: int, count: int) -> list[dict[str, Any]]:
    """Speech and silence, each chunk with the state that the network has then."""
    module = stepwell.from_onnx(voice_path(), dims=VOICE)
    network = stepwell.compile(module)
    state = np.zeros((2, 1, 128), np.float32)
    random = np.random.default_rng(seed)
    found: list[dict[str, Any]] = []
    for chunk in speech(count, 16000):
        loud = (chunk * random.uniform(0.3, 1.2)).astype(np.float32)
        found.append({"input": loud, "state": state})
        _, state = network(loud, state)
    return found


VOICE = {"batch": 1, "sequence": 576}


def voice_path() -> Path:
    return zoo.found("silero-vad", "silero_vad/data/silero_vad_half.onnx")


def decisions(outputs: Sequence[Any], expected: Sequence[Any]) -> float:
    """The part of the chunks that are speech or not as in floats."""
    return float(np.mean([(one[0] > 0.5) == (other[0] > 0.5) for one, other in zip(outputs, expected, strict=True)]))


def test_silero_vad() -> None:
    """Chunks are speech or silence as in floats."""
    module = stepwell.from_onnx(voice_path(), dims=VOICE)
    found = stepwell.quantize(module, chunks(0, 60), evaluation=chunks(1, 200), metric=decisions, drop=0.01, threads=1)
    reported("silero-vad", found)


# The recogniser of rapidocr


def lines(seed: int, count: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(WORDS, 2)) + f" {random.integers(1000)}" for _ in range(count)]
    return [{"x": line_of_text(text, 48, 320)} for text in texts]


def read_alike(outputs: Sequence[Any], expected: Sequence[Any]) -> float:
    """The part of the steps along the line at which the same character is read."""
    return float(
        np.mean([one[0].argmax(-1) == other[0].argmax(-1) for one, other in zip(outputs, expected, strict=True)])
    )


def test_rapidocr_recogniser() -> None:
    path = zoo.found("rapidocr", "rapidocr/models/PP-OCRv6_rec_small.onnx")
    module = stepwell.from_onnx(path, dims={"x:0": 1, "x:3": 320})
    found = stepwell.quantize(module, lines(0, 12), evaluation=lines(1, 30), metric=read_alike, drop=0.01, threads=1)
    reported("rapidocr's recogniser", found)


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
