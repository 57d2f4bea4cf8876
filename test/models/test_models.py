"""Whole models agree with onnxruntime, and say what they should of inputs that mean something."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import zoo
from cases import CASES, LINES, Case, spoken
from running import both, compare

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the exporters, which are not ours


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_onnxruntime(case: Case) -> None:
    results = both(case)
    for found, wanted in results:
        assert len(found) == len(wanted)
        for each, other in zip(found, wanted, strict=True):
            compare(each, other)
            assert np.isfinite(each).all()
    check = check_voice if case.name.startswith("silero_vad") else MEANING.get(case.name)
    if check is not None:
        check([found for found, _ in results])


def test_the_rate_of_a_voice_is_taken_from_each_call() -> None:
    """One model for two sampling rates, with branches of different rank: `rate` is an argument, not bound."""
    import stepwell

    exe = stepwell.compile_onnx(zoo.found("silero-vad", "silero_vad/data/silero_vad.onnx"))
    for rate in (16000, 8000):
        state, outputs = np.zeros((2, 1, 128), np.float32), list[Any]()
        for each in spoken(rate):
            chance, state = exe(each["input"], state, np.array(rate))
            outputs.append([chance])
        check_voice(outputs)
    assert exe.value_inputs == ("sr",) and len(exe.specialisations) == 2


# What the outputs mean


def check_voice(outputs: list[Any]) -> None:
    """The probability of speech rises with the sound."""
    chances = np.concatenate([found[0].reshape(-1) for found in outputs])
    assert chances[:3].max() < 0.5 < chances[4:].max()


def check_kinds(outputs: list[Any]) -> None:
    """Python, JSON and PNG."""
    wheel = zoo.found("magika", "magika/models/standard_v3_3/config.min.json")
    labels = json.loads(wheel.read_text())["target_labels_space"]
    assert [labels[int(found[0].argmax())] for found in outputs] == ["python", "json", "png"]


def check_direction(outputs: list[Any]) -> None:
    """Upright, then turned by half."""
    assert [int(found[0].argmax()) for found in outputs] == [0, 1]


def check_reading(outputs: list[Any]) -> None:
    """The best character of every column, repetitions and blanks left out, is the text of the picture."""
    import onnx

    path = zoo.found("rapidocr", "rapidocr/models/PP-OCRv6_rec_small.onnx")
    (entry,) = [each for each in onnx.load(path).metadata_props if each.key == "character"]
    characters = ["", *entry.value.split("\n"), " "]
    for found, text in zip(outputs, LINES, strict=True):
        best = found[0][0].argmax(-1).tolist()
        kept = [number for number, before in zip(best, [0, *best[:-1]], strict=True) if number != before]
        assert "".join(characters[number] for number in kept) == text


def check_finding(outputs: list[Any]) -> None:
    """The rows of the two lines are found, what is between them is not."""
    rows = outputs[0][0].reshape(320, 320).max(-1)
    assert rows[48:80].max() > 0.5 and rows[168:200].max() > 0.5
    assert rows[110:140].max() < 0.3


MEANING = {
    "magika": check_kinds,
    "rapidocr_classifier": check_direction,
    "rapidocr_recogniser": check_reading,
    "rapidocr_detector": check_finding,
}


def test_packages_are_of_the_versions_that_are_named() -> None:
    for package, version in zoo.PACKAGES.items():
        wheel = zoo.wheel_of(package)
        assert f"-{version}-" in wheel.name and zipfile.is_zipfile(wheel)
