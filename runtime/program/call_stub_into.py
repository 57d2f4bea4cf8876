"""
The LLVM text of `run_into(outputs, *arrays)` as one CPython function, for `fastcall.py`.

It does what `call_stub.py` does, with the outputs in a list or tuple.

`self` is a `bytes` object of 64-bit words, followed by the plan of `call_stub.py`:

| word | holds |
|---|---|
| 0 | the address of a word that holds the address of the arena while nobody uses it, else 0 |
| 1 | the address of what is called with the same arguments where this function cannot help |
| 2 | the address of what is called with the number of a check that failed; it raises |
| 3, 4, 5 | the addresses of the classes `list` and `tuple` and of `None` |

A caller who finds no arena in the word calls the function of word 1 too, which has as many arenas as callers.
"""

from __future__ import annotations

RUN_INTO = "_stepwell_run_into"
INTO_WORDS = 6

INTO = """
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyList_GetItem(ptr, i64)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PySequence_Size(ptr)
declare void @Py_IncRef(ptr)

; Puts the %count elements of the list or tuple %outputs at %to. Returns whether it is one and has so many.
define internal i1 @spread(ptr %outputs, ptr %list, ptr %tuple, i64 %count, ptr %to) {
entry:
  %type = call ptr @PyObject_Type(ptr %outputs)
  %is.list = icmp eq ptr %type, %list
  %is.tuple = icmp eq ptr %type, %tuple
  call void @Py_DecRef(ptr %type)
  %is.either = or i1 %is.list, %is.tuple
  br i1 %is.either, label %size, label %no
size:
  %found = call i64 @PySequence_Size(ptr %outputs)
  %right = icmp eq i64 %found, %count
  br i1 %right, label %each, label %no
each:
  %i = phi i64 [ 0, %size ], [ %i.next, %keep ]
  %all = icmp eq i64 %i, %count
  br i1 %all, label %yes, label %take
take:
  br i1 %is.list, label %from.list, label %from.tuple
from.list:
  %in.list = call ptr @PyList_GetItem(ptr %outputs, i64 %i)
  br label %taken
from.tuple:
  %in.tuple = call ptr @PyTuple_GetItem(ptr %outputs, i64 %i)
  br label %taken
taken:
  %item = phi ptr [ %in.list, %from.list ], [ %in.tuple, %from.tuple ]
  %gone = icmp eq ptr %item, null
  br i1 %gone, label %shrunk, label %keep
keep:
  %at = getelementptr ptr, ptr %to, i64 %i
  store ptr %item, ptr %at
  %i.next = add i64 %i, 1
  br label %each
shrunk:
  call void @PyErr_Clear()
  br label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define ptr @_stepwell_run_into(ptr %self, ptr %args, i64 %nargs) {
entry:
  %words = call ptr @PyBytes_AsString(ptr %self)
  %plan = getelementptr i64, ptr %words, i64 6
  %arrays.at = getelementptr i64, ptr %plan, i64 2
  %arrays = load i64, ptr %arrays.at
  %inputs.at = getelementptr i64, ptr %plan, i64 3
  %inputs = load i64, ptr %inputs.at
  %wanted = add i64 %inputs, 1
  %right.number = icmp eq i64 %nargs, %wanted
  br i1 %right.number, label %gather, label %otherwise
gather:
  %all = alloca ptr, i64 %arrays, align 8
  %given = getelementptr ptr, ptr %args, i64 1
  %input.bytes = shl i64 %inputs, 3
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %all, ptr align 8 %given, i64 %input.bytes, i1 false)
  %outputs = load ptr, ptr %args
  %list.at = getelementptr i64, ptr %words, i64 3
  %list = load ptr, ptr %list.at
  %tuple.at = getelementptr i64, ptr %words, i64 4
  %tuple = load ptr, ptr %tuple.at
  %output.count = sub i64 %arrays, %inputs
  %to = getelementptr ptr, ptr %all, i64 %inputs
  %spread = call i1 @spread(ptr %outputs, ptr %list, ptr %tuple, i64 %output.count, ptr %to)
  br i1 %spread, label %arena, label %otherwise
arena:
  %arena.index.at = getelementptr i64, ptr %plan, i64 4
  %arena.index = load i64, ptr %arena.index.at
  %has.arena = icmp sge i64 %arena.index, 0
  br i1 %has.arena, label %borrow, label %run.without
run.without:
  %status.without = call i64 @run(ptr %plan, ptr %all, ptr null)
  br label %ran
borrow:
  %slot = load ptr, ptr %words
  %taken = atomicrmw xchg ptr %slot, i64 0 acquire
  %in.use = icmp eq i64 %taken, 0
  br i1 %in.use, label %otherwise, label %run.with
run.with:
  %arena.data = inttoptr i64 %taken to ptr
  %status.with = call i64 @run(ptr %plan, ptr %all, ptr %arena.data)
  store atomic i64 %taken, ptr %slot release, align 8
  br label %ran
ran:
  %status = phi i64 [ %status.without, %run.without ], [ %status.with, %run.with ]
  switch i64 %status, label %failed [ i64 0, label %done
                                      i64 -1, label %otherwise ]
done:
  %none.at = getelementptr i64, ptr %words, i64 5
  %none = load ptr, ptr %none.at
  call void @Py_IncRef(ptr %none)
  ret ptr %none
otherwise:
  %slow.at = getelementptr i64, ptr %words, i64 1
  %slow = load ptr, ptr %slow.at
  %result = call ptr @PyObject_Vectorcall(ptr %slow, ptr %args, i64 %nargs, ptr null)
  ret ptr %result
failed:
  %number = call ptr @PyLong_FromLongLong(i64 %status)
  %number.at = alloca ptr, align 8
  store ptr %number, ptr %number.at
  %raise.at = getelementptr i64, ptr %words, i64 2
  %raise = load ptr, ptr %raise.at
  %raised = call ptr @PyObject_Vectorcall(ptr %raise, ptr %number.at, i64 1, ptr null)
  call void @Py_DecRef(ptr %number)
  ret ptr %raised
}
"""
