"""The models that are run, and meaningful inputs for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import zoo

Arrays = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Case:
    """A model, the sizes and inputs that are fixed at import, and inputs to run it with."""

    name: str
    path: Callable[[], Path]
    inputs: Callable[[], list[Arrays]]
    """Inputs of several runs."""
    dims: dict[str, int] = field(default_factory=dict)
    constants: Arrays = field(default_factory=dict)
    carried: dict[str, int] = field(default_factory=dict)
    """Inputs that are outputs of the run before, by number."""


def of_torch(name: str, inputs: Callable[[], list[Arrays]]) -> Case:
    return Case(name, lambda: zoo.exported(name, getattr(zoo, name)), inputs)


# Inputs


def picture(height: int, width: int) -> np.ndarray[Any, Any]:
    """Discs and stripes in three colours, normalised as photographs are: `1x3xHxW`."""
    y, x = np.mgrid[0:height, 0:width] / min(height, width)
    channels = [
        (np.hypot(x - 0.5, y - 0.4) < 0.3) * 0.8 + 0.1,
        0.5 + 0.5 * np.sin(20 * x + 8 * y),
        np.clip(1.2 * y - 0.3 * x, 0, 1),
    ]
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    pixels = (np.stack(channels, -1) - mean) / deviation
    return pixels.transpose(2, 0, 1)[None].astype(np.float32)


def line_of_text(text: str, height: int, width: int) -> np.ndarray[Any, Any]:
    """Black on white, from -1 to 1: `1x3xHxW`."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (width, height), "white")
    font = ImageFont.load_default(size=height * 0.7)
    ImageDraw.Draw(image).text((8, height * 0.08), text, fill="black", font=font)
    pixels = np.asarray(image, np.float32) / 127.5 - 1
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


def words(count: int, vocabulary: int) -> np.ndarray[Any, Any]:
    """Numbers of words, small ones more often, as in language."""
    random = np.random.default_rng(1)
    return np.minimum(random.zipf(1.2, (1, count)), vocabulary - 1).astype(np.int64)


def sentence() -> Arrays:
    mask = np.ones((1, 128), np.int64)
    mask[:, 100:] = 0
    return {"input_ids": words(128, 30000) * mask, "attention_mask": mask}


def bytes_of(content: bytes) -> Arrays:
    """The first and last 1024 bytes of a file without white space around it, 256 where there are none."""
    content = content.strip()
    first, last = np.full(1024, 256, np.int32), np.full(1024, 256, np.int32)
    head, tail = content[:1024], content[-1024:]
    first[: len(head)] = list(head)
    last[len(last) - len(tail) :] = list(tail)
    return {"bytes": np.concatenate([first, last])[None]}


def contents() -> Iterator[bytes]:
    """What magika calls python, json and png."""
    import io
    import json

    from PIL import Image

    yield Path(__file__).read_bytes()
    yield json.dumps({f"key{number}": [number, "text"] for number in range(60)}, indent=2).encode()
    image = io.BytesIO()
    Image.effect_mandelbrot((64, 64), (-2, -1.5, 1, 1.5), 50).save(image, "png")
    yield image.getvalue()


def speech(chunks: int, rate: int) -> Iterator[np.ndarray[Any, Any]]:
    """Silence, then a voiced sound with formants: chunks of 32 ms with 4 ms of what came before."""
    size, before = 32 * rate // 1000, 4 * rate // 1000
    time = np.arange(size * chunks) / rate
    pitch = 2 * np.pi * np.cumsum(130 + 20 * np.sin(5 * time)) / rate
    voice = sum(gain * np.sin(number * pitch) for number, gain in ((1, 0.5), (2, 0.4), (5, 0.3), (6, 0.25), (18, 0.1)))
    noise = np.random.default_rng(0).normal(0, 0.002, time.size)
    sound = np.where(time > time[-1] / 3, 0.4 * voice * (1 + 0.5 * np.sin(20 * time)), 0) + noise
    sound = np.concatenate([np.zeros(before), sound]).astype(np.float32)
    for number in range(chunks):
        yield sound[None, number * size : (number + 1) * size + before]


CHUNKS = 12


def spoken(rate: int) -> list[Arrays]:
    state = np.zeros((2, 1, 128), np.float32)
    return [{"input": chunk, "state": state} for chunk in speech(CHUNKS, rate)]


def spoken_at_once() -> Arrays:
    state = np.zeros((1, 1, 128), np.float32)
    return {"input": np.concatenate(list(speech(CHUNKS, 16000))), "h": state, "c": state}


# Models


def packaged() -> list[Case]:
    silero = "silero_vad/data/silero_vad{}.onnx"
    ocr = "rapidocr/models/{}.onnx"
    by_name = {"batch": 1, "sequence": 576}

    def voice(kind: str, dims: dict[str, int], rate: int = 16000, constants: Arrays | None = None) -> Case:
        path = silero.format(kind)
        name = f"silero_vad{kind}" + ("" if rate == 16000 else f"_{rate}_hz")
        inputs = partial(spoken, rate)
        return Case(name, lambda: zoo.found("silero-vad", path), inputs, dims, constants or {}, {"state": 1})

    def of_rate(kind: str, rate: int, *names: str) -> Case:
        sizes = dict(zip(names, (1, 36 * rate // 1000, 1), strict=False))
        return voice(kind, sizes, rate, {"sr": np.array(rate)})

    return [
        of_rate("", 16000, "input:0", "input:1", "state:1"),
        of_rate("", 8000, "input:0", "input:1", "state:1"),
        of_rate("_16k_op15", 16000, "batch", "sequence"),
        of_rate("_op18_ifless", 16000, "batch", "sequence"),
        voice("_half", by_name),
        voice("_openvino_16k", {}),
        Case(
            "silero_vad_16k_sequence",
            lambda: zoo.found("silero-vad", silero.format("_16k_sequence")),
            lambda: [spoken_at_once()],
            {"sequence_length": CHUNKS},
        ),
        Case(
            "magika",
            lambda: zoo.found("magika", "magika/models/standard_v3_3/model.onnx"),
            lambda: [bytes_of(content) for content in contents()],
            {"bytes:0": 1},
        ),
        Case(
            "rapidocr_classifier",
            lambda: zoo.found("rapidocr", ocr.format("ch_ppocr_mobile_v2.0_cls_mobile")),
            both_ways,
            {"x:0": 1, "x:2": 48, "x:3": 192},
        ),
        Case(
            "rapidocr_recogniser",
            lambda: zoo.found("rapidocr", ocr.format("PP-OCRv6_rec_small")),
            lambda: [{"x": line_of_text(text, 48, 320)} for text in LINES],
            {"x:0": 1, "x:3": 320},
        ),
        Case(
            "rapidocr_detector",
            lambda: zoo.found("rapidocr", ocr.format("PP-OCRv6_det_small")),
            lambda: [{"x": page_of_text()}],
            {"x:0": 1, "x:2": 320, "x:3": 320},
        ),
    ]


LINES = ("Stepwell 2026", "stairs to water")


def both_ways() -> list[Arrays]:
    """A line of text, and upside down."""
    upright = line_of_text("Stepwell", 48, 192)
    return [{"x": upright}, {"x": np.ascontiguousarray(upright[:, :, ::-1, ::-1])}]


def page_of_text() -> np.ndarray[Any, Any]:
    page = np.full((1, 3, 320, 320), 1, np.float32)
    page[:, :, 40:88] = line_of_text(LINES[0], 48, 320)
    page[:, :, 160:208] = line_of_text(LINES[1], 48, 320)
    return page


CASES = [
    of_torch("mobilenet_v2", lambda: [{"x": picture(224, 224)}]),
    of_torch("resnet50", lambda: [{"x": picture(224, 224)}]),
    of_torch("vit_b_16", lambda: [{"x": picture(224, 224)}]),
    of_torch("bert_base", lambda: [sentence()]),
    of_torch("gpt2", lambda: [{"input_ids": words(64, 50000)}]),
    *packaged(),
]
