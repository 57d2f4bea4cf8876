"""The LLVM text of what an exported program asks the system for: its mapped weights and the number of threads."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.roles import RUN_PARALLEL
from ...core.weights import WeightEntry
from ...lazy_dataclass import dataclass
from ..native.threads_text import MOST_THREADS, POOL

NO_MEMORY, WRONG_PROCESSOR, NO_FILE, OTHER_FILE = -1, -2, -3, -4
"""What `load` returns beside 0 and the numbers of checks that failed."""


@dataclass(frozen=True)
class WeightsFile:
    """The file that a program expects: its name for messages, its first bytes, its size, and its tensors by key."""

    name: str
    header: bytes
    size: int
    entries: Mapping[str, WeightEntry]


def constant_bytes(data: bytes) -> str:
    """Returns a constant of LLVM text, `[n x i8] c"…"`."""
    plain = "".join(chr(byte) if 32 <= byte < 127 and byte not in (34, 92) else f"\\{byte:02X}" for byte in data)
    return f'[{len(data)} x i8] c"{plain}"'


def mapping_text(file: WeightsFile, is_apple: bool) -> list[str]:
    """
    Returns `ptr map(path, ptr status)`, which maps a file.

    It gives null and a status where the first bytes or the size of the file are not those expected.
    """
    flags = 0x1000004 if is_apple else 0x80800  # O_CLOEXEC, and O_NONBLOCK lest a pipe makes it wait for a writer
    return f"""
@header = internal constant {constant_bytes(file.header)}, align 16
declare i32 @open(ptr, i32, ...)
declare i32 @close(i32)
declare i64 @lseek(i32, i64, i32)
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @memcmp(ptr, ptr, i64)

define internal ptr @map(ptr %path, ptr %status) {{
entry:
  store i32 {NO_FILE}, ptr %status
  %is.null = icmp eq ptr %path, null
  br i1 %is.null, label %no, label %open
open:
  %file = call i32 (ptr, i32, ...) @open(ptr %path, i32 {flags})
  %is.shut = icmp slt i32 %file, 0
  br i1 %is.shut, label %no, label %measure
measure:
  store i32 {OTHER_FILE}, ptr %status
  %size = call i64 @lseek(i32 %file, i64 0, i32 2)
  %is.size = icmp eq i64 %size, {file.size}
  br i1 %is.size, label %map, label %close
map:
  %data = call ptr @mmap(ptr null, i64 {file.size}, i32 1, i32 2, i32 %file, i64 0)
  %is.mapped = icmp ne ptr %data, inttoptr (i64 -1 to ptr)
  br i1 %is.mapped, label %compare, label %close
compare:
  %difference = call i32 @memcmp(ptr %data, ptr @header, i64 {len(file.header)})
  %is.same = icmp eq i32 %difference, 0
  br i1 %is.same, label %yes, label %unmap
unmap:
  %unmapped = call i32 @munmap(ptr %data, i64 {file.size})
  br label %close
close:
  %closed = call i32 @close(i32 %file)
  br label %no
yes:
  %closed.good = call i32 @close(i32 %file)
  ret ptr %data
no:
  ret ptr null
}}
""".splitlines()


def parallel_text(chosen: int | None, is_apple: bool) -> list[str]:
    """Returns what runs parallel loops, and `void count()`, which sets the number of threads unless it is `chosen`."""
    head = f"""
@threads = internal global i32 {min(chosen or 1, MOST_THREADS)}, align 4
declare i32 @{POOL}(ptr, ptr, i64, i64, i64, i32)

define i32 @{RUN_PARALLEL}(ptr %task, ptr %frame, i64 %lower, i64 %upper, i64 %chunk) {{
  %threads = load atomic i32, ptr @threads monotonic, align 4
  %status = tail call i32 @{POOL}(ptr %task, ptr %frame, i64 %lower, i64 %upper, i64 %chunk, i32 %threads)
  ret i32 %status
}}
"""
    if chosen is not None:
        return [*head.splitlines(), "define internal void @count() {", "  ret void", "}"]
    return (head + _COUNT.replace("CPUS", _CPUS_APPLE if is_apple else _CPUS)).splitlines()


_CPUS = """
@mask = internal global [16 x i64] zeroinitializer, align 128
declare i32 @sched_getaffinity(i32, i64, ptr)
declare <16 x i64> @llvm.ctpop.v16i64(<16 x i64>)
declare i64 @llvm.vector.reduce.add.v16i64(<16 x i64>)

define internal i64 @cpus() {
  %got = call i32 @sched_getaffinity(i32 0, i64 128, ptr @mask)
  %bits = load <16 x i64>, ptr @mask, align 128
  %counts = call <16 x i64> @llvm.ctpop.v16i64(<16 x i64> %bits)
  %sum = call i64 @llvm.vector.reduce.add.v16i64(<16 x i64> %counts)
  ret i64 %sum
}
"""

_CPUS_APPLE = """
declare i64 @sysconf(i32)

define internal i64 @cpus() {
  %count = call i64 @sysconf(i32 58)
  ret i64 %count
}
"""

_COUNT = f"""CPUS
@variable = internal constant [17 x i8] c"STEPWELL_THREADS\\00"
declare ptr @getenv(ptr)
declare i64 @strtol(ptr, ptr, i32)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)

; STEPWELL_THREADS, else as many as the system lets this process use.
define internal void @count() {{
entry:
  %text = call ptr @getenv(ptr @variable)
  %is.unset = icmp eq ptr %text, null
  br i1 %is.unset, label %ask, label %read
read:
  %number = call i64 @strtol(ptr %text, ptr null, i32 10)
  %is.number = icmp sgt i64 %number, 0
  br i1 %is.number, label %keep, label %ask
ask:
  %cpus = call i64 @cpus()
  br label %keep
keep:
  %found = phi i64 [ %number, %read ], [ %cpus, %ask ]
  %some = call i64 @llvm.smax.i64(i64 %found, i64 1)
  %most = call i64 @llvm.smin.i64(i64 %some, i64 {MOST_THREADS})
  %threads = trunc i64 %most to i32
  store atomic i32 %threads, ptr @threads monotonic, align 4
  ret void
}}
"""
