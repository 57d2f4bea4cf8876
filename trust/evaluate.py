"""Runs an entry of a program on whatever level it stands: by the reference interpreter, or natively."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation

from ..core.ir.cloning import clone_op
from ..core.ir.walk import walk
from ..core.text.parsing import make_context, parse_text
from ..lazy_dataclass import dataclass
from ..reference.element_types import Array
from ..reference.failure import ReferenceFailure
from ..reference.loops.faults import LoopFault
from ..reference.loops.run import run_loops
from ..reference.loops.state import symbol_of
from ..reference.run import Observer, ReferenceRunError, run
from ..runtime.compile import compile
from ..runtime.errors import ExecutionError
from ..testing.rules.own_meaning import OwnMeanings

INTERPRETER = "by the reference interpreter"
NATIVE = "natively"

LOWERING = "O0"
"""The pipeline that lowers what is run natively."""

MOST_STEPS = 200_000
"""The ops that the interpreter runs for one set of inputs. Longer programs run natively."""

STEPS_TO_BE_SURE = 40_000_000
"""The ops that it runs to tell whether a result of native code is wrong because of the passes that lower the rest."""


@dataclass(frozen=True)
class Outcome:
    """What a run gave: arrays, or the way it failed. `fault` is set where it did what no program may do."""

    arrays: tuple[Array, ...] = ()
    failure: str | None = None
    fault: str | None = None
    how: str = INTERPRETER
    is_long: bool = False
    """Set where it ran natively because the interpreter would take too many steps."""

    @property
    def is_right(self) -> bool:
        """Returns whether there are results."""
        return self.failure is None and self.fault is None


class CannotRunError(Exception):
    """Raised where neither the interpreter nor native code takes a program. Its text is the reason."""

    def __init__(self, reason: str, *, is_long: bool = False):
        super().__init__(reason)
        self.is_long = is_long


def evaluate(
    module: ModuleOp,
    entry: str,
    arrays: Sequence[Array],
    weights: Mapping[str, Array],
    outputs: Sequence[Array] = (),
) -> Outcome:
    """Runs `@entry` once. The arguments and errors are those of `evaluate_all`."""
    (outcome,) = evaluate_all(module, entry, [arrays], weights, [outputs])
    return outcome


def evaluate_all(
    module: ModuleOp,
    entry: str,
    inputs: Sequence[Sequence[Array]],
    weights: Mapping[str, Array],
    outputs: Sequence[Sequence[Array]] = (),
    *,
    natively_first: bool = False,
    max_steps: int = MOST_STEPS,
) -> Iterator[Outcome]:
    """
    Runs `@entry` on several sets of inputs. `outputs` are arrays of the shapes of its results, where these are known.

    From the first set on that the interpreter does not take, all run natively: the program is compiled once for them.
    Raises `CannotRunError` where the level has an op that nothing runs, or the program is on the llvm level and native
    code refuses it.
    """
    is_long, reason = natively_first, "the program is long"
    for number, arrays in enumerate(inputs):
        if not natively_first or is_graph(module):
            try:
                shapes = outputs[number] if outputs else ()
                yield interpreted(module, entry, arrays, weights, shapes, max_steps=max_steps)
                continue
            except CannotRunError as error:
                reason, is_long = str(error), error.is_long
        try:
            for outcome in natively(module, entry, inputs[number:], weights):
                yield replace(outcome, is_long=is_long)
        except CannotRunError as error:
            raise CannotRunError(f"{reason}; natively: {error}", is_long=is_long) from None
        return


def interpreted(
    module: ModuleOp,
    entry: str,
    arrays: Sequence[Array],
    weights: Mapping[str, Array],
    outputs: Sequence[Array] = (),
    observe: Observer | None = None,
    max_steps: int = MOST_STEPS,
) -> Outcome:
    """Runs `@entry` by the reference interpreter. Raises `CannotRunError` where that does not take it."""
    op = next((each for each in module.body.block.ops if symbol_of(each) == entry), None)
    if op is None or op.name == "llvm.func":
        raise CannotRunError("the interpreter has no llvm level" if op is not None else f"@{entry} is gone")
    arrays = [np.array(each) for each in arrays]  # In-place outputs are written.
    try:
        with np.errstate(all="ignore"):
            if _is_on_tensors(op):
                own = OwnMeanings()  # Of ops of other packages.
                found = run(
                    module, entry, *arrays, weights=weights, observe=observe, max_steps=max_steps, otherwise=own
                )
            else:
                found = _on_buffers(module, entry, arrays, weights, outputs, max_steps)
    except ReferenceFailure as failure:
        return Outcome(failure=failure.message)
    except LoopFault as fault:
        if fault.kind in ("unknown", "endless"):
            raise CannotRunError(fault.diagnostic.message, is_long=fault.kind == "endless") from None
        return Outcome(fault=fault.diagnostic.message)
    except ReferenceRunError as error:
        raise CannotRunError(str(error)) from None
    except Exception as error:  # An op of another package, or IR that a pass made and nobody has verified yet.
        raise CannotRunError(f"{type(error).__name__}: {error}") from None
    return Outcome(tuple(np.array(each) for each in found))


def _on_buffers(
    module: ModuleOp,
    entry: str,
    arrays: Sequence[Array],
    weights: Mapping[str, Array],
    outputs: Sequence[Array],
    max_steps: int,
) -> tuple[Array, ...]:
    try:
        return run_loops(module, entry, arrays, weights=weights, max_steps=max_steps)
    except LoopFault as fault:
        if fault.kind != "unknown" or not outputs or "sizes of" not in fault.diagnostic.message:
            raise
    empty = [np.zeros(each.shape, each.dtype) for each in outputs]
    return run_loops(module, entry, [*arrays, *empty], weights=weights, max_steps=max_steps)


def is_graph(module: ModuleOp) -> bool:
    """Returns whether the program is on the graph level whole, where the reference takes it at any length."""
    functions = [op for op in module.body.block.ops if symbol_of(op) is not None and op.regions]
    if not all(map(_is_on_tensors, functions)):
        return False
    return not any(op.name == "graph.call_kernel" for op in module.walk())


def _is_on_tensors(op: Operation) -> bool:
    if not isinstance(op, func.FuncOp):
        return False
    return not any(isinstance(each, MemRefType) for each in op.function_type.inputs)


def natively(
    module: ModuleOp, entry: str, inputs: Sequence[Sequence[Array]], weights: Mapping[str, Array]
) -> Iterator[Outcome]:
    """
    Runs `@entry` on several sets of inputs by machine code of the passes that are left.

    It does so in a process of its own, which a wrong program may end. Raises `CannotRunError` where the program cannot
    be compiled.
    """
    left = list(inputs)
    while left:
        for outcome in in_child(partial(_in_new_context, module, entry, tuple(left), weights)):
            del left[0]
            yield outcome


def _in_new_context(
    module: ModuleOp, entry: str, inputs: Sequence[Sequence[Array]], weights: Mapping[str, Array]
) -> Iterator[Outcome]:
    """Compiles and runs a program where no pass context is set."""
    return Context().run(_compiled_and_run, module, entry, inputs, weights)


def _compiled_and_run(
    module: ModuleOp, entry: str, inputs: Sequence[Sequence[Array]], weights: Mapping[str, Array]
) -> Iterator[Outcome]:
    """Compiles a program, and returns what runs it on one set of inputs after the other."""
    return map(compiled(module, entry, weights), inputs)


def compiled(
    module: ModuleOp, entry: str, weights: Mapping[str, Array], threads: int = 1
) -> Callable[[Sequence[Array]], Outcome]:
    """
    Returns a function that runs `@entry` by machine code of the passes that are left, in this process.

    Raises `CannotRunError` where the program cannot be compiled.
    """
    given = weights if weights or any(op.name == "graph.weight" for op in walk(module)) else None
    try:
        program = compile(clone_op(module), entry=entry, pipeline=LOWERING, cache=False, weights=given, threads=threads)
    except Exception as error:
        raise CannotRunError(f"it cannot be compiled: {error}") from None

    return lambda arrays: _run_once(program, arrays)


def _run_once(program: Any, arrays: Sequence[Array]) -> Outcome:
    try:
        return Outcome(tuple(np.array(each) for each in program(*arrays)), how=NATIVE)
    except ExecutionError as error:
        return Outcome(failure=str(error), how=NATIVE)
    except Exception as error:
        raise CannotRunError(f"{type(error).__name__}: {error}") from None


TINY = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}"""


def warm_up() -> None:
    """Compiles a tiny program, so that processes that are forked from this one need not import what that takes."""
    with suppress(Exception):  # What is wrong with the compiler is for those to find.
        compile(parse_text(make_context(), TINY, "<tiny>"), cache=False, threads=1)(np.zeros(2, np.float32))


def in_child(work: Callable[[], Iterator[Outcome]]) -> Iterator[Outcome]:
    """
    Yields what `work` yields, in a child process. A child that is killed is a fault of the program: the last outcome
    says so.
    """
    if not hasattr(os, "fork"):
        yield from work()
        return
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(work, reading, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    stream = io.BytesIO(data)
    while stream.tell() < len(data):
        answer: Any = pickle.load(stream)
        if isinstance(answer, str):
            raise CannotRunError(answer)
        yield Outcome(*answer)
    if os.WIFSIGNALED(status):
        yield Outcome(fault=f"the process ended with signal {os.WTERMSIG(status)}", how=NATIVE)


def _answer(work: Callable[[], Iterator[Outcome]], reading: int, writing: int) -> None:
    """Does the work in the child, writes each outcome, and ends the child."""
    try:
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            try:
                for outcome in work():
                    answer = (outcome.arrays, outcome.failure, outcome.fault, outcome.how)
                    pipe.write(pickle.dumps(answer))
                    pipe.flush()
            except CannotRunError as error:
                pipe.write(pickle.dumps(str(error)))
    finally:
        os._exit(0)
