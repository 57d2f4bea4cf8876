"""Saved programs that are damaged, or made with malice: what `stepwell.load` must refuse without running anything."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from stepwell.runtime.saving.container import Container, write_container

Parts = dict[str, bytes]

WORDS = (
    ("method deflate", "entry", 10, "<H", 8),
    ("encrypted", "entry", 8, "<H", 1),
    ("another checksum", "entry", 16, "<L", 1),
    ("a name of 65535 bytes", "entry", 28, "<H", 0xFFFF),
    ("an extra field of 65535 bytes", "entry", 30, "<H", 0xFFFF),
    ("size 0", "sizes", 0, "<Q", 0),
    ("size 2^63", "sizes", 0, "<Q", 1 << 63),
    ("size of all ones", "sizes", 0, "<Q", (1 << 64) - 1),
    ("compressed to one byte", "sizes", 8, "<Q", 1),
    ("overlaps another entry", "sizes", 16, "<Q", 64),
    ("begins behind the file", "sizes", 16, "<Q", 1 << 62),
    ("count 0", "end", 24, "<Q", 0),
    ("count 2^60", "end", 32, "<Q", 1 << 60),
    ("a directory of 2^60 bytes", "end", 40, "<Q", 1 << 60),
    ("a directory at 2^60", "end", 48, "<Q", 1 << 60),
    ("a directory at 0", "end", 48, "<Q", 0),
    ("two disks", "end", 16, "<L", 1),
)
"""What is wrong, and where: the number at an offset in the first entry of the directory, or in the end."""


def parts_of(path: Path) -> Parts:
    """Returns the data of every entry, in order."""
    container = Container(path)
    return {name: container.data(name) for name in container.names}


def rebuilt(path: Path, parts: Parts, change: Callable[[dict[str, Any]], None] | None = None) -> Path:
    """Writes a container of `parts` with right hashes. `change` edits the manifest last."""
    manifest = json.loads(parts["stepwell.json"])
    manifest["hashes"] = {name: sha256(data).hexdigest() for name, data in parts.items() if name != "stepwell.json"}
    if change is not None:
        change(manifest)
    parts = parts | {"stepwell.json": json.dumps(manifest).encode()}
    write_container(path, [(name, [data]) for name, data in parts.items()])
    return path


def flips(data: bytes, container: Container) -> Iterator[tuple[str, bytes]]:
    """Yields files with one byte changed: of each header, of the data of each entry, and of the end."""
    places = [(name, container.place(name)) for name in container.names]
    before = 0
    for name, (begin, end) in places:
        for at in range(before, begin, 7):
            yield f"header of {name} at {at - before}", flipped(data, at)
        for at in sorted({begin, (begin + end) // 2, end - 1}):
            yield f"data of {name} at {at - begin}", flipped(data, at)
        before = end
    for at in range(before, len(data), 11):
        yield f"directory at {at - before}", flipped(data, at)


def flipped(data: bytes, at: int) -> bytes:
    """Returns `data` with all bits of one byte changed."""
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def cuts(data: bytes, container: Container) -> Iterator[tuple[str, bytes]]:
    """Yields files that end too early, too late, or have lost or won bytes in the middle."""
    for name in container.names:
        begin, end = container.place(name)
        yield f"cut before {name}", data[:begin]
        yield f"cut behind {name}", data[:end]
        yield f"cut in {name} and continued", data[:begin] + data[begin + 1 :]
    yield "empty", b""
    yield "one byte", data[:1]
    yield "without the last byte", data[:-1]
    yield "with a byte more", data + b"\0"
    yield "behind another file", b"#!/bin/sh\n" + data
    yield "twice", data + data
    yield "a comment of zip", data[:-2] + struct.pack("<H", 5) + b"hello"


def words(data: bytes, container: Container) -> Iterator[tuple[str, bytes]]:
    """Yields files whose directory claims other sizes, places, counts, methods or flags than there are."""
    last = container.names[-1]
    directory = container.place(last)[1]
    first_name = data.index(b"stepwell.json", directory)
    bases = {
        "entry": first_name - 46,
        "sizes": first_name + len("stepwell.json") + 4,
        "end": len(data) - 98,
    }
    for what, base, offset, form, value in WORDS:
        at = bases[base] + offset
        yield what, data[:at] + struct.pack(form, value) + data[at + struct.calcsize(form) :]


NAMES = (b"/etc/pass.wd", b"../../../a.m", b"a/../../b.tx", b"C:\\wind\\a.dl", b"a\0b.mlir.tx", b"STEPWELL.JSO")


def names(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields files with other names of entries, of the same length in all places."""
    for name in NAMES:
        yield f"an entry {name!r}", data.replace(b"program.mlir", name.ljust(12, b"x"))


def fields(**fields: Any) -> Callable[[dict[str, Any]], None]:
    """Returns what sets fields of a manifest."""
    return lambda manifest: manifest.update(fields)


MANIFESTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "format": fields(format=2),
    "no format": lambda manifest: manifest.pop("format"),
    "a format that is true": fields(format=True),
    "an entry that is not there": fields(entry="other"),
    "an entry that is a number": fields(entry=7),
    "inputs that do not fit": fields(inputs=[["x", "f32", [4, 65]]]),
    "outputs that do not fit": fields(outputs=[["y", "f64", [4, 32]]]),
    "no outputs": fields(outputs=[]),
    "a negative size": fields(inputs=[["x", "f32", [4, -64]]]),
    "a size that is text": fields(inputs=[["x", "f32", ["4", 64]]]),
    "threads 0": fields(threads=0),
    "a pass that reads files": fields(pipeline='apply-patterns{patterns="/etc/passwd"},O3'),
    "a pass that leaves checks out": fields(pipeline="lower-to-llvm-dialect,finish"),
    "an option that leaves checks out": fields(pipeline="guard-accesses{check-bounds=false},finish"),
    "an option with a path": fields(pipeline='plan-fusion{rules="../rules.mlir"},finish'),
    "an unknown pass": fields(pipeline="no-such-pass"),
    "a malformed pipeline": fields(pipeline="O3,{{"),
    "a context without checks": fields(context=[3, ["guard-accesses"], [], {}]),
    "a context of level 0 and no dict": fields(context=[0, [], [], []]),
    "a configuration without checks": fields(context=[3, [], [], {"check-bounds": False}]),
    "an unknown target": fields(context=[3, [], [], {"target": "no-such-machine"}]),
    "levels that are no list": fields(levels={}),
    "a level without fields": fields(levels=[{}]),
    "another hash": lambda manifest: manifest["hashes"].update({"program.mlir": "0" * 64}),
    "no hashes": fields(hashes={}),
    "a hash of nothing": lambda manifest: manifest["hashes"].update({"code/x.o": "0" * 64}),
    "code outside of the file": lambda manifest: manifest["levels"][0].update(programs=[[None, "../../tmp/x"]]),
}


def manifests(parts: Parts, path: Path) -> Iterator[tuple[str, Path]]:
    """Yields whole files whose manifest says what is not so. Each one is written to `path`."""
    for what, change in MANIFESTS.items():
        yield f"manifest: {what}", rebuilt(path, parts, change)


INSIDE = {
    "an op of llvm": "%n = llvm.mlir.constant(1 : i64) : i64",
    "an address": "%n = arith.constant 1 : i64\n%p = llvm.inttoptr %n : i64 to !llvm.ptr",
    "a cast to anything": "%n = arith.constant 1 : i64\n%p = builtin.unrealized_conversion_cast %n : i64 to index",
    "an op that is not known": '"os.system"() : () -> ()',
}
"""Lines to be put into the entry."""

AFTER = {
    "outside code": "func.func private @system(tensor<4xf32>) -> tensor<4xf32>",
    "a code generator": """
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.compiler = "openblas"} {
  func.return %x : tensor<4xf32>
}""",
    "a function that LLVM calls by itself": """
func.func private @memcpy(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}""",
    "an access that is not checked": """
tensor_loop.func private @k(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "b" spatial(%v in 4 = %i) attributes {stepwell.unchecked} {
      %k = arith.constant 1000000 : index
      %a = memref.load %A[%k] : memref<4xf32>
      memref.store %a, %B[%v] : memref<4xf32>
    }
  }
}""",
}
"""Functions to be put behind the entry."""


def texts(parts: Parts, path: Path) -> Iterator[tuple[str, Path]]:
    """Yields whole files whose text does what nothing checks, or is none. Each one is written to `path`."""
    text = parts["program.mlir"].decode()
    body = text.index("\n", text.index("func.func @main")) + 1
    changed = {what: f"{text[:body]}{line}\n{text[body:]}" for what, line in INSIDE.items()}
    changed |= {what: f"{text}\n{function}\n" for what, function in AFTER.items()}
    changed |= {
        "no text": "",
        "half a text": text[: len(text) // 2],
        "text of another language": "import os\nos.system('id')\n",
        "another weight": text.replace('"w"', '"v"'),
        "a weight of another shape": text.replace("64x32xf32", "64x33xf32").replace("4x32xf32", "4x33xf32"),
        "deep nesting": "module {" * 3000 + "}" * 3000,
    }
    for what, program in changed.items():
        yield f"text: {what}", rebuilt(path, parts | {"program.mlir": program.encode()})
    yield "text: not UTF-8", rebuilt(path, parts | {"program.mlir": b"\xff\xfe" + text.encode()})


def entries(parts: Parts, path: Path) -> Iterator[tuple[str, Path]]:
    """Yields whole files with entries too many, too few, in another order, or with other weights."""
    weights = parts["weights.safetensors"]
    length = int.from_bytes(weights[:8], "little")
    header = weights[8 : 8 + length].replace(b"[64,32]", b"[4611686018427387904,2]")[:length]
    huge = weights[:8] + header + weights[8 + length :]
    yield "an entry that nothing uses", rebuilt(path, parts | {"extra.bin": b"x"})
    yield "no text", rebuilt(path, {name: data for name, data in parts.items() if name != "program.mlir"})
    yield "no weights", rebuilt(path, {name: data for name, data in parts.items() if name != "weights.safetensors"})
    first = "program.mlir"
    yield "another order", rebuilt(path, {first: parts[first]} | parts)
    for what, changed in {
        "a header of 2^60 bytes": (1 << 60).to_bytes(8, "little") + weights[8:],
        "no header": weights[:8],
        "nothing": b"",
        "a shape that does not fit": weights.replace(b"[64,32]", b"[64,33]"),
        "a size of 2^62": huge,
        "an offset behind the end": weights.replace(b"[0,8192]", b"[64,8256]"[:8]),
        "an element type that is not known": weights.replace(b'"F32"', b'"Q99"'),
        "another element type": weights.replace(b'"F32"', b'"I32"'),
    }.items():
        yield f"weights: {what}", rebuilt(path, parts | {"weights.safetensors": changed})
