"""
Finds the weights in the bytes of a model, so that they need not be copied when it is parsed.

A message of protobuf is a row of fields. Each has a tag, which is a varint of `8 * number + type`, and a value: a
varint (type 0), 8 bytes (type 1), a length and as many bytes (type 2), or 4 bytes (type 5). A varint has 7 bits in each
byte, the lowest first, and the top bit says that more follow.

Source: <https://protobuf.dev/programming-guides/encoding/>; the numbers of fields are in onnx.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

GRAPH: Final = 7
"""A field of `ModelProto`."""
INITIALIZER: Final = 5
"""A field of `GraphProto`."""
NAME, RAW_DATA, EXTERNAL_DATA, DATA_LOCATION = 8, 9, 13, 14
"""Fields of `TensorProto`."""

VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5

LEAST_BYTES: Final = 4096
"""Shorter data stays in the message."""

Places = dict[str, tuple[int, int]]
"""The first byte and the end of the data of initialisers, by name."""


class Field(NamedTuple):
    """A field of a message, as places in the bytes: of its tag, of its value, and its end."""

    number: int
    type: int
    start: int
    value: int
    end: int


class WireError(ValueError):
    """Bytes that are no message, or one with fields of a kind that no model has."""


def without_weights(data: memoryview) -> tuple[bytes, Places] | None:
    """
    Returns the bytes of a `ModelProto` without the data of its larger initialisers, and where that data is.

    It is `None` for what is better left to protobuf: what is damaged or unusual.
    """
    try:
        graphs = [field for field in fields(data, 0, len(data)) if field.number == GRAPH]
        if len(graphs) != 1 or graphs[0].type != BYTES:
            return None
        (graph,) = graphs
        kept, places = _graph_without(data, graph)
    except WireError:
        return None
    length = varint(sum(map(len, kept)))
    return b"".join([data[: graph.start], varint(8 * GRAPH + BYTES), length, *kept, data[graph.end :]]), places


def _graph_without(data: memoryview, graph: Field) -> tuple[list[bytes | memoryview], Places]:
    kept: list[bytes | memoryview] = []
    places: Places = {}
    done = graph.value
    for field in fields(data, graph.value, graph.end):
        if field.number != INITIALIZER or field.type != BYTES or field.end - field.value < LEAST_BYTES:
            continue
        found = _raw_data(data, field)
        if found is None or found[0] in places:
            continue
        name, raw = found
        places[name] = raw.value, raw.end
        before, after = data[field.value : raw.start], data[raw.end : field.end]
        tag = varint(8 * INITIALIZER + BYTES)
        kept += [data[done : field.start], tag, varint(len(before) + len(after)), before, after]
        done = field.end
    return [*kept, data[done : graph.end]], places


def _raw_data(data: memoryview, tensor: Field) -> tuple[str, Field] | None:
    """Returns the name and the data of a tensor that has one of each, and the data inside of the model."""
    found: dict[int, list[Field]] = {}
    for field in fields(data, tensor.value, tensor.end):
        found.setdefault(field.number, []).append(field)
    names, raw = found.get(NAME, []), found.get(RAW_DATA, [])
    if len(names) != 1 or len(raw) != 1 or EXTERNAL_DATA in found or DATA_LOCATION in found:
        return None
    if names[0].type != BYTES or raw[0].type != BYTES or raw[0].end - raw[0].value < LEAST_BYTES:
        return None
    try:
        return bytes(data[names[0].value : names[0].end]).decode(), raw[0]
    except UnicodeDecodeError:
        return None


def fields(data: memoryview, begin: int, end: int) -> Iterator[Field]:
    """Yields the fields of the message in `data[begin:end]`. Raises `WireError`."""
    at = begin
    while at < end:
        start = at
        tag, at = read_varint(data, at, end)
        value, type_ = at, tag & 7
        if type_ == VARINT:
            _, at = read_varint(data, at, end)
        elif type_ == BYTES:
            length, value = read_varint(data, at, end)
            at = value + length
        elif type_ in (EIGHT_BYTES, FOUR_BYTES):
            at += 8 if type_ == EIGHT_BYTES else 4
        else:
            raise WireError(f"a field of type {type_}")
        if at > end:
            raise WireError("a field ends after its message")
        yield Field(tag >> 3, type_, start, value, at)


def read_varint(data: memoryview, at: int, end: int) -> tuple[int, int]:
    """Returns the number at a place and the place after it. Raises `WireError`."""
    number = 0
    for shift in range(0, 70, 7):
        if at >= end:
            break
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
    raise WireError("a number has no end")


def varint(number: int) -> bytes:
    """Returns a number as protobuf writes it."""
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)
