"""The LLVM text of the pool. `threads_text.py` says how it works and fills in the words in capitals."""

TEXT = """
%job = type { ptr, ptr, i64, i64, i64, i64 }
%sample = type { i64, i64 }

@mutex = internal global [128 x i8] zeroinitializer, align 128
@work = internal global [128 x i8] zeroinitializer, align 128
@done = internal global [128 x i8] zeroinitializer, align 128
@job = internal global %job zeroinitializer, align 128
@failure = internal global i64 -1, align 128
@next = internal global i64 0, align 128
@gate = internal global i32 0, align 128
@epoch = internal global i32 0, align 128
@sleepers = internal global i32 0, align 4
@busy = internal global i32 0, align 128
@process = internal global i32 0, align 4
@_stepwell_patience = global i64 PATIENCE, align 8
@_stepwell_debt = global i64 0, align 8
@resume = internal global i64 0, align 8
@workers = internal global i32 0, align 4
@page = internal global ptr null, align 8
@caller = internal global %sample zeroinitializer, align 8
@caller.self = internal global ptr null, align 8
@caller.end = internal global i64 0, align 8

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
declare ptr @pthread_self()

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
  ; a page that a fork wipes says for less than a system call whether this process has set up the pool
  %page = load atomic ptr, ptr @page acquire, align 8
  %has.page = icmp ne ptr %page, null
  br i1 %has.page, label %read, label %ask
read:
  %mark = load atomic i32, ptr %page acquire, align 4
  %is.marked = icmp ne i32 %mark, 0
  br i1 %is.marked, label %claim, label %ask
ask:
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
  store ptr null, ptr @caller.self, align 8
  call void @mark()
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
  call void @settle(i64 %start.time)
  store ptr %task, ptr @job, align 8
  store ptr %frame, ptr getelementptr (%job, ptr @job, i32 0, i32 1), align 8
  store i64 %lower, ptr getelementptr (%job, ptr @job, i32 0, i32 2), align 8
  store i64 %upper, ptr getelementptr (%job, ptr @job, i32 0, i32 3), align 8
  store i64 %chunk, ptr getelementptr (%job, ptr @job, i32 0, i32 4), align 8
  store i64 %count, ptr getelementptr (%job, ptr @job, i32 0, i32 5), align 8
  store atomic i64 0, ptr @next monotonic, align 8
  store atomic i64 -1, ptr @failure monotonic, align 8
  %allowed = shl i32 %helpers, 12
  %opened = or i32 %allowed, 16777216
  store atomic i32 %opened, ptr @gate release, align 4
  %epoch = atomicrmw add ptr @epoch, i32 1 seq_cst, align 4
  %sleeping = load atomic i32, ptr @sleepers seq_cst, align 4
  %have = load i32, ptr @workers, align 4
  %awake = sub i32 %have, %sleeping
  %missing = sub i32 %helpers, %awake
  call void @wake(i32 %missing)
  br label %share
share:
  call void @drain()
  %closed = atomicrmw and ptr @gate, i32 -16777217 acq_rel, align 4
  %wait.time = call i64 @clock(i32 MONOTONIC)
  br label %watch
watch:
  %looks = phi i32 [ 0, %share ], [ %looks.next, %again ], [ %looks.next, %time ]
  %state = load atomic i32, ptr @gate acquire, align 4
  %inside = and i32 %state, 4095
  %all.out = icmp eq i32 %inside, 0
  br i1 %all.out, label %finish, label %again
again:
  PAUSE
  %looks.next = add i32 %looks, 1
  %looks.low = and i32 %looks.next, LOOKS
  %looks.due = icmp eq i32 %looks.low, 0
  br i1 %looks.due, label %time, label %watch
time:
  %time.now = call i64 @clock(i32 MONOTONIC)
  %waited = sub i64 %time.now, %wait.time
  %tired = icmp sgt i64 %waited, CALLER_SPIN
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
  store i64 %end.time, ptr @caller.end, align 8
  call void @judge(ptr @caller, i64 %end.time)
  store atomic i32 0, ptr @busy release, align 4
  ret i32 %status
}

; Takes chunks of the job until none is left.
define internal void @drain() {
entry:
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
  ret void
}

define internal ptr @worker(ptr %seen) {
entry:
  %sample = alloca %sample, align 8
  %seen.wide = ptrtoint ptr %seen to i64
  %started = trunc i64 %seen.wide to i32
  %start.time = call i64 @clock(i32 MONOTONIC)
  call void @sample(ptr %sample, i64 %start.time)
  br label %rest
rest:
  %last = phi i32 [ %started, %entry ], [ %now, %enter ], [ %now, %judge ]
  %rest.time = call i64 @clock(i32 MONOTONIC)
  br label %spin
spin:
  %looks = phi i32 [ 0, %rest ], [ %looks.next, %idle ], [ %looks.next, %time ]
  %found = load atomic i32, ptr @epoch seq_cst, align 4
  %is.new = icmp ne i32 %found, %last
  br i1 %is.new, label %go, label %idle
idle:
  PAUSE
  %looks.next = add i32 %looks, 1
  %looks.low = and i32 %looks.next, LOOKS
  %looks.due = icmp eq i32 %looks.low, 0
  br i1 %looks.due, label %time, label %spin
time:
  %time.now = call i64 @clock(i32 MONOTONIC)
  %rested = sub i64 %time.now, %rest.time
  %tired = icmp sgt i64 %rested, WORKER_SPIN
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
  %rise.time = call i64 @clock(i32 MONOTONIC)
  call void @sample(ptr %sample, i64 %rise.time)
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
  %entered.count = add i32 %inside, 1
  %pair = cmpxchg ptr @gate, i32 %gate, i32 %entered acq_rel acquire, align 4
  %gate.seen = extractvalue { i32, i1 } %pair, 0
  %is.in = extractvalue { i32, i1 } %pair, 1
  br i1 %is.in, label %help, label %enter
help:
  %sleeping = load atomic i32, ptr @sleepers monotonic, align 4
  %room = sub i32 %allowed, %entered.count
  %missing = call i32 @llvm.smin.i32(i32 %sleeping, i32 %room)
  call void @wake(i32 %missing)
  call void @drain()
  br label %out
out:
  %left = atomicrmw sub ptr @gate, i32 1 acq_rel, align 4
  %left.count = and i32 %left, 33558527
  ; the last one out (count 1) while the caller sleeps (bit 25)
  %is.awaited = icmp eq i32 %left.count, 33554433
  br i1 %is.awaited, label %tell, label %judge
tell:
  %tell.1 = call i32 @pthread_mutex_lock(ptr @mutex)
  %tell.2 = call i32 @pthread_cond_signal(ptr @done)
  %tell.3 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %judge
judge:
  %out.time = call i64 @clock(i32 MONOTONIC)
  call void @judge(ptr %sample, i64 %out.time)
  br label %rest
}

declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i32 @llvm.smin.i32(i32, i32)
"""
