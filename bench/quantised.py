"""
Models quantised by the quantisers of onnxruntime, ours beside onnxruntime and OpenVINO, and our own f32.

`python bench/quantised.py [FOLDER] [--only REGEX] [--rounds 9] [--dynamic] [--weights u8] [--activations u16]
[--without-vnni avx2|avx512]`

FOLDER, by default `build/zoo`, holds the models of `quantised.json` in f32, `resnet50.onnx` and so on. PyTorch exports
those that are not there, with random weights. They are quantised once, into FOLDER/quantised, on random batches: QDQ,
per channel, unsigned activations, signed weights. With `--dynamic` they are quantised into FOLDER/dynamic, with scales
of activations that are computed in each call. The engines run as in `models.py`: one thread, each in a process of its
own, rounds in turn.

With `--weights` or `--activations` the integers are of another type than `quantised.json` says, in a folder of their
own. Weights without signs have zero points.

With `--without-vnni` ours is compiled for `x86-64-v3` or `x86-64-v4`, and OpenVINO is held to the same instructions by
`ONEDNN_MAX_CPU_ISA`. onnxruntime cannot be held, so it is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from models import ENGINES, TARGET, cells, inputs_of, measure
from suite.arguments import new_file, positive
from suite.figures import geometric_mean
from suite.networks import FOLDER, exported

CASES = json.loads((Path(__file__).parent / "quantised.json").read_text(encoding="utf-8"))
"""The fixed list of models, how they are quantised, and what is to be reached."""


WITHOUT_VNNI = {"avx2": ("x86-64-v3", "AVX2"), "avx512": ("x86-64-v4", "AVX512_CORE")}
"""For each set of instructions, the target of ours and what oneDNN calls it."""


TYPES = {"u8": "QUInt8", "s8": "QInt8", "u16": "QUInt16"}
"""What the quantisers call the types of integers."""


class Batches:
    """Random inputs of a model, one dictionary after the other."""

    def __init__(self, path: Path, count: int):
        random = np.random.default_rng(0)
        self._left = [self._varied(random, inputs_of(str(path), {}, {})) for _ in range(count)]

    @staticmethod
    def _varied(random: np.random.Generator, arrays: dict[str, Any]) -> dict[str, Any]:
        draw = random.standard_normal
        return {
            name: draw(each.shape).astype(each.dtype) if each.dtype.kind == "f" else each
            for name, each in arrays.items()
        }

    def get_next(self) -> dict[str, Any] | None:
        return self._left.pop() if self._left else None


def quantised(path: Path, settings: dict[str, Any]) -> Path:
    """Returns the quantised model beside `path`, which is made where it is not there."""
    usual = all(settings[name] == CASES["settings"][name] for name in ("activations", "weights"))
    folder = "quantised" if usual else f"quantised-{settings['activations']}-{settings['weights']}"
    result = path.parent / folder / path.name
    if not result.exists():
        from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

        result.parent.mkdir(exist_ok=True)
        quantize_static(
            str(path),
            str(result),
            Batches(path, settings["batches"]),
            quant_format=QuantFormat[settings["format"]],
            per_channel=settings["per_channel"],
            activation_type=QuantType.from_string(TYPES[settings["activations"]]),
            weight_type=QuantType.from_string(TYPES[settings["weights"]]),
        )
    return result


def quantised_dynamically(path: Path, settings: dict[str, Any]) -> Path:
    """Returns the model with quantised weights beside `path`, which is made where it is not there."""
    result = path.parent / "dynamic" / path.name
    if not result.exists():
        from onnxruntime.quantization import QuantType, quantize_dynamic

        result.parent.mkdir(exist_ok=True)
        quantize_dynamic(str(path), str(result), weight_type=QuantType.from_string(TYPES[settings["weights"]]))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="where the models in f32 are")
    parser.add_argument("--only", default="", metavar="REGEX", help="models whose names match")
    parser.add_argument("--rounds", type=positive, default=9)
    parser.add_argument("--dynamic", action="store_true", help="scales of activations from each call")
    parser.add_argument("--weights", choices=("s8", "u8"), help="of the static quantiser")
    parser.add_argument("--activations", choices=tuple(TYPES), help="of the static quantiser")
    parser.add_argument("--without-vnni", choices=WITHOUT_VNNI, help="the instructions that engines are held to")
    parser.add_argument("--json", type=new_file)
    options = parser.parse_args()
    if options.dynamic and (options.weights or options.activations):
        parser.error("--weights and --activations are of the static quantiser, and not for --dynamic")
    engines = ENGINES
    if options.without_vnni is not None:
        os.environ[TARGET], os.environ["ONEDNN_MAX_CPU_ISA"] = WITHOUT_VNNI[options.without_vnni]
        engines = ("stepwell", "openvino")
    make, settings = (quantised_dynamically, CASES["dynamic"]) if options.dynamic else (quantised, CASES["settings"])
    asked = {"weights": options.weights, "activations": options.activations}
    settings = settings | {name: each for name, each in asked.items() if each is not None}
    rows: list[dict[str, Any]] = []
    for name in settings.get("models", CASES["models"]):
        if not re.search(options.only, name):
            continue
        path = exported(name, options.folder)
        row = measure(make(path, settings), [], options.rounds, engines)
        row["f32"] = measure(path, [], options.rounds, engines)["ms"].get("stepwell")
        rows.append(row)
        print(f"| {' | '.join(cells(row))} | f32 {row['f32']:.2f} ms |", flush=True)
    ratios = [row["ratio"] for row in rows if row.get("ratio")]
    if ratios:
        print(f"geometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}")
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
