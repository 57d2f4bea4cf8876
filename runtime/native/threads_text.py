"""
The LLVM text of the pool of threads that all programs of a process share (docs/threads.md).

`i32 _stepwell_pool(task, frame, lower, upper, chunk, threads)` runs `i32 task(frame, first, end)` on `[lower, lower +
chunk)`, `[lower + chunk, lower + 2 * chunk)` … up to `upper`. It runs on at most `threads` threads, of which the caller
is one. It returns 0 or the status of the lowest chunk that failed. Chunks are the same for any number of threads. Of
libc it needs pthreads, getpid, clock_gettime, and on Linux mmap, munmap and madvise. `pool_text.py` holds the job and
the worker, `pool_parts_text.py` the rest.

How one call goes:

* One caller at a time has the pool (`@busy`). Anyone else (another thread of Python, a task that calls the pool again)
  runs its chunks in order, alone. Nobody ever waits for the pool.
* The caller writes the job down, opens the `@gate`, bumps the `@epoch`, and takes chunks by incrementing `@next`. Every
  worker that gets in takes chunks too. Chunks are taken in order, so all before a failing one have run when the call
  returns.
* When no chunk is left, the caller closes the gate and waits for those inside: first it spins, then it sleeps.
* Workers look at the epoch for a while, then sleep. They are started when first wanted, and never end. The caller wakes
  at most two of those it lacks. Each that comes wakes two more while there is room inside.
* A thread that takes part compares its processor time with the clock about once in `WINDOW`. Between jobs it spins, so
  any difference is time without a core. Such losses add to a debt, and windows without loss pay it off. A loss that
  takes the debt over `BUDGET` keeps everybody from sharing for `PATIENCE` times as long. The debt then stays at the
  budget, so the next loss does so too. On a busy machine sharing costs about one part in `PATIENCE` of the time, and on
  a quiet one a rare loss costs no more than itself.
* A process that was forked has no workers: `@process` is the one whose state this is, another starts afresh. On Linux
  the fork wipes a page, so that a job needs no system call to find out.

The gate is one word, since entering must check and count at once. Bits 0 to 11 hold how many workers are inside, and
bits 12 to 23 how many may be. Bit 24 means that it is open, and bit 25 that the caller sleeps. A worker inside keeps
the call from returning, so the job that it reads is never that of another call.
"""

from __future__ import annotations

from ...machine.code_target import CodeTarget
from ...machine.families import pause_of
from .pool_parts_text import NOT_WIPED, PARTS, WIPED_ON_FORK
from .pool_text import TEXT

POOL = "_stepwell_pool"
SERIAL = "_stepwell_serial"
LIMITED = "_stepwell_limited"
LIMIT = "_stepwell_limit"
PATIENCE_OF_POOL = "_stepwell_patience"
DEBT_OF_POOL = "_stepwell_debt"

MOST_THREADS = 1024
"""The most threads asked of a pool, since workers are counted in 12 bits."""

WORKER_SPIN = 200_000
"""
The time, in nanoseconds, that a worker looks for work before it sleeps: a few times what waking it costs.

The kernels of a program between two shared loops seldom take longer, so workers stay awake through it.
"""

CALLER_SPIN = 100_000
"""
The time, in nanoseconds, that the caller waits for workers before it sleeps.

A worker that lost its core needs ours, and spinning on would keep it from it.
"""

LOOKS = 64
"""The number of looks between two at the clock, a power of two."""

WINDOW = 1_000_000
"""
The nanoseconds after which a thread asks for its processor time. The question is a system call of 0.2 to 1 µs, too much
for each job.
"""

GAP = 100_000
"""A caller that has not shared for so many nanoseconds may have slept, so its window begins anew."""

TOLERANCE = 4
"""
A thread that was without a core for less than one part in `TOLERANCE` of its window gained more than it lost. That part
of each window is taken from the debt.
"""

BUDGET = 8_000_000
"""
The debt, in nanoseconds, that stops nobody: two or three slices of time that the scheduler of Linux gives to another
process. Eight quiet milliseconds of four threads pay it off, or 32 of one.
"""

PATIENCE = 16
"""After a loss over the budget there are no further attempts for `PATIENCE` times as long."""

LONGEST_RETREAT = 1_000_000_000
"""The time, in nanoseconds, after which sharing is tried again, whatever was lost."""


def pool_text(target: CodeTarget, exported: bool = False) -> str:
    """Returns the text for a machine. What is `exported` needs no assembler."""
    pause = pause_of(target.architecture, exported)
    words = {
        "WORKER_SPIN": str(WORKER_SPIN),
        "CALLER_SPIN": str(CALLER_SPIN),
        "LOOKS": str(LOOKS - 1),
        "WINDOW": str(WINDOW),
        "GAP": str(GAP),
        "TOLERANCE": str(TOLERANCE),
        "BUDGET": str(BUDGET),
        "PATIENCE": str(PATIENCE),
        "LONGEST_RETREAT": str(LONGEST_RETREAT),
        "MONOTONIC": "6" if target.is_apple else "1",
        "CPU_OF_THREAD": "16" if target.is_apple else "3",
        "PAUSE": pause.text,
    }
    text = TEXT + PARTS + (NOT_WIPED if target.is_apple else WIPED_ON_FORK)
    for word, value in words.items():
        text = text.replace(word, value)
    return pause.declaration + text


LIMITED_TEXT = f"""
@{LIMIT} = global i32 1

declare i32 @{POOL}(ptr, ptr, i64, i64, i64, i32)

define i32 @{LIMITED}(ptr %task, ptr %frame, i64 %lower, i64 %upper, i64 %chunk) {{
  %threads = load i32, ptr @{LIMIT}
  %status = tail call i32 @{POOL}(ptr %task, ptr %frame, i64 %lower, i64 %upper, i64 %chunk, i32 %threads)
  ret i32 %status
}}
"""
"""
The function that programs with at most `LIMIT` threads call. It is loaded once per number, which is then written there.
So its code does not depend on the number, and a saved program holds it.
"""
