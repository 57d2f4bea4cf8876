"""Broken ONNX models: files, headers, tensors, names and types; each with what the tool says of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

NOT_ONNX = "bytes are not an ONNX model\nhint: the file may be cut off, or be of another format"


@dataclass(frozen=True)
class Broken:
    """A model and the end of the message, which starts with `error: model '<path>': `."""

    name: str
    model: bytes | onnx.ModelProto | None
    """`None` for a directory."""
    message: str


def info(name: str, shape: Sequence[Any] = (2, 3), dtype: int = T.FLOAT) -> onnx.ValueInfoProto:
    return h.make_tensor_value_info(name, dtype, list(shape))


def node(operator: str, inputs: str, outputs: str, name: str = "", **attributes: Any) -> onnx.NodeProto:
    return h.make_node(operator, inputs.split(), outputs.split(), name=name, **attributes)


def model(
    nodes: Sequence[onnx.NodeProto] = (),
    *,
    inputs: Sequence[onnx.ValueInfoProto] | None = None,
    outputs: Sequence[onnx.ValueInfoProto] | None = None,
    tensors: Sequence[onnx.TensorProto] = (),
    infos: Sequence[onnx.ValueInfoProto] = (),
    opset: int = 20,
    change: Callable[[onnx.ModelProto], object] | None = None,
) -> onnx.ModelProto:
    """By default the function y = relu(x) of a 2x3 matrix."""
    graph = h.make_graph(
        list(nodes) or [node("Relu", "x", "y", "act")],
        "g",
        [info("x")] if inputs is None else list(inputs),
        [info("y")] if outputs is None else list(outputs),
        list(tensors),
        value_info=list(infos),
    )
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=9)
    if change is not None:
        change(made)
    return made


def tensor(name: str, values: Any, dtype: Any = np.float32) -> onnx.TensorProto:
    return nh.from_array(np.array(values, dtype), name)


def product(weight: onnx.TensorProto) -> onnx.ModelProto:
    """y = x · w with the given w, 3x4 if it is sound."""
    return model([node("MatMul", "x w", "y", "mm")], outputs=[info("y", (2, 4))], tensors=[weight])


def sound() -> onnx.ModelProto:
    """What the damaged files were before."""
    nodes = [node("MatMul", "x w", "h", "mm"), node("Relu", "h", "y", "act")]
    return model(nodes, outputs=[info("y", (2, 4))], tensors=[tensor("w", np.ones((3, 4)))])


def stored(dims: Sequence[int], dtype: int = T.FLOAT, **fields: Any) -> onnx.TensorProto:
    made = T(name="w", data_type=dtype)
    made.dims.extend(dims)
    for field, values in fields.items():
        getattr(made, field).extend(values)
    return made


def external(**entries: str) -> onnx.ModelProto:
    """w is in another file; beside the model are `data.bin` of 48 bytes, the folder `sub` and the link `link.bin`."""
    made = stored([3, 4])
    made.data_location = T.EXTERNAL
    for key, value in entries.items():
        entry = made.external_data.add()
        entry.key, entry.value = key, value
    return product(made)


def claimed(shape: Sequence[int], dtype: int) -> onnx.TensorProto:
    """A 3x4 matrix of f32 whose header says something else."""
    made = tensor("w", np.ones((3, 4)))
    made.data_type = dtype
    del made.dims[:]
    made.dims.extend(shape)
    return made


def damaged(data: bytes, random_: random.Random) -> bytes:
    """One to four bytes changed, left out or put in."""
    found = bytearray(data)
    for _ in range(random_.randint(1, 4)):
        place = random_.randrange(len(found))
        match random_.randrange(4):
            case 0:
                found[place] ^= 1 << random_.randrange(8)
            case 1:
                found[place] = random_.randrange(256)
            case 2:
                del found[place]
            case _:
                found.insert(place, random_.randrange(256))
    return bytes(found)


def files() -> list[Broken]:
    data = sound().SerializeToString()
    cut = [len(data) * part // 16 for part in range(1, 16)]
    return [
        *(Broken(f"cut_at_{end}", data[:end], NOT_ONNX) for end in [1, 5, *cut, len(data) - 1]),
        Broken("cut_after_the_version", data[:2], "it holds no graph, expected an ONNX model"),
        Broken("wrong_magic", b"\x7fELF" + data[4:], NOT_ONNX),
        Broken("text", b"func.func @main() {\n}\n", NOT_ONNX),
        Broken("image", b"\x89PNG\r\n\x1a\n" + bytes(100), NOT_ONNX),
        Broken("zeros", bytes(100), NOT_ONNX),
        Broken("empty", b"", "the file is empty, expected an ONNX model"),
        Broken("directory", None, "it is a directory, expected a file"),
        Broken("name_not_utf8", data.replace(b"mm", b"\xff\xfe"), "it has the name b'\\xff\\xfe', expected UTF-8"),
    ]


def headers() -> list[Broken]:
    def opsets(*ids: tuple[str, int]) -> Callable[[onnx.ModelProto], object]:
        def change(made: onnx.ModelProto) -> None:
            del made.opset_import[:]
            made.opset_import.extend(h.make_opsetid(*each) for each in ids)

        return change

    newest = onnx.defs.onnx_opset_version()
    return [
        Broken("opset_unknown", model(opset=999), f"it is written for operator set 999, expected 1 to {newest}"),
        Broken("opset_zero", model(opset=0), f"it is written for operator set 0, expected 1 to {newest}"),
        Broken("opset_negative", model(opset=-3), f"it is written for operator set -3, expected 1 to {newest}"),
        Broken("opset_missing", model(change=opsets()), "it names no operator set, expected at least one"),
        Broken(
            "opset_twice",
            model(change=opsets(("", 20), ("ai.onnx", 11))),
            "it names two versions of the standard operators: 20 and 11",
        ),
        Broken(
            "opset_of_others",
            model(change=opsets(("com.acme", 1))),
            "node 'act' is Relu, which is a standard operator, but no version of these is named",
        ),
        Broken(
            "version_missing",
            model(change=lambda made: made.ClearField("ir_version")),
            f"its format is of version 0, expected 1 to {onnx.IR_VERSION}",
        ),
        Broken(
            "version_unknown",
            model(change=lambda made: setattr(made, "ir_version", 999)),
            f"its format is of version 999, expected 1 to {onnx.IR_VERSION}",
        ),
        Broken(
            "no_graph",
            model(change=lambda made: made.ClearField("graph")),
            "it holds no graph, expected an ONNX model",
        ),
        Broken(
            "no_outputs",
            model(change=lambda made: made.graph.ClearField("output")),
            "its graph has no outputs",
        ),
    ]


def tensors() -> list[Broken]:
    what = "initialiser 'w'"
    return [
        Broken(
            "shape_lie",
            product(claimed([30, 4], T.FLOAT)),
            f"{what} holds 48 bytes, expected 480 for 30x4xf32",
        ),
        Broken("type_lie", product(claimed([3, 4], T.DOUBLE)), f"{what} holds 48 bytes, expected 96 for 3x4xf64"),
        Broken(
            "type_unknown",
            product(claimed([3, 4], 999)),
            f"{what} has element type number 999, which is not supported",
        ),
        Broken(
            "too_few_elements",
            product(stored([3, 4], float_data=[1.0] * 5)),
            f"{what} holds 5 elements in float_data, expected 12 for 3x4xf32",
        ),
        Broken(
            "elements_of_another_type",
            product(stored([3, 4], int64_data=[1] * 12)),
            f"{what} holds 0 elements in float_data, expected 12 for 3x4xf32",
        ),
        Broken(
            "negative_extent",
            product(stored([3, -4])),
            f"{what} has extent -4 in dimension 1, expected 0 to 2^40",
        ),
        Broken(
            "huge_extent",
            product(stored([1 << 62, 4])),
            f"{what} has extent {1 << 62} in dimension 0, expected 0 to 2^40",
        ),
        Broken(
            "huge_product",
            product(stored([1 << 30, 1 << 30, 2])),
            f"{what} has {1 << 30}x{1 << 30}x2 elements, expected at most 2^60",
        ),
        Broken(
            "strings",
            product(h.make_tensor("w", T.STRING, [2], [b"a", b"b"])),
            f"{what} has element type string, which is not supported",
        ),
        Broken("sparse", model(change=_add_sparse), f"{what} is sparse, which is not supported"),
        Broken(
            "attribute_shape_lie",
            model([node("Constant", "", "c", "k", value=claimed([5], T.FLOAT)), node("Add", "x c", "y")]),
            "attribute 'value' of node 'k' (Constant) holds 48 bytes, expected 20 for 5xf32",
        ),
        Broken(
            "attribute_in_a_missing_file",
            model([node("Constant", "", "c", "k", value=external(location="w.bin").graph.initializer[0])]),
            "attribute 'value' of node 'k' (Constant) is in the file 'w.bin', which is missing",
        ),
    ]


def _add_sparse(made: onnx.ModelProto) -> None:
    sparse = made.graph.sparse_initializer.add()
    sparse.values.CopyFrom(tensor("w", [1, 2, 3]))
    sparse.indices.CopyFrom(tensor("", [0, 4, 8], np.int64))
    sparse.dims.extend([3, 4])


def external_data() -> list[Broken]:
    what = "initialiser 'w'"
    outside = "expected a path inside the folder of the model"
    return [
        Broken("file_missing", external(location="w.bin"), f"{what} is in the file 'w.bin', which is missing"),
        Broken("path_escapes", external(location="../w.bin"), f"{what} is in the file '../w.bin', {outside}"),
        Broken("path_absolute", external(location="/w.bin"), f"{what} is in the file '/w.bin', {outside}"),
        Broken("path_missing", external(), f"{what} is in the file '', {outside}"),
        Broken("path_with_zero", external(location="a\0b"), f"{what} is in the file 'a\\x00b', {outside}"),
        Broken(
            "path_of_a_folder",
            external(location="sub"),
            f"{what} is in 'sub', which is no regular file, expected a file",
        ),
        Broken(
            "path_of_a_link",
            external(location="link.bin"),
            f"{what} is in 'link.bin', which is a symbolic link, expected a file",
        ),
        Broken(
            "offset_too_large",
            external(location="data.bin", offset="1000"),
            f"{what} ends at byte 1048 of 'data.bin', which has 48",
        ),
        *(
            Broken(
                f"offset_malformed_{number}",
                external(location="data.bin", offset=offset),
                f"{what} lies at offset '{offset[:40]}' with length '48', expected numbers of bytes",
            )
            for number, offset in enumerate(["abc", "-5", "²", "9" * 5000])
        ),
        Broken(
            "length_lie",
            external(location="data.bin", length="10"),
            f"{what} holds 10 bytes, expected 48 for 3x4xf32",
        ),
    ]


def names() -> list[Broken]:
    hint = "\nhint: every value has a name of its own"
    cycle = [node("Add", "x b", "a", "A"), node("Relu", "a", "b", "B"), node("Relu", "b", "y")]
    weight = tensor("w", np.ones((3, 4)))
    twice = product(weight)
    twice.graph.initializer.append(weight)
    return [
        Broken("cycle", model(cycle), "its nodes depend on each other in a circle: A -> B -> A"),
        Broken(
            "cycle_of_one",
            model([node("Add", "x y", "y", "A")]),
            "its nodes depend on each other in a circle: A -> A",
        ),
        Broken(
            "output_twice",
            model([node("Relu", "x", "y", "A"), node("Neg", "x", "y", "B")]),
            "'y', output of node 'B' (Neg), is defined before" + hint,
        ),
        Broken(
            "output_is_an_input",
            model([node("Relu", "x", "x")], outputs=[info("x")]),
            "'x', output (Relu), is defined before" + hint,
        ),
        Broken("input_twice", model(inputs=[info("x"), info("x")]), "input 'x' is there twice"),
        Broken("initialiser_twice", twice, "initialiser 'w' is there twice"),
        Broken("result_twice", model(outputs=[info("y"), info("y")]), "output 'y' is there twice"),
        Broken(
            "input_undefined",
            model([node("Relu", "q", "y", "act")]),
            "node 'act' (Relu) uses 'q', which nothing computes",
        ),
        Broken(
            "input_undefined_in_a_body",
            model([_branches("nowhere")], inputs=[info("c", (), T.BOOL)]),
            "node 'if' (If) uses 'nowhere', which nothing computes",
        ),
        Broken("result_undefined", model([node("Relu", "x", "z")]), "output 'y' is computed by no node"),
    ]


def _branches(name: str) -> onnx.NodeProto:
    body = h.make_graph([node("Relu", name, "b")], "body", [], [info("b")])
    return node("If", "c", "y", "if", then_branch=body, else_branch=body)


def types() -> list[Broken]:
    two = [node("Relu", "x", "a", "first"), node("Relu", "a", "y")]
    sequence = h.make_tensor_sequence_value_info("x", T.FLOAT, None)
    optional = h.make_optional_type_proto(h.make_tensor_type_proto(T.FLOAT, [2]))
    unranked = h.make_tensor_value_info("x", T.FLOAT, None)
    return [
        Broken(
            "output_type_lie",
            model(outputs=[info("y", dtype=T.INT64)]),
            "'y' is declared with element type i64, but its node gives tensor<2x3xf32>",
        ),
        Broken(
            "value_type_lie",
            model(two, infos=[info("a", dtype=T.INT8)]),
            "node 'first' (Relu, opset 20): 'a' is declared with element type i8, but its node gives tensor<2x3xf32>",
        ),
        Broken(
            "input_huge",
            model(inputs=[info("x", (1 << 60,))]),
            f"'x' has extent {1 << 60} in dimension 0, expected 0 to 2^40",
        ),
        Broken(
            "input_huge_product",
            model(inputs=[info("x", (1 << 39, 1 << 39))]),
            f"'x' has {1 << 39}x{1 << 39} elements, expected at most 2^60",
        ),
        Broken(
            "input_negative",
            model(inputs=[info("x", (-5, 3))]),
            "'x' has extent -5 in dimension 0, expected 0 to 2^40",
        ),
        Broken(
            "input_of_strings",
            model(inputs=[info("x", dtype=T.STRING)]),
            "'x' has element type string, which is not supported",
        ),
        Broken(
            "input_complex",
            model(inputs=[info("x", dtype=T.COMPLEX64)]),
            "'x' has element type complex64, which is not supported",
        ),
        Broken("input_without_element_type", model(inputs=[info("x", dtype=0)]), "'x' has element type undefined"),
        Broken("input_sequence", model(inputs=[sequence]), "'x' has sequence type, expected that of a tensor"),
        Broken(
            "input_optional",
            model(inputs=[h.make_value_info("x", optional)]),
            "'x' has optional type, expected that of a tensor",
        ),
        Broken(
            "input_without_type",
            model(inputs=[onnx.ValueInfoProto(name="x")]),
            "'x' has no type, expected that of a tensor",
        ),
        Broken(
            "input_without_rank",
            model(inputs=[unranked]),
            "'x' has no declared rank\nhint: run shape inference over the model first",
        ),
    ]
