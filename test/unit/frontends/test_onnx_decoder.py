"""Language models of 4 bits, token by token, beside onnxruntime; the program of docs/language_models.md runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import stepwell
from onnx_decoder import SHARED, SIZE, Decoder

Array = Any
PAGE = (Path(__file__).parents[3] / "docs" / "language_models.md").read_text()
PROMPT = [3, 1, 4, 1, 5]


def caches_of(layers: int, rooms: tuple[int, ...], samples: int = 1) -> dict[str, Array]:
    return {
        f"past_key_values.{layer}.{what}": np.zeros((samples, SHARED, rooms[layer], SIZE), np.float32)
        for layer in range(layers)
        for what in ("key", "value")
    }


def session(model: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def generated(model: Any, count: int, rooms: tuple[int, ...], total: int | None) -> tuple[list[int], list[Array]]:
    """A text and its logits by onnxruntime, with a mask of `total` places, or one that grows with its caches."""
    runner, caches = session(model), caches_of(len(rooms), rooms)
    names = [each.name for each in runner.get_outputs()]
    text, tokens, every = list(PROMPT), list(PROMPT), []
    while True:
        mask = (np.arange(total or len(text)) < len(text)).astype(np.int64)[None]
        feed = {"input_ids": np.array([tokens]), "attention_mask": mask, **caches}
        found = dict(zip(names, runner.run(None, feed), strict=True))
        caches = {name: found[name.replace("past_key_values", "present")] for name in caches}
        every.append(found["logits"][0, -1])
        if len(text) == count:
            return text, every
        text.append(int(every[-1].argmax()))
        tokens = text[-1:]


def test_the_program_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = Decoder(2).model()
    Path("model.onnx").write_bytes(made.SerializeToString())
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    scope: dict[str, Any] = {}
    exec(program, scope)
    text, logits = generated(made, 40, (0, 0), None)
    assert scope["text"] == text
    np.testing.assert_allclose(scope["logits"], logits[-1], rtol=1e-4, atol=1e-4)
    # A guess that is taken back.
    before = scope["step"]([7, 8], 42), scope["step"](text[-1:], 40)
    np.testing.assert_allclose(before[1], logits[-1], rtol=1e-4, atol=1e-4)


def test_caches_that_grow() -> None:
    made = Decoder(1).model()
    model = stepwell.compile_onnx(made, dims={"batch_size": 1}, tuning=False)
    text, logits = generated(made, 8, (0,), None)
    caches, tokens = caches_of(1, (0,)), list(PROMPT)
    for length in range(len(PROMPT), 9):
        found = model(input_ids=np.array([tokens]), attention_mask=np.ones((1, length), np.int64), **caches)
        np.testing.assert_allclose(found["logits"][0, -1], logits[length - len(PROMPT)], rtol=1e-4, atol=1e-4)
        caches = {name: found[name.replace("past_key_values", "present")] for name in caches}
        assert all(each.shape[2] == length for each in caches.values())
        tokens = text[length : length + 1]


def test_layers_with_windows() -> None:
    """A layer that sees all tokens, and one that holds the last six."""
    made = Decoder(2, (-1, 6)).model()
    model = stepwell.compile_onnx(made, dims={"batch_size": 1}, tuning=False)
    rooms = (24, 8)
    text, logits = generated(made, 24, rooms, 24)
    caches, tokens = caches_of(2, rooms), list(PROMPT)
    for length in range(len(PROMPT), 25):
        mask = (np.arange(24) < length).astype(np.int64)[None]
        found = model(input_ids=np.array([tokens]), attention_mask=mask, **caches)
        np.testing.assert_allclose(found["logits"][0, -1], logits[length - len(PROMPT)], rtol=1e-4, atol=1e-4)
        caches = {name: found[name.replace("past_key_values", "present")] for name in caches}
        tokens = text[length : length + 1]


def test_a_batch_of_texts_of_their_own_lengths() -> None:
    made = Decoder(1).model()
    model = stepwell.compile_onnx(made, dims={"batch_size": 2}, tuning=False)
    caches = caches_of(1, (12,), 2)
    mask = (np.arange(12) < np.array([[1], [1]])).astype(np.int64)
    tokens = np.array([[3], [9]])
    rows: list[Array] = []
    for length in range(2, 8):  # The second text stays at its first token until the third step.
        found = model(input_ids=tokens, attention_mask=mask, **caches)
        rows.append(found["logits"][:, 0])
        caches = {name: found[name.replace("past_key_values", "present")] for name in caches}
        lengths = np.array([[length], [max(length - 2, 1)]])
        tokens = np.array([[(5 * length) % 40], [(5 * (length - 2)) % 40 if length > 3 else 9]])
        mask = (np.arange(12) < lengths).astype(np.int64)
    runner = session(made)
    alone = [5 * length % 40 for length in range(2, 7)]
    for sample, ids in ((0, [3, *alone]), (1, [9, *(5 * (length - 2) % 40 for length in range(4, 7))])):
        feed = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64), **caches_of(1, (0,))}
        wanted = runner.run(["logits"], feed)[0][0, -1]
        np.testing.assert_allclose(rows[-1][sample], wanted, rtol=1e-4, atol=1e-4)
