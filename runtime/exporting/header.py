"""The C header of an exported program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..program.arrays import ArrayType
from ..program.description import Argument

C_TYPES = {
    "f8E4M3FN": "uint8_t, 8-bit floats (E4M3FN)",
    "f8E5M2": "uint8_t, 8-bit floats (E5M2)",
    "f16": "16-bit floats (IEEE binary16)",
    "bf16": "16-bit floats (bfloat16)",
    "f32": "float",
    "f64": "double",
    "i1": "uint8_t, 0 or 1",
    **{f"i{bits}": f"uint8_t, an integer with a sign in the lower {bits} bits" for bits in (2, 4)},
    **{f"ui{bits}": f"uint8_t, an integer in the lower {bits} bits" for bits in (2, 4)},
    **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
}
"""The names of element types for C programs."""


def identifier(text: str) -> str:
    """Returns `text` as part of a C identifier: letters, digits and underscores, no digit first."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return plain if plain and not plain[0].isdigit() else f"m_{plain}"


def header_text(
    prefix: str,
    signature: str,
    inputs: Sequence[Argument],
    outputs: Sequence[Argument],
    weights: Sequence[Argument],
    weights_file: str | None,
    machine: str,
) -> str:
    """Returns the text of `prefix.h`: four functions, and of each array its place, element type, shape and bytes."""
    guard = f"{prefix.upper()}_H"
    donated = any(each.place_of is not None for each in outputs)
    apart = ", but for those in the place of an input" if donated else ""
    file = f"the path of '{weights_file}', written with this header" if weights_file else "not looked at (NULL will do)"
    lines = [
        f"/* {_comment(signature)}",
        "",
        f"   Compiled by Stepwell for {_comment(machine)}.",
        "   All arrays are row-major and contiguous, aligned as their elements are.",
        "   One context runs one call at a time; contexts are independent, and several threads may use one each. */",
        *(f"#ifndef {guard}", f"#define {guard}", ""),
        *("#ifdef __cplusplus", 'extern "C" {', "#endif", ""),
        f"typedef struct {prefix}_context {prefix}_context;",
        "",
        f"/* Makes a context: maps the weights, and prepares them for use. weights is {_comment(file)}.",
        (
            f"   Returns 0, or another number if it failed; then {prefix}_error says why, and *context is to be "
            "freed all the same. */"
        ),
        f"int {prefix}_load(const char *weights, {prefix}_context **context);",
        "",
        (
            f"/* Computes the outputs from the inputs. No output may overlap another array{apart}. Returns 0, or "
            "another number if the program"
        ),
        (
            f"   failed; then {prefix}_error says where and why, what the outputs hold is not defined, and the "
            "context can be used again. */"
        ),
        f"int {prefix}_run({prefix}_context *context, const void *const *inputs, void *const *outputs);",
        "",
        "/* The message of the last load or run, valid until the next one; empty if it did not fail. */",
        f"const char *{prefix}_error(const {prefix}_context *context);",
        "",
        "/* Frees a context, which may be NULL. */",
        f"void {prefix}_free({prefix}_context *context);",
        "",
        *_arrays(prefix, "INPUT", inputs),
        *_arrays(prefix, "OUTPUT", outputs),
    ]
    if weights:
        lines.append(f"/* In {_comment(weights_file or '')}:")
        lines += [f"     {_comment(each.key)}: {_comment(described(each.type))}" for each in weights]
        lines += ["*/", ""]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "#endif", ""])


def described(type_: ArrayType) -> str:
    """Returns what a comment says about an array: `float, 4 x 784, 12544 bytes`."""
    shape = " x ".join(map(str, type_.sizes)) or "a scalar"
    return f"{C_TYPES[type_.dtype]}, {shape}, {type_.nbytes} bytes"


def _arrays(prefix: str, role: str, arguments: Sequence[Argument]) -> Iterator[str]:
    """Yields lines that say how many arrays of a role there are, and of each its index and its bytes."""
    yield f"#define {prefix.upper()}_{role}S {len(arguments)}"
    taken: set[str] = set()
    for index, argument in enumerate(arguments):
        name = f"{prefix}_{role}_{identifier(argument.name)}".upper()
        while not taken.isdisjoint((name, f"{name}_BYTES")):
            name += f"_{index}"
        taken |= {name, f"{name}_BYTES"}
        place = "" if argument.place_of is None else f"; inputs[{argument.place_of}] may be the same array"
        yield f"/* {role.lower()}s[{index}], {_comment(argument.name)}: {_comment(described(argument.type))}{place} */"
        yield f"#define {name} {index}"
        yield f"#define {name}_BYTES {argument.type.nbytes}"
    yield ""


def _comment(text: str) -> str:
    """Returns `text` such that it can stand in a comment."""
    apart = re.sub(r"\*(?=/)|/(?=\*)", r"\g<0> ", text)  # `/*` in a comment is a warning
    return apart.replace("\n", " ")
