"""Weights of ONNX files stay in the files: mapped, not copied."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
import stepwell
from onnx import helper as h
from onnx_broken_models import damaged, info, model, node, sound, tensor
from stepwell.core.mapped import place_of
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.roles import WEIGHTS
from stepwell.core.weights import WeightsError, open_weights
from stepwell.frontends import OnnxError, from_onnx
from stepwell.frontends.onnx.files import reading, tensors, wire
from xdsl.dialects.builtin import ModuleOp, StringAttr

WIDTH = 64
X = np.linspace(-1, 1, WIDTH, dtype=np.float32)[None]
RANDOM = np.random.default_rng(0)
MATRICES = [RANDOM.standard_normal((WIDTH, WIDTH)).astype(np.float32) for _ in range(2)]


@pytest.fixture(autouse=True)
def small_files_are_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reading, tensors):
        monkeypatch.setattr(module, "LEAST_MAPPED", 1)


def products(matrices: Sequence[onnx.TensorProto]) -> onnx.ModelProto:
    """y = x · w0 · w1, and the bias b is added."""
    names = ["x", *(f"h{k}" for k in range(len(matrices)))]
    nodes = [node("MatMul", f"{names[k]} {each.name}", names[k + 1]) for k, each in enumerate(matrices)]
    nodes.append(node("Add", f"{names[-1]} b", "y"))
    ends = {"inputs": [info("x", (1, WIDTH))], "outputs": [info("y", (1, WIDTH))]}
    return model(nodes, tensors=[*matrices, tensor("b", X[0])], **ends)


def saved(folder: Path, external: bool = False) -> Path:
    made = products([tensor(f"w{k}", each) for k, each in enumerate(MATRICES)])
    options = {"save_as_external_data": True, "location": "data.bin"} if external else {}
    onnx.save(made, folder / "model.onnx", **options)
    return folder / "model.onnx"


def side_car(module: ModuleOp) -> Path:
    name = module.attributes[WEIGHTS]
    assert isinstance(name, StringAttr)
    return Path(name.data)


@pytest.mark.parametrize("external", [False, True])
def test_weights_are_views_of_the_file(external: bool, tmp_path: Path) -> None:
    module = from_onnx(saved(tmp_path, external))
    file = open_weights(side_car(module))
    assert not side_car(module).exists()
    for key, wanted in zip(["w0", "w1"], MATRICES, strict=True):
        place = place_of(file.array(key))
        assert place is not None and place[0].stamp.path.name == ("data.bin" if external else "model.onnx")
        assert np.array_equal(file.array(key), wanted)
    (found,) = stepwell.compile(module, cache=False)(X)
    assert np.allclose(found, X @ MATRICES[0] @ MATRICES[1] + X, rtol=1e-4, atol=1e-4)


def test_a_model_that_is_imported_when_called_maps_its_file_too(tmp_path: Path) -> None:
    path = saved(tmp_path, external=True)
    (found,) = stepwell.compile_onnx(path, cache=False)(X)
    assert np.allclose(found, X @ MATRICES[0] @ MATRICES[1] + X, rtol=1e-4, atol=1e-4)


def test_a_given_file_holds_all_weights(tmp_path: Path) -> None:
    module = from_onnx(saved(tmp_path), weights=tmp_path / "w.safetensors")
    (tmp_path / "model.onnx").unlink()
    assert open_weights(side_car(module)).keys() == ["w0", "w1"]
    stepwell.compile(module, cache=False)


@pytest.mark.parametrize("external", [False, True])
def test_a_file_that_changes_is_an_error(external: bool, tmp_path: Path) -> None:
    module = from_onnx(saved(tmp_path, external))
    path = tmp_path / ("data.bin" if external else "model.onnx")
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(WeightsError, match=f"{path.name}', which holds its tensors, has changed since the model was"):
        stepwell.compile(module, cache=False)


def test_small_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reading, tensors):
        monkeypatch.setattr(module, "LEAST_MAPPED", 1 << 20)
    for external in (False, True):
        module = from_onnx(saved(tmp_path, external))
        for name in ("model.onnx", "data.bin"):
            (tmp_path / name).write_bytes(b"") if external or name == "model.onnx" else None
        (found,) = stepwell.compile(module, cache=False)(X)
        assert np.allclose(found, X @ MATRICES[0] @ MATRICES[1] + X, rtol=1e-4, atol=1e-4)


def test_functions_of_the_model_are_still_put_in_place(tmp_path: Path) -> None:
    made = products([tensor("w", MATRICES[0])])
    made.opset_import.append(h.make_opsetid("own", 1))
    made.functions.append(
        h.make_function("own", "Twice", ["a"], ["r"], [node("Add", "a a", "r")], [h.make_opsetid("", 20)])
    )
    made.graph.node[-1].output[0] = "z"
    made.graph.node.append(h.make_node("Twice", ["z"], ["y"], domain="own"))
    onnx.save(made, tmp_path / "model.onnx")
    (found,) = stepwell.compile(from_onnx(tmp_path / "model.onnx"), cache=False)(X)
    assert np.allclose(found, 2 * (X @ MATRICES[0] + X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float16, np.int64, np.uint8, np.bool_])
def test_element_types(dtype: type, tmp_path: Path) -> None:
    values = RANDOM.integers(0, 2, (WIDTH, 2 * WIDTH)).astype(dtype)
    made = model(
        [node("Transpose", "w", "t", perm=[1, 0]), node("Cast", "t", "y", to=onnx.TensorProto.FLOAT)],
        outputs=[info("y", (2 * WIDTH, WIDTH))],
        tensors=[tensor("w", values, dtype)],
    )
    onnx.save(made, tmp_path / "model.onnx")
    (found,) = stepwell.compile(from_onnx(tmp_path / "model.onnx"), cache=False)(np.zeros((2, 3), np.float32))
    assert np.array_equal(found, values.T.astype(np.float32))


def test_every_byte_that_is_not_zero_is_true(tmp_path: Path) -> None:
    values = RANDOM.integers(0, 3, (WIDTH, 2 * WIDTH)).astype(np.uint8)
    stored = tensor("w", values, np.uint8)
    stored.data_type = onnx.TensorProto.BOOL
    nodes = [node("Not", "w", "n"), node("Cast", "n", "y", to=onnx.TensorProto.FLOAT)]
    onnx.save(model(nodes, outputs=[info("y", values.shape)], tensors=[stored]), tmp_path / "model.onnx")
    (found,) = stepwell.compile(from_onnx(tmp_path / "model.onnx"), cache=False)(np.zeros((2, 3), np.float32))
    assert np.array_equal(found, (values == 0).astype(np.float32))


def test_a_link_to_another_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").mkdir()
    path = saved(tmp_path / "inside", external=True)
    (tmp_path / "inside" / "data.bin").rename(tmp_path / "outside" / "data.bin")
    (tmp_path / "inside" / "sub").symlink_to(tmp_path / "outside")
    made = onnx.load(path, load_external_data=False)
    for each in made.graph.initializer:
        for entry in each.external_data:
            if entry.key == "location":
                entry.value = "sub/data.bin"
    path.write_bytes(made.SerializeToString())
    with pytest.raises(OnnxError, match="in the file 'sub/data.bin', which a link leads out of the folder of the"):
        from_onnx(path)


# The bytes of a model


def test_the_rest_of_the_model_is_as_it_was() -> None:
    made = products([tensor(f"w{k}", each) for k, each in enumerate(MATRICES)])
    data = made.SerializeToString()
    found = wire.without_weights(memoryview(data))
    assert found is not None
    kept, places = found
    assert {name: data[begin:end] for name, (begin, end) in places.items()} == {
        f"w{k}": each.tobytes() for k, each in enumerate(MATRICES)
    }
    for each in made.graph.initializer[:2]:
        each.ClearField("raw_data")
    assert onnx.ModelProto.FromString(kept) == made and len(kept) < 1000


@pytest.mark.parametrize(
    "data",
    [
        b"\x3a\x05ab",  # a graph that ends after the file
        b"\x3a\x00\x3a\x00",  # two graphs
        b"\x3b\x3c",  # a group
        b"\x38\x01",  # a graph that is a number
        b"\x3a\x02\xff\xff",  # a tag without end
        b"\x80" * 11,
        b"",
    ],
)
def test_what_is_unusual_is_left_to_protobuf(data: bytes) -> None:
    assert wire.without_weights(memoryview(data)) is None


def test_a_name_that_is_there_twice_is_taken_once() -> None:
    data = products([tensor("w", each) for each in MATRICES]).SerializeToString()
    found = wire.without_weights(memoryview(data))
    assert found is not None and list(found[1]) == ["w"]
    assert [each.HasField("raw_data") for each in onnx.ModelProto.FromString(found[0]).graph.initializer] == [
        *(False, True, True)
    ]


def outcome(source: Path | bytes) -> str:
    try:
        return str(from_onnx(source))
    except StepwellError as error:
        return str(error).replace(str(source), "<model>") if isinstance(source, Path) else str(error)


def test_damage_is_reported_as_that_of_a_model_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LEAST_BYTES", 1)
    monkeypatch.chdir(tmp_path)  # Messages shorten long paths.
    data, random_, path = sound().SerializeToString(), random.Random(0), Path("model.onnx")
    for _ in range(200):
        text = damaged(data, random_)
        path.write_bytes(text)
        assert outcome(path) == outcome(text), text
