"""
The LLVM text of the one function through which Python calls every compiled entry, for `fastcall.py`.

`PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t nargs)` has the calling convention METH_FASTCALL of
CPython. `self` is a `bytes` object, the plan: 64-bit words that say what to call with what. `args` are the arrays
(inputs, then outputs), then the address of the arena as an int when the plan has one. The result is an int: 0, the
number of the failed check, or -1 when an argument is not what the plan requires. After -1 nothing was run and no
exception is set.

The plan, in words:

| word | holds |
|---|---|
| 0 | the address of the native function, `i32 (ptr to argument pointers)` |
| 1 | how many pointers it wants, P |
| 2 | how many arrays there are |
| 3 | how many of them are inputs |
| 4 | which pointer is the arena, or -1 |
| 5 | the address of the class of all arrays; those of subclasses do not fit |
| 6 | how many runs of bytes there are that no output may touch (weights), K |
| 7 … 7+P-1 | the pointers that are the same on every call (weights), 0 for the others |
| then K times | the address of such a run; its bytes |
| then per array | which pointer; flags of PyObject_GetBuffer; bytes of an element; alignment - 1; |
| | two format characters; rank; another pointer that is this array too, or the same one; sizes |

Py_buffer is, on 64-bit machines, in all versions of CPython: buf at byte 0, obj 8, len 16, itemsize 24, readonly 32,
ndim 36, format 40, shape 48, strides 56, suboffsets 64, internal 72. `fastcall.py` checks this before it relies on it.

Calls share nothing: buffers and pointers lie on the stack of the caller.
"""

from __future__ import annotations

CALL = "_stepwell_fast_call"
PROBE = "_stepwell_fast_probe"
HEADER_WORDS = 7
RECORD_WORDS = 8

STUB = """
declare ptr @PyObject_Type(ptr)
declare void @Py_DecRef(ptr)
declare i32 @PyObject_GetBuffer(ptr, ptr, i32)
declare void @PyBuffer_Release(ptr)
declare ptr @PyBytes_AsString(ptr)
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @PyErr_Clear()

; Returns whether %arg is of the class and gave its buffer. If not, there is nothing to release.
define internal i1 @acquire(ptr %arg, ptr %class, ptr %record, ptr %buffer) {
  %type = call ptr @PyObject_Type(ptr %arg)
  call void @Py_DecRef(ptr %type)
  %is.instance = icmp eq ptr %type, %class
  br i1 %is.instance, label %get, label %no
get:
  %flags.at = getelementptr i64, ptr %record, i64 1
  %flags.word = load i64, ptr %flags.at
  %flags = trunc i64 %flags.word to i32
  %status = call i32 @PyObject_GetBuffer(ptr %arg, ptr %buffer, i32 %flags)
  %given = icmp eq i32 %status, 0
  ret i1 %given
no:
  ret i1 false
}

; Returns whether an acquired buffer has the element type, alignment and shape of the record.
define internal i1 @fits(ptr %buffer, ptr %record) {
  %itemsize.at = getelementptr i8, ptr %buffer, i64 24
  %itemsize = load i64, ptr %itemsize.at
  %want.itemsize.at = getelementptr i64, ptr %record, i64 2
  %want.itemsize = load i64, ptr %want.itemsize.at
  %itemsize.fits = icmp eq i64 %itemsize, %want.itemsize
  %address = load i64, ptr %buffer
  %mask.at = getelementptr i64, ptr %record, i64 3
  %mask = load i64, ptr %mask.at
  %off = and i64 %address, %mask
  %is.aligned = icmp eq i64 %off, 0
  %ndim.at = getelementptr i8, ptr %buffer, i64 36
  %ndim.word = load i32, ptr %ndim.at
  %ndim = sext i32 %ndim.word to i64
  %rank.at = getelementptr i64, ptr %record, i64 6
  %rank = load i64, ptr %rank.at
  %rank.fits = icmp eq i64 %ndim, %rank
  %format.at = getelementptr i8, ptr %buffer, i64 40
  %format = load ptr, ptr %format.at
  %has.format = icmp ne ptr %format, null
  %fits.1 = and i1 %itemsize.fits, %is.aligned
  %fits.2 = and i1 %fits.1, %rank.fits
  %fits.3 = and i1 %fits.2, %has.format
  br i1 %fits.3, label %first, label %no
first:
  %found = load i8, ptr %format
  %character = zext i8 %found to i64
  %want.1.at = getelementptr i64, ptr %record, i64 4
  %want.1 = load i64, ptr %want.1.at
  %want.2.at = getelementptr i64, ptr %record, i64 5
  %want.2 = load i64, ptr %want.2.at
  %is.1 = icmp eq i64 %character, %want.1
  %is.2 = icmp eq i64 %character, %want.2
  %is.either = or i1 %is.1, %is.2
  br i1 %is.either, label %second, label %no
second:
  %end.at = getelementptr i8, ptr %format, i64 1
  %end = load i8, ptr %end.at
  %is.end = icmp eq i8 %end, 0
  br i1 %is.end, label %sizes, label %no
sizes:
  %shape.at = getelementptr i8, ptr %buffer, i64 48
  %shape = load ptr, ptr %shape.at
  br label %size
size:
  %d = phi i64 [ 0, %sizes ], [ %d.next, %next ]
  %all = icmp eq i64 %d, %rank
  br i1 %all, label %yes, label %compare
compare:
  %size.at = getelementptr i64, ptr %shape, i64 %d
  %size.found = load i64, ptr %size.at
  %word = add i64 %d, 8
  %want.size.at = getelementptr i64, ptr %record, i64 %word
  %want.size = load i64, ptr %want.size.at
  %size.fits = icmp eq i64 %size.found, %want.size
  br i1 %size.fits, label %next, label %no
next:
  %d.next = add i64 %d, 1
  br label %size
yes:
  ret i1 true
no:
  ret i1 false
}

; Returns whether an output may share memory with another array or with one of the runs of bytes. Buffers without bytes
; may be reported too.
define internal i1 @overlap(ptr %buffers, i64 %inputs, i64 %arrays, ptr %runs, i64 %run.count) {
entry:
  br label %output
output:
  %o = phi i64 [ %inputs, %entry ], [ %o.next, %output.done ]
  %none = icmp sge i64 %o, %arrays
  br i1 %none, label %no, label %look
look:
  %mine = getelementptr [80 x i8], ptr %buffers, i64 %o
  %mine.start = load i64, ptr %mine
  %mine.bytes.at = getelementptr i8, ptr %mine, i64 16
  %mine.bytes = load i64, ptr %mine.bytes.at
  %mine.end = add i64 %mine.start, %mine.bytes
  br label %other
other:
  %j = phi i64 [ 0, %look ], [ %j.next, %apart ]
  %looked = icmp eq i64 %j, %o
  br i1 %looked, label %run, label %compare
run:
  %r = phi i64 [ 0, %other ], [ %r.next, %run.apart ]
  %runs.done = icmp eq i64 %r, %run.count
  br i1 %runs.done, label %output.done, label %run.compare
run.compare:
  %run.word = shl i64 %r, 1
  %run.at = getelementptr i64, ptr %runs, i64 %run.word
  %run.start = load i64, ptr %run.at
  %run.bytes.at = getelementptr i64, ptr %run.at, i64 1
  %run.bytes = load i64, ptr %run.bytes.at
  %run.end = add i64 %run.start, %run.bytes
  %starts.in = icmp ult i64 %mine.start, %run.end
  %ends.in = icmp ult i64 %run.start, %mine.end
  %shares.run = and i1 %starts.in, %ends.in
  br i1 %shares.run, label %yes, label %run.apart
run.apart:
  %r.next = add i64 %r, 1
  br label %run
compare:
  %its = getelementptr [80 x i8], ptr %buffers, i64 %j
  %its.start = load i64, ptr %its
  %its.bytes.at = getelementptr i8, ptr %its, i64 16
  %its.bytes = load i64, ptr %its.bytes.at
  %its.end = add i64 %its.start, %its.bytes
  %starts.before = icmp ult i64 %mine.start, %its.end
  %ends.after = icmp ult i64 %its.start, %mine.end
  %shares = and i1 %starts.before, %ends.after
  br i1 %shares, label %yes, label %apart
apart:
  %j.next = add i64 %j, 1
  br label %other
output.done:
  %o.next = add i64 %o, 1
  br label %output
yes:
  ret i1 true
no:
  ret i1 false
}

; Runs what %plan says with arrays at %args, and the arena at %arena.data if it wants one. Returns the status, -1 if
; they do not fit.
define internal i64 @run(ptr %plan, ptr %args, ptr %arena.data) {
entry:
  %native = load ptr, ptr %plan
  %count.at = getelementptr i64, ptr %plan, i64 1
  %count = load i64, ptr %count.at
  %arrays.at = getelementptr i64, ptr %plan, i64 2
  %arrays = load i64, ptr %arrays.at
  %inputs.at = getelementptr i64, ptr %plan, i64 3
  %inputs = load i64, ptr %inputs.at
  %arena.index.at = getelementptr i64, ptr %plan, i64 4
  %arena.index = load i64, ptr %arena.index.at
  %class.at = getelementptr i64, ptr %plan, i64 5
  %class = load ptr, ptr %class.at
  %run.count.at = getelementptr i64, ptr %plan, i64 6
  %run.count = load i64, ptr %run.count.at
  %fixed = getelementptr i64, ptr %plan, i64 7
  %pointers = alloca ptr, i64 %count, align 8
  %buffers = alloca [80 x i8], i64 %arrays, align 16
  %pointer.bytes = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %pointers, ptr align 8 %fixed, i64 %pointer.bytes, i1 false)
  %runs = getelementptr i64, ptr %fixed, i64 %count
  %run.words = shl i64 %run.count, 1
  %records = getelementptr i64, ptr %runs, i64 %run.words
  br label %array
array:
  %i = phi i64 [ 0, %entry ], [ %i.next, %keep ]
  %record = phi ptr [ %records, %entry ], [ %record.next, %keep ]
  %all = icmp eq i64 %i, %arrays
  br i1 %all, label %apart, label %take
take:
  %i.next = add i64 %i, 1
  %arg.at = getelementptr ptr, ptr %args, i64 %i
  %arg = load ptr, ptr %arg.at
  %buffer = getelementptr [80 x i8], ptr %buffers, i64 %i
  %taken = call i1 @acquire(ptr %arg, ptr %class, ptr %record, ptr %buffer)
  br i1 %taken, label %check, label %release
check:
  %fits = call i1 @fits(ptr %buffer, ptr %record)
  br i1 %fits, label %keep, label %release
keep:
  %index = load i64, ptr %record
  %slot = getelementptr ptr, ptr %pointers, i64 %index
  %data = load ptr, ptr %buffer
  store ptr %data, ptr %slot
  %second.at = getelementptr i64, ptr %record, i64 7
  %second = load i64, ptr %second.at
  %second.slot = getelementptr ptr, ptr %pointers, i64 %second
  store ptr %data, ptr %second.slot
  %rank.at = getelementptr i64, ptr %record, i64 6
  %rank = load i64, ptr %rank.at
  %words = add i64 %rank, 8
  %record.next = getelementptr i64, ptr %record, i64 %words
  br label %array
apart:
  %overlap = call i1 @overlap(ptr %buffers, i64 %inputs, i64 %arrays, ptr %runs, i64 %run.count)
  br i1 %overlap, label %release, label %arena
arena:
  %has.arena = icmp sge i64 %arena.index, 0
  br i1 %has.arena, label %arena.keep, label %start
arena.keep:
  %arena.slot = getelementptr ptr, ptr %pointers, i64 %arena.index
  store ptr %arena.data, ptr %arena.slot
  br label %start
start:
  %thread = call ptr @PyEval_SaveThread()
  %status = call i32 %native(ptr %pointers)
  call void @PyEval_RestoreThread(ptr %thread)
  %status.word = sext i32 %status to i64
  br label %release
release:
  %held = phi i64 [ %i, %take ], [ %i.next, %check ], [ %arrays, %apart ], [ %arrays, %start ]
  %result = phi i64 [ -1, %take ], [ -1, %check ], [ -1, %apart ], [ %status.word, %start ]
  %misfit = icmp slt i64 %result, 0
  br i1 %misfit, label %clear, label %each
clear:
  call void @PyErr_Clear()
  br label %each
each:
  %left = phi i64 [ %held, %release ], [ %held, %clear ], [ %left.next, %one ]
  %none.left = icmp eq i64 %left, 0
  br i1 %none.left, label %return, label %one
one:
  %left.next = sub i64 %left, 1
  %last = getelementptr [80 x i8], ptr %buffers, i64 %left.next
  call void @PyBuffer_Release(ptr %last)
  br label %each
return:
  ret i64 %result
}

define ptr @_stepwell_fast_call(ptr %self, ptr %args, i64 %nargs) {
entry:
  %plan = call ptr @PyBytes_AsString(ptr %self)
  %arrays.at = getelementptr i64, ptr %plan, i64 2
  %arrays = load i64, ptr %arrays.at
  %arena.index.at = getelementptr i64, ptr %plan, i64 4
  %arena.index = load i64, ptr %arena.index.at
  %has.arena = icmp sge i64 %arena.index, 0
  %arenas = zext i1 %has.arena to i64
  %wanted = add i64 %arrays, %arenas
  %right.number = icmp eq i64 %nargs, %wanted
  br i1 %right.number, label %start, label %misfit
start:
  br i1 %has.arena, label %arena, label %run
arena:
  %arena.arg.at = getelementptr ptr, ptr %args, i64 %arrays
  %arena.arg = load ptr, ptr %arena.arg.at
  %arena.given = call ptr @PyLong_AsVoidPtr(ptr %arena.arg)
  %no.arena = icmp eq ptr %arena.given, null
  br i1 %no.arena, label %clear, label %run
clear:
  call void @PyErr_Clear()
  br label %misfit
run:
  %arena.data = phi ptr [ null, %start ], [ %arena.given, %arena ]
  %ran = call i64 @run(ptr %plan, ptr %args, ptr %arena.data)
  br label %misfit
misfit:
  %result = phi i64 [ -1, %entry ], [ -1, %clear ], [ %ran, %run ]
  %object = call ptr @PyLong_FromLongLong(i64 %result)
  ret ptr %object
}

; An entry to try the call with. It copies an i32 from the first pointer to the second and returns it.
define i32 @_stepwell_fast_probe(ptr %arguments) {
  %from = load ptr, ptr %arguments
  %to.at = getelementptr ptr, ptr %arguments, i64 1
  %to = load ptr, ptr %to.at
  %value = load i32, ptr %from
  store i32 %value, ptr %to
  ret i32 %value
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
