"""The LLVM text of what the pool does beside jobs: clocks, waking and starting workers, forks."""

PARTS = """
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

; Notes what the clocks say about the calling thread.
define internal void @sample(ptr %sample, i64 %now) {
  %cpu = call i64 @clock(i32 CPU_OF_THREAD)
  store i64 %now, ptr %sample, align 8
  %cpu.at = getelementptr %sample, ptr %sample, i32 0, i32 1
  store i64 %cpu, ptr %cpu.at, align 8
  ret void
}

; Begins a new window of the caller where it is another thread, or may have slept since the last job.
define internal void @settle(i64 %now) {
entry:
  %self = call ptr @pthread_self()
  %before = load ptr, ptr @caller.self, align 8
  %is.other = icmp ne ptr %self, %before
  %end = load i64, ptr @caller.end, align 8
  %gap = sub i64 %now, %end
  %is.long = icmp sgt i64 %gap, GAP
  %is.new = or i1 %is.other, %is.long
  br i1 %is.new, label %begin, label %return
begin:
  store ptr %self, ptr @caller.self, align 8
  call void @sample(ptr @caller, i64 %now)
  br label %return
return:
  ret void
}

; Adds to the debt what the calling thread was without a core in its window, less what a window may lose. Above the
; budget nobody shares for a time. Two threads may write the debt at once; then one of the two losses is forgotten.
define internal void @judge(ptr %sample, i64 %now) {
entry:
  %since = load i64, ptr %sample, align 8
  %window = sub i64 %now, %since
  %is.due = icmp sgt i64 %window, WINDOW
  br i1 %is.due, label %look, label %return
look:
  %cpu.at = getelementptr %sample, ptr %sample, i32 0, i32 1
  %before = load i64, ptr %cpu.at, align 8
  call void @sample(ptr %sample, i64 %now)
  %cpu = load i64, ptr %cpu.at, align 8
  %used = sub i64 %cpu, %before
  %loss = sub i64 %window, %used
  %tolerated = sdiv i64 %window, TOLERANCE
  %change = sub i64 %loss, %tolerated
  %debt = load atomic i64, ptr @_stepwell_debt monotonic, align 8
  %sum = add i64 %debt, %change
  %positive = call i64 @llvm.smax.i64(i64 %sum, i64 0)
  %capped = call i64 @llvm.smin.i64(i64 %positive, i64 BUDGET)
  store atomic i64 %capped, ptr @_stepwell_debt monotonic, align 8
  %is.over = icmp sgt i64 %sum, BUDGET
  br i1 %is.over, label %retreat, label %return
retreat:
  %patience = load atomic i64, ptr @_stepwell_patience monotonic, align 8
  %wanted = mul i64 %loss, %patience
  %pause = call i64 @llvm.smin.i64(i64 %wanted, i64 LONGEST_RETREAT)
  %until = add i64 %now, %pause
  %later = atomicrmw max ptr @resume, i64 %until monotonic, align 8
  br label %return
return:
  ret void
}

; Wakes at most two of %wanted workers. Those who come wake two more each.
define internal void @wake(i32 %wanted) {
entry:
  %any = icmp sgt i32 %wanted, 0
  br i1 %any, label %lock, label %return
lock:
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  %first = call i32 @pthread_cond_signal(ptr @work)
  %more = icmp sgt i32 %wanted, 1
  br i1 %more, label %second, label %unlock
second:
  %second.1 = call i32 @pthread_cond_signal(ptr @work)
  br label %unlock
unlock:
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
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
"""

WIPED_ON_FORK = """
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @madvise(ptr, i64, i32)
declare i32 @munmap(ptr, i64)

; Says on the page that this process has set up the pool. Makes the page first, where the system can wipe it on a fork.
define internal void @mark() {
entry:
  %page = load atomic ptr, ptr @page acquire, align 8
  %is.there = icmp ne ptr %page, null
  br i1 %is.there, label %write, label %make
make:
  %made = call ptr @mmap(ptr null, i64 65536, i32 3, i32 34, i32 -1, i64 0)
  %is.made = icmp ne ptr %made, inttoptr (i64 -1 to ptr)
  br i1 %is.made, label %advise, label %return
advise:
  %refused = call i32 @madvise(ptr %made, i64 65536, i32 18)
  %is.wiped = icmp eq i32 %refused, 0
  br i1 %is.wiped, label %keep, label %drop
drop:
  %dropped = call i32 @munmap(ptr %made, i64 65536)
  br label %return
keep:
  store atomic i32 1, ptr %made release, align 4
  store atomic ptr %made, ptr @page release, align 8
  br label %return
write:
  store atomic i32 1, ptr %page release, align 4
  br label %return
return:
  ret void
}
"""
"""`mark` of Linux."""

NOT_WIPED = """
define internal void @mark() {
  ret void
}
"""
"""`mark` of systems that wipe nothing on a fork. There the pool asks for the process each time."""
