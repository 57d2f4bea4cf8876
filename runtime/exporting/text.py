"""
The LLVM text around an exported program: what a C program calls (docs/shipping.md), linked with the program's own code.

`load` makes a context, one block of memory (`layout.py`), maps the weights and runs the prepare functions. `run` puts
the pointers it is given beside those that stay, and calls the entry. Nothing here depends on where it runs, apart from
the constants of Linux and macOS.

Of libc it uses posix_memalign, free, open, lseek, mmap, munmap, close, memcmp, and, for the number of threads, getenv,
strtol, sched_getaffinity or sysconf. The pool of threads uses more (`native/threads_text.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...core.roles import BUFFER_ALIGNMENT, prepare_key
from ...lazy_dataclass import dataclass
from ...lowering.llvm_text.names import symbol_text
from ..program.description import Argument, Entry
from .cpu import CHECK
from .layout import MAPPED, MESSAGE, POINTERS, Layout
from .system import NO_FILE, NO_MEMORY, WRONG_PROCESSOR, WeightsFile, constant_bytes, mapping_text, parallel_text


@dataclass(frozen=True)
class Glue:
    """
    What the text is made from.

    `prefix` begins the names of the functions. `made` are weights that are part of the code, by key. `checks[n - 1]` is
    the message of status n. `features` are those of the processor that the code needs. The number of `threads` is
    decided where the program runs when it is None.
    """

    prefix: str
    layout: Layout
    made: Mapping[str, bytes]
    checks: Sequence[str]
    file: WeightsFile | None
    features: Sequence[str]
    is_parallel: bool
    uses_tiles: bool
    threads: int | None
    is_apple: bool

    @property
    def exported(self) -> tuple[str, ...]:
        """The names of the functions that a C program can call."""
        return tuple(f"{self.prefix}_{name}" for name in ("load", "run", "error", "free"))


def glue_text(glue: Glue) -> str:
    """Returns all of the text but `cpu_text` and the pool."""
    return "\n".join(
        [
            *_DECLARATIONS,
            *_messages(glue),
            *_entries(glue.layout),
            *_made(glue),
            *(mapping_text(glue.file, glue.is_apple) if glue.file is not None else ()),
            *(parallel_text(glue.threads, glue.is_apple) if glue.is_parallel else ()),
            *_load(glue),
            *_run(glue),
            *_error_and_free(glue),
            "",
        ]
    )


_DECLARATIONS = (
    "declare i32 @posix_memalign(ptr, i64, i64)",
    "declare void @free(ptr)",
    "declare i32 @munmap(ptr, i64)",
    "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    f"declare i1 @{CHECK}()",
)


def _string(name: str, text: str) -> str:
    return f"@{name} = internal constant {constant_bytes(text.encode() + bytes(1))}"


def _messages(glue: Glue) -> Iterator[str]:
    name = "" if glue.file is None else glue.file.name
    yield _string("no.message", "")
    yield _string("no.memory", f"no memory for {glue.layout.size} bytes")
    needed = f": {', '.join(glue.features)}" if glue.features else ""
    yield _string("wrong.processor", f"the processor lacks instructions that the program was compiled for{needed}")
    yield _string("no.file", f"cannot open the weights file (exported as '{name}')")
    yield _string("other.file", f"the weights file is not the one exported with the program as '{name}'")
    for index, text in enumerate(glue.checks):
        yield _string(f"check{index}", text)
    table = ", ".join(f"ptr @check{index}" for index in range(len(glue.checks)))
    yield f"@checks = internal constant [{len(glue.checks)} x ptr] [{table}]"


def _entries(layout: Layout) -> Iterator[str]:
    symbols = dict.fromkeys(entry.symbol for entry in (*layout.prepares, layout.entry))
    return (f"declare i32 {symbol_text(symbol)}(ptr)" for symbol in symbols)


def _made(glue: Glue) -> Iterator[str]:
    for number, data in enumerate(glue.made.values()):
        yield f"@made{number} = internal constant {constant_bytes(data)}, align {BUFFER_ALIGNMENT}"


class _FunctionText:
    """The lines of a function. `place` and `store` add lines for pointers into a context or the file."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

    def add(self, line: str) -> None:
        self.lines.append(f"  {line}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def place(self, base: str, offset: int) -> str:
        name = self.name()
        self.add(f"{name} = getelementptr i8, ptr {base}, i64 {offset}")
        return name

    def store(self, value: str, base: str, offset: int) -> None:
        self.add(f"store ptr {value}, ptr {self.place(base, offset)}")


def _load(glue: Glue) -> list[str]:
    body, layout = _FunctionText(), glue.layout
    most = max([len(entry.arguments) for entry in layout.prepares], default=1)
    body.label("entry")
    body.add("%slot = alloca ptr, align 8")
    body.add("%status.at = alloca i32, align 4")
    body.add(f"%arguments = alloca [{max(most, 1)} x ptr], align 8")
    body.add("store ptr null, ptr %out")
    body.add(f"%refused = call i32 @posix_memalign(ptr %slot, i64 {BUFFER_ALIGNMENT}, i64 {layout.size})")
    body.add("%is.there = icmp eq i32 %refused, 0")
    body.add("br i1 %is.there, label %begin, label %none")
    body.label("begin")
    body.add("%context = load ptr, ptr %slot")
    body.add(f"call void @llvm.memset.p0.i64(ptr %context, i8 0, i64 {POINTERS}, i1 false)")
    body.add("store ptr @no.message, ptr %context")
    body.add("store ptr %context, ptr %out")
    body.add(f"%fits = call i1 @{CHECK}()")
    body.add("br i1 %fits, label %tiles, label %unfit")
    body.label("tiles")
    _ask_for_tiles(body, glue)
    body.label("weights")
    if glue.is_parallel:
        body.add("call void @count()")
    _map_weights(body, glue)
    for number, entry in enumerate(layout.prepares):
        _prepare(body, glue, entry, number)
    for index, argument in enumerate(layout.entry.arguments):
        if (place := _fixed_place(body, glue, argument)) is not None:
            body.store(place, "%context", POINTERS + 8 * index)
    body.add("ret i32 0")
    _failures(body, glue)
    return [f"define i32 @{glue.prefix}_load(ptr %path, ptr %out) {{", *body.lines, "}"]


def _ask_for_tiles(body: _FunctionText, glue: Glue) -> None:
    """Adds the request for tile registers (`machine/amx.py`), where the program uses them."""
    if not glue.uses_tiles:
        body.add("br label %weights")
        return
    body.add("%leave = call i64 (i64, ...) @syscall(i64 158, i64 4131, i64 18)")
    body.add("%has.leave = icmp eq i64 %leave, 0")
    body.add("br i1 %has.leave, label %weights, label %unfit")


def _map_weights(body: _FunctionText, glue: Glue) -> None:
    if glue.file is None:
        return
    body.add("%data = call ptr @map(ptr %path, ptr %status.at)")
    body.add("%map.status = load i32, ptr %status.at")
    body.add("%is.mapped = icmp ne ptr %data, null")
    body.add("br i1 %is.mapped, label %mapped, label %file")
    body.label("mapped")
    body.store("%data", "%context", MAPPED)


def _fixed_place(body: _FunctionText, glue: Glue, argument: Argument) -> str | None:
    """Returns the address of an argument that is the same on every call, or None for inputs and outputs."""
    if argument.role == "arena":
        return body.place("%context", glue.layout.arena)
    if argument.role != "weight":
        return None
    if (offset := glue.layout.prepared.get(argument.key)) is not None:
        return body.place("%context", offset)
    if argument.key in glue.made:
        return f"@made{list(glue.made).index(argument.key)}"
    assert glue.file is not None
    return body.place("%data", glue.file.entries[argument.key].begin)


def _prepare(body: _FunctionText, glue: Glue, entry: Entry, number: int) -> None:
    results = iter(range(len(entry.arguments)))
    for index, argument in enumerate(entry.arguments):
        place = _fixed_place(body, glue, argument)
        if place is None:
            place = body.place("%context", glue.layout.prepared[prepare_key(entry.name, next(results))])
        body.store(place, "%arguments", 8 * index)
    status = body.name()
    body.add(f"{status} = call i32 {symbol_text(entry.symbol)}(ptr %arguments)")
    body.add(f"store i32 {status}, ptr %status.at")
    good = body.name()
    body.add(f"{good} = icmp eq i32 {status}, 0")
    body.add(f"br i1 {good}, label %prepared{number}, label %failed")
    body.label(f"prepared{number}")


def _failures(body: _FunctionText, glue: Glue) -> None:
    """Adds the blocks in which `load` ends when it cannot go on. They keep the message in the context."""
    body.label("none")
    body.add(f"ret i32 {NO_MEMORY}")
    body.label("unfit")
    body.add("store ptr @wrong.processor, ptr %context")
    body.add(f"ret i32 {WRONG_PROCESSOR}")
    if glue.file is not None:
        body.label("file")
        body.add(f"%is.absent = icmp eq i32 %map.status, {NO_FILE}")
        body.add("%file.message = select i1 %is.absent, ptr @no.file, ptr @other.file")
        body.add("store ptr %file.message, ptr %context")
        body.add("ret i32 %map.status")
    if glue.layout.prepares:
        body.label("failed")
        body.add("%failed.status = load i32, ptr %status.at")
        _keep_message(body, "%failed.status")
        body.add("ret i32 %failed.status")


def _keep_message(body: _FunctionText, status: str) -> None:
    index, place, message = body.name(), body.name(), body.name()
    body.add(f"{index} = sub i32 {status}, 1")
    body.add(f"{place} = getelementptr ptr, ptr @checks, i32 {index}")
    body.add(f"{message} = load ptr, ptr {place}")
    body.add(f"store ptr {message}, ptr %context")


def _run(glue: Glue) -> list[str]:
    body, seen = _FunctionText(), {"input": 0, "output": 0}
    body.label("entry")
    for index, argument in enumerate(glue.layout.entry.arguments):
        if argument.role in seen:
            pointer = body.name()
            place = body.place(f"%{argument.role}s", 8 * seen[argument.role])
            body.add(f"{pointer} = load ptr, ptr {place}")
            body.store(pointer, "%context", POINTERS + 8 * index)
            seen[argument.role] += 1
    body.add("store ptr @no.message, ptr %context")
    arguments = body.place("%context", POINTERS)
    body.add(f"%status = call i32 {symbol_text(glue.layout.entry.symbol)}(ptr {arguments})")
    body.add("%is.good = icmp eq i32 %status, 0")
    body.add("br i1 %is.good, label %end, label %failed")
    body.label("failed")
    _keep_message(body, "%status")
    body.add("br label %end")
    body.label("end")
    body.add("ret i32 %status")
    head = f"define i32 @{glue.prefix}_run(ptr %context, ptr %inputs, ptr %outputs) {{"
    return [head, *body.lines, "}"]


def _error_and_free(glue: Glue) -> list[str]:
    size = 0 if glue.file is None else glue.file.size
    tiles = "declare i64 @syscall(i64, ...)" if glue.uses_tiles else ""
    return f"""{tiles}
define ptr @{glue.prefix}_error(ptr %context) {{
entry:
  %is.none = icmp eq ptr %context, null
  br i1 %is.none, label %none, label %some
none:
  ret ptr @no.memory
some:
  %at = getelementptr i8, ptr %context, i64 {MESSAGE}
  %message = load ptr, ptr %at
  ret ptr %message
}}

define void @{glue.prefix}_free(ptr %context) {{
entry:
  %is.none = icmp eq ptr %context, null
  br i1 %is.none, label %end, label %some
some:
  %at = getelementptr i8, ptr %context, i64 {MAPPED}
  %data = load ptr, ptr %at
  %is.mapped = icmp ne ptr %data, null
  br i1 %is.mapped, label %unmap, label %drop
unmap:
  %unmapped = call i32 @munmap(ptr %data, i64 {size})
  br label %drop
drop:
  call void @free(ptr %context)
  br label %end
end:
  ret void
}}
""".splitlines()
