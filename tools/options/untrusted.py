"""
What a repro may do that comes from somebody else: commands that neither run its code nor write outside of its folder.

The tables name what is allowed, not what is forbidden. All else takes `--trust-code`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

from xdsl.dialects.builtin import ModuleOp

from ...core.messages.diagnostics import StepwellError
from ...core.text.parsing import make_context, parse_text
from ...runtime.saving.safety import make_safe
from ...trust.repro import LeftOut, Repro
from .streams import chunks

_COMMON: Final = "--color --debug --version --help -v -h"
_COMPILING: Final = "--opt-level --numerics --weights --threads --no-cache --entry"
_CHECKING: Final = "--check-semantics --check-schedule --bisect --test-rules --mutate-rules --check-rules"
"""The flags by which `stepwell opt` runs programs."""

FLAGS: Final[Mapping[str, str]] = {
    "opt": f"""-f --frontend --disable-verify --allow-unregistered-dialect --no-implicit-module -t --target -o
        --output-file -p --passes --print-between-passes --time-passes --verify-diagnostics --parsing-diagnostics
        --split-input-file --print-op-generic --print-no-properties --print-debuginfo --syntax-highlight --shrink
        --list-passes --list-dialects --list-plugins --explain-op --show-pipeline --opt-level --disable-pass
        --require-pass --config --save-pipeline --dump-dir --dump-failure --print-ir-before --print-ir-before-all
        --print-ir-after --print-ir-after-all --print-ir-after-change --verify-each {_CHECKING} --inputs --shapes
        --rewrite-limit --save-inputs --blame --became --kernel --remarks --statistics --externalize-weights
        --verify-weights --inline-weights --elide-weights --seed --cases --explain-match --pattern-stats""",
    "run": f"""{_COMPILING} -p --passes --input --inputs --random --shapes --output --repeat --time --profile
        --profile-by --profile-output --trace-values --check --save-inputs --print --ir --memory --export --target
        --tuning --verify-each""",
    "compile": f"{_COMPILING} -p --passes -o --output --cpu --small --dim",
    "import-onnx": "-o --output --weights --entry --dim --bind --print-debuginfo --quiet",
    "show": "-o --output --entry -p --passes --profile --chains",
    "calibrate": f"""{_COMPILING} --data -o --output --stats --bins --percentiles --recursive --multi --values
        --moments --reference --print-module""",
    "quantize": """-o --output --data --test --labels --drop --report --observer --percentile --symmetric
        --no-equalize --no-bias-correction --weights --block --zero-points --no-compensation --keep --keep-kind
        --no-times --entry --dim --threads --no-cache""",
    "reduce": "--wrong --message --crash --against -p --passes -o --output --test --jobs --timeout --seed --restart",
    "diff": "--passes-a --passes-b --inputs --shapes --dim --seed --exact --only --most",
    "fuzz": "--seconds --seed -p --passes --source --rules -o --most --jobs --timeout",
    "cache": "",
    "docs": "--path",
}
"""The flags of each verb that are allowed. Those that load or run code or leave checks out are not among them."""

RUNNING: Final = frozenset({"run", "compile", "calibrate", "quantize", "reduce", "diff", "fuzz"})
"""The verbs that run what they compile, if only to prepare weights."""

VARIABLES: Final = frozenset({f"STEPWELL_{name}" for name in ("FASTCALL", "THREADS", "TUNING_DB")})
"""The variables that are allowed. A cache of somebody else holds code."""

_CODE: Final = (".py", ".pyc", ".pyd", ".so", ".dylib", ".dll", ".stepwell")
_TOOL: Final = "mlir-opt"
"""The pass that runs a program, whose name is one of its options."""

_NUMBER: Final = re.compile(r"-\d[\d.e-]*")
_APART: Final = re.compile(r"""[\s=,:;"'{}()\[\]]+""")


def needs_trust(repro: Repro) -> str | None:
    """Returns what of a repro may run code or write outside of its folder, as an error says it, or `None`."""
    for name in repro.files:
        if name.endswith(_CODE):
            return f"has code that would run: '{name}'"
    word = _not_allowed(repro.words)
    if word is not None:
        return f"has '{word}', which may run code or change what is not in it"
    for variable, value in relative_variables(repro).items():
        if variable not in VARIABLES or _is_outside(value):
            return f"has the variable {variable}, which may run code or change what is not in it"
    given = {word.partition("=")[0] for word in repro.words}
    if repro.words[0] in RUNNING or not given.isdisjoint(_CHECKING.split()):
        return _raw_code(repro)
    return None


def relative_variables(repro: Repro) -> dict[str, str]:
    """Returns the variables of a repro but for those that name a place on the machine where it was made."""
    return {name: value for name, value in repro.variables.items() if not PurePosixPath(value).is_absolute()}


def _not_allowed(words: Sequence[str]) -> str | None:
    """Returns the verb or the first word that is not allowed, or `None`."""
    allowed = FLAGS.get(words[0])
    if allowed is None:
        return words[0]
    flags = frozenset(f"{allowed} {_COMMON}".split())
    for word in words[1:]:
        # A string of a pipeline may spell any name by escapes.
        if _TOOL in word or "\\" in word or _is_outside(word) or not _is_allowed(word, flags):
            return word
    return None


def _is_outside(word: str) -> bool:
    """Returns whether a part of a word, such as the value of a flag or of an option of a pass, leaves the folder."""
    pieces = [*_APART.split(word), *([word[2:]] if word.startswith("-") else [])]
    paths = [PurePosixPath(piece) for piece in pieces]
    return any(path.is_absolute() or ".." in path.parts for path in paths)


def _is_allowed(word: str, flags: frozenset[str]) -> bool:
    if not word.startswith("-") or word in ("-", "--") or _NUMBER.fullmatch(word):
        return True
    return (word.partition("=")[0] if word.startswith("--") else word[:2]) in flags


def _raw_code(repro: Repro) -> str | None:
    """Returns which program of a repro has ops that nothing checks, or `None`."""
    for name, data in repro.files.items():
        try:
            text = "" if isinstance(data, LeftOut) else data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        unregistered = "--allow-unregistered-dialect" in repro.words
        if "llvm" in text or any(_is_raw(module, name) for module in _modules(text, name, unregistered)):
            return f"has code that nothing checks and that would run: '{name}'"
    return None


def _modules(text: str, name: str, unregistered: bool) -> Iterator[ModuleOp]:
    """Yields the programs of a text. One that cannot be parsed does not run either."""
    for chunk in {text, *(each.text for each in chunks(text, split=True))}:
        context = make_context()
        context.allow_unregistered = unregistered
        with suppress(Exception):
            yield parse_text(context, chunk, name)


def _is_raw(module: ModuleOp, name: str) -> bool:
    if all(op.name.startswith("pattern.") for op in module.ops):
        return False
    try:
        make_safe(Path(name), module, name)
    except StepwellError:
        return True
    return False
