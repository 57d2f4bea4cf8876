"""
The LLVM text of the pool of threads that all programs of a process share (docs/threads.md).

`i32 _stepwell_pool(task, frame, lower, upper, chunk, threads)` runs `i32 task(frame, first, end)` on `[lower, lower +
chunk)`, `[lower + chunk, lower + 2 * chunk)` … up to `upper`. It runs on at most `threads` threads, of which the caller
is one. It returns 0 or the status of the lowest chunk that failed. Chunks are the same for any number of threads. Only
getpid and pthreads of libc are used.

How one call goes:

* One caller at a time has the pool (`@busy`). Anyone else (another thread of Python, a task that calls the pool again)
  runs its chunks in order, alone. Nobody ever waits for the pool.
* The caller writes the job down, opens the `@gate`, bumps the `@epoch`, and takes chunks by incrementing `@next`. Every
  worker that gets in takes chunks too. Chunks are taken in order, so all before a failing one have run when the call
  returns.
* When no chunk is left, the caller closes the gate and waits for those inside: first it spins, then it sleeps.
* Workers look at the epoch for a while, then sleep. They are started when first wanted, and never end.
* All who take part add up the processor time of their chunks. A job that took longer than that by the clock would have
  been done sooner by one thread: workers had to wait for a core. After such a loss nobody shares for `PATIENCE` times
  as long as was lost, so on a busy machine sharing costs at most one part in `PATIENCE` of the time.
* A process that was forked has no workers: `@process` is the one whose state this is, another starts afresh.

The gate is one word, since entering must check and count at once. Bits 0 to 11 hold how many workers are inside, and
bits 12 to 23 how many may be. Bit 24 means that it is open, and bit 25 that the caller sleeps. A worker inside keeps
the call from returning, so the job that it reads is never that of another call.
"""

from __future__ import annotations

from ...machine.code_target import CodeTarget
from ...machine.families import pause_of

POOL = "_stepwell_pool"
SERIAL = "_stepwell_serial"
LIMITED = "_stepwell_limited"
LIMIT = "_stepwell_limit"
PATIENCE_OF_POOL = "_stepwell_patience"

MOST_THREADS = 1024
"""The most threads asked of a pool, since workers are counted in 12 bits."""

WORKER_SPINS = 1000
"""The number of looks at the epoch before a worker sleeps: about 40 µs with the pause of recent x86 cores."""

CALLER_SPINS = 500
"""
The number of looks at the gate before the caller sleeps.

A worker that lost its core needs ours, and spinning on would keep it from it.
"""

PATIENCE = 16
"""After a loss of time there are no further attempts for `PATIENCE` times as long."""

LONGEST_RETREAT = 1_000_000_000
"""The time, in nanoseconds, after which sharing is tried again, whatever was lost."""


def pool_text(target: CodeTarget, exported: bool = False) -> str:
    """Returns the text for a machine. What is `exported` needs no assembler."""
    pause = pause_of(target.architecture, exported)
    words = {
        "WORKER_SPINS": str(WORKER_SPINS),
        "CALLER_SPINS": str(CALLER_SPINS),
        "PATIENCE": str(PATIENCE),
        "LONGEST_RETREAT": str(LONGEST_RETREAT),
        "MONOTONIC": "6" if target.is_apple else "1",
        "CPU_OF_THREAD": "16" if target.is_apple else "3",
        "PAUSE": pause.text,
    }
    text = _TEXT
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


_TEXT = """
%job = type { ptr, ptr, i64, i64, i64, i64 }

@mutex = internal global [128 x i8] zeroinitializer, align 128
@work = internal global [128 x i8] zeroinitializer, align 128
@done = internal global [128 x i8] zeroinitializer, align 128
@job = internal global %job zeroinitializer, align 128
@failure = internal global i64 -1, align 128
@next = internal global i64 0, align 128
@spent = internal global i64 0, align 128
@gate = internal global i32 0, align 128
@epoch = internal global i32 0, align 128
@sleepers = internal global i32 0, align 4
@busy = internal global i32 0, align 128
@process = internal global i32 0, align 4
@_stepwell_patience = global i64 PATIENCE, align 8
@resume = internal global i64 0, align 8
@workers = internal global i32 0, align 4

declare i32 @getpid()
declare i32 @clock_gettime(i32, ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(ptr)

; Runs all chunks in order, no pool needed; stops at the first that fails.
define i32 @_stepwell_serial(ptr %task, ptr %frame, i64 %lower, i64 %upper, i64 %chunk) {
entry:
  %any = icmp slt i64 %lower, %upper
  br i1 %any, label %run, label %good
run:
  %first = phi i64 [ %lower, %entry ], [ %end, %on ]
  %ahead = add i64 %first, %chunk
  %end = call i64 @llvm.smin.i64(i64 %ahead, i64 %upper)
  %status = call i32 %task(ptr %frame, i64 %first, i64 %end)
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %bad, label %on
on:
  %more = icmp slt i64 %end, %upper
  br i1 %more, label %run, label %good
bad:
  ret i32 %status
good:
  ret i32 0
}

define i32 @_stepwell_pool(ptr %task, ptr %frame, i64 %lower, i64 %upper, i64 %chunk, i32 %threads) {
entry:
  %span = sub i64 %upper, %lower
  %has.chunks = icmp sgt i64 %span, %chunk
  %has.threads = icmp sgt i32 %threads, 1
  %worth = and i1 %has.chunks, %has.threads
  br i1 %worth, label %ready, label %serial
ready:
  %start.time = call i64 @clock(i32 MONOTONIC)
  %resume = load atomic i64, ptr @resume monotonic, align 8
  %is.retreat = icmp slt i64 %start.time, %resume
  br i1 %is.retreat, label %serial, label %look
look:
  %me = call i32 @getpid()
  %owner = load atomic i32, ptr @process acquire, align 4
  %is.mine = icmp eq i32 %owner, %me
  br i1 %is.mine, label %claim, label %other
other:
  %is.changing = icmp eq i32 %owner, -1
  br i1 %is.changing, label %serial, label %change
change:
  %change.pair = cmpxchg ptr @process, i32 %owner, i32 -1 acq_rel acquire, align 4
  %changes = extractvalue { i32, i1 } %change.pair, 1
  br i1 %changes, label %fresh, label %serial
fresh:
  %fresh.1 = call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  %fresh.2 = call i32 @pthread_cond_init(ptr @work, ptr null)
  %fresh.3 = call i32 @pthread_cond_init(ptr @done, ptr null)
  store atomic i32 0, ptr @gate monotonic, align 4
  store atomic i32 0, ptr @sleepers monotonic, align 4
  store i32 0, ptr @workers, align 4
  store atomic i32 0, ptr @busy monotonic, align 4
  store atomic i32 %me, ptr @process release, align 4
  br label %claim
claim:
  %busy.pair = cmpxchg ptr @busy, i32 0, i32 1 acq_rel monotonic, align 4
  %is.free = extractvalue { i32, i1 } %busy.pair, 1
  br i1 %is.free, label %open, label %serial
serial:
  %serial.status = call i32 @_stepwell_serial(ptr %task, ptr %frame, i64 %lower, i64 %upper, i64 %chunk)
  ret i32 %serial.status
open:
  %padded = add i64 %span, %chunk
  %padded.1 = sub i64 %padded, 1
  %count = sdiv i64 %padded.1, %chunk
  %spare = sub i32 %threads, 1
  %spare.wide = zext i32 %spare to i64
  %others = sub i64 %count, 1
  %helpers.wide = call i64 @llvm.smin.i64(i64 %spare.wide, i64 %others)
  %helpers = trunc i64 %helpers.wide to i32
  call void @start(i32 %helpers)
  store ptr %task, ptr @job, align 8
  store ptr %frame, ptr getelementptr (%job, ptr @job, i32 0, i32 1), align 8
  store i64 %lower, ptr getelementptr (%job, ptr @job, i32 0, i32 2), align 8
  store i64 %upper, ptr getelementptr (%job, ptr @job, i32 0, i32 3), align 8
  store i64 %chunk, ptr getelementptr (%job, ptr @job, i32 0, i32 4), align 8
  store i64 %count, ptr getelementptr (%job, ptr @job, i32 0, i32 5), align 8
  store atomic i64 0, ptr @next monotonic, align 8
  store atomic i64 -1, ptr @failure monotonic, align 8
  store atomic i64 0, ptr @spent monotonic, align 8
  %allowed = shl i32 %helpers, 12
  %opened = or i32 %allowed, 16777216
  store atomic i32 %opened, ptr @gate release, align 4
  %epoch = atomicrmw add ptr @epoch, i32 1 seq_cst, align 4
  %sleeping = load atomic i32, ptr @sleepers seq_cst, align 4
  %some.sleep = icmp sgt i32 %sleeping, 0
  br i1 %some.sleep, label %wake, label %share
wake:
  %wakes = call i32 @llvm.smin.i32(i32 %sleeping, i32 %helpers)
  %wake.1 = call i32 @pthread_mutex_lock(ptr @mutex)
  br label %signal
signal:
  %left = phi i32 [ %wakes, %wake ], [ %left.next, %signal ]
  %signalled = call i32 @pthread_cond_signal(ptr @work)
  %left.next = sub i32 %left, 1
  %signal.more = icmp sgt i32 %left.next, 0
  br i1 %signal.more, label %signal, label %woken
woken:
  %wake.2 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %share
share:
  call void @drain()
  %closed = atomicrmw and ptr @gate, i32 -16777217 acq_rel, align 4
  br label %watch
watch:
  %looks = phi i32 [ 0, %share ], [ %looks.next, %again ]
  %state = load atomic i32, ptr @gate acquire, align 4
  %inside = and i32 %state, 4095
  %all.out = icmp eq i32 %inside, 0
  br i1 %all.out, label %finish, label %again
again:
  PAUSE
  %looks.next = add i32 %looks, 1
  %tired = icmp eq i32 %looks.next, CALLER_SPINS
  br i1 %tired, label %lie.down, label %watch
lie.down:
  %lock = call i32 @pthread_mutex_lock(ptr @mutex)
  %flagged = atomicrmw or ptr @gate, i32 33554432 acq_rel, align 4
  br label %doze
doze:
  %state.2 = load atomic i32, ptr @gate acquire, align 4
  %inside.2 = and i32 %state.2, 4095
  %all.out.2 = icmp eq i32 %inside.2, 0
  br i1 %all.out.2, label %rise, label %sleep
sleep:
  %slept = call i32 @pthread_cond_wait(ptr @done, ptr @mutex)
  br label %doze
rise:
  %unlock = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %finish
finish:
  %failure = load atomic i64, ptr @failure acquire, align 8
  %is.good = icmp eq i64 %failure, -1
  %bad.status = trunc i64 %failure to i32
  %status = select i1 %is.good, i32 0, i32 %bad.status
  %end.time = call i64 @clock(i32 MONOTONIC)
  call void @judge(i64 %start.time, i64 %end.time)
  store atomic i32 0, ptr @busy release, align 4
  ret i32 %status
}

; What a clock of the system says, in nanoseconds.
define internal i64 @clock(i32 %which) {
  %now = alloca [2 x i64], align 8
  %got = call i32 @clock_gettime(i32 %which, ptr %now)
  %seconds = load i64, ptr %now, align 8
  %rest.at = getelementptr i64, ptr %now, i64 1
  %rest = load i64, ptr %rest.at, align 8
  %scaled = mul i64 %seconds, 1000000000
  %sum = add i64 %scaled, %rest
  ret i64 %sum
}

; Decides until when nobody shares, from the time a job took and the processor time of its chunks.
define internal void @judge(i64 %start, i64 %end) {
entry:
  %alone = load atomic i64, ptr @spent monotonic, align 8
  %took = sub i64 %end, %start
  %loss = sub i64 %took, %alone
  %tolerated = sdiv i64 %took, PATIENCE
  %is.loss = icmp sgt i64 %loss, %tolerated
  br i1 %is.loss, label %retreat, label %return
retreat:
  %patience = load atomic i64, ptr @_stepwell_patience monotonic, align 8
  %wanted = mul i64 %loss, %patience
  %pause = call i64 @llvm.smin.i64(i64 %wanted, i64 LONGEST_RETREAT)
  %until = add i64 %end, %pause
  store atomic i64 %until, ptr @resume monotonic, align 8
  br label %return
return:
  ret void
}

; Starts workers until there are %wanted, or the system gives no more; only who has the pool calls this.
define internal void @start(i32 %wanted) {
entry:
  %thread = alloca ptr, align 8
  br label %look
look:
  %have = load i32, ptr @workers, align 4
  %enough = icmp sge i32 %have, %wanted
  br i1 %enough, label %return, label %create
create:
  %epoch = load atomic i32, ptr @epoch monotonic, align 4
  %epoch.wide = zext i32 %epoch to i64
  %seen = inttoptr i64 %epoch.wide to ptr
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr %seen)
  %is.there = icmp eq i32 %failed, 0
  br i1 %is.there, label %count, label %return
count:
  %handle = load ptr, ptr %thread, align 8
  %detached = call i32 @pthread_detach(ptr %handle)
  %more = add i32 %have, 1
  store i32 %more, ptr @workers, align 4
  br label %look
return:
  ret void
}

; Takes chunks of the job until none is left.
define internal void @drain() {
entry:
  %before.cpu = call i64 @clock(i32 CPU_OF_THREAD)
  %task = load ptr, ptr @job, align 8
  %frame = load ptr, ptr getelementptr (%job, ptr @job, i32 0, i32 1), align 8
  %lower = load i64, ptr getelementptr (%job, ptr @job, i32 0, i32 2), align 8
  %upper = load i64, ptr getelementptr (%job, ptr @job, i32 0, i32 3), align 8
  %chunk = load i64, ptr getelementptr (%job, ptr @job, i32 0, i32 4), align 8
  %count = load i64, ptr getelementptr (%job, ptr @job, i32 0, i32 5), align 8
  br label %take
take:
  %ticket = atomicrmw add ptr @next, i64 1 monotonic, align 8
  %is.left = icmp slt i64 %ticket, %count
  br i1 %is.left, label %run, label %return
run:
  %offset = mul i64 %ticket, %chunk
  %first = add i64 %lower, %offset
  %ahead = add i64 %first, %chunk
  %end = call i64 @llvm.smin.i64(i64 %ahead, i64 %upper)
  %status = call i32 %task(ptr %frame, i64 %first, i64 %end)
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %fail, label %take
fail:
  ; the lowest chunk wins; those after it need not run
  %rank = shl i64 %ticket, 32
  %status.wide = zext i32 %status to i64
  %key = or i64 %rank, %status.wide
  %before = atomicrmw umin ptr @failure, i64 %key acq_rel, align 8
  %stopped = atomicrmw max ptr @next, i64 %count monotonic, align 8
  br label %return
return:
  %after.cpu = call i64 @clock(i32 CPU_OF_THREAD)
  %cpu = sub i64 %after.cpu, %before.cpu
  %total = atomicrmw add ptr @spent, i64 %cpu acq_rel, align 8
  ret void
}

define internal ptr @worker(ptr %seen) {
entry:
  %seen.wide = ptrtoint ptr %seen to i64
  %started = trunc i64 %seen.wide to i32
  br label %rest
rest:
  %last = phi i32 [ %started, %entry ], [ %now, %enter ], [ %now, %out ], [ %now, %tell ]
  br label %spin
spin:
  %looks = phi i32 [ 0, %rest ], [ %looks.next, %idle ]
  %found = load atomic i32, ptr @epoch seq_cst, align 4
  %is.new = icmp ne i32 %found, %last
  br i1 %is.new, label %go, label %idle
idle:
  PAUSE
  %looks.next = add i32 %looks, 1
  %tired = icmp eq i32 %looks.next, WORKER_SPINS
  br i1 %tired, label %lie.down, label %spin
lie.down:
  %lock = call i32 @pthread_mutex_lock(ptr @mutex)
  %sleepers.1 = atomicrmw add ptr @sleepers, i32 1 seq_cst, align 4
  br label %doze
doze:
  %found.2 = load atomic i32, ptr @epoch seq_cst, align 4
  %is.new.2 = icmp ne i32 %found.2, %last
  br i1 %is.new.2, label %rise, label %sleep
sleep:
  %slept = call i32 @pthread_cond_wait(ptr @work, ptr @mutex)
  br label %doze
rise:
  %sleepers.2 = atomicrmw sub ptr @sleepers, i32 1 seq_cst, align 4
  %unlock = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %go
go:
  %now = phi i32 [ %found, %spin ], [ %found.2, %rise ]
  %gate.first = load atomic i32, ptr @gate acquire, align 4
  br label %enter
enter:
  %gate = phi i32 [ %gate.first, %go ], [ %gate.seen, %try ]
  %open.bit = and i32 %gate, 16777216
  %is.open = icmp ne i32 %open.bit, 0
  %inside = and i32 %gate, 4095
  %allowed.high = lshr i32 %gate, 12
  %allowed = and i32 %allowed.high, 4095
  %has.room = icmp ult i32 %inside, %allowed
  %may = and i1 %is.open, %has.room
  br i1 %may, label %try, label %rest
try:
  %entered = add i32 %gate, 1
  %pair = cmpxchg ptr @gate, i32 %gate, i32 %entered acq_rel acquire, align 4
  %gate.seen = extractvalue { i32, i1 } %pair, 0
  %is.in = extractvalue { i32, i1 } %pair, 1
  br i1 %is.in, label %help, label %enter
help:
  call void @drain()
  br label %out
out:
  %left = atomicrmw sub ptr @gate, i32 1 acq_rel, align 4
  %left.count = and i32 %left, 33558527
  ; the last one out (count 1) while the caller sleeps (bit 25)
  %is.awaited = icmp eq i32 %left.count, 33554433
  br i1 %is.awaited, label %tell, label %rest
tell:
  %tell.1 = call i32 @pthread_mutex_lock(ptr @mutex)
  %tell.2 = call i32 @pthread_cond_signal(ptr @done)
  %tell.3 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %rest
}

declare i64 @llvm.smin.i64(i64, i64)
declare i32 @llvm.smin.i32(i32, i32)
"""
