"""
Links a program with code from outside: what code generators make of the functions given to them.

A program at the llvm level calls `i32 @_stepwell_external_f(ptr, …)` and keeps the text of the function. Addresses are
looked up here, anew in every process, so the compile cache holds none.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ...core.codegens import COMPILER, CodegenContext, NativeCode, find_codegen
from ...core.messages.articles import with_article
from ...core.messages.diagnostics import Diagnostic, StepwellError, emit_remark
from ...core.plugins import maker_of
from ...core.text.parsing import make_context, parse_text
from ...lowering.llvm_text.names import symbol_text
from ...lowering.shared.te_types import dtype_of
from ...te.dtypes import numpy_dtype
from ..cache import PROGRAMS
from ..errors import ExternalError
from ..native.jit import is_in_process, kept_object
from ..program.arrays import ArrayType
from ..program.description import External
from ..program.program import LinkedCode

OwnCode = Callable[[ModuleOp, str], Callable[..., Any]]
"""Compiles the function of this name of a module by Stepwell itself."""


class LinkedExternals(LinkedCode):
    """
    The code behind `externals`: objects to link, addresses by symbol. Callbacks live as long as this object.

    `own_code` stands in for a code generator that cannot be used. Raises StepwellError when a code generator does not
    exist or makes something that cannot be called.
    """

    def __init__(self, externals: Sequence[External], own_code: OwnCode, use_cache: bool = True):
        super().__init__()
        self._own_code = own_code
        self._kept: list[object] = []
        self._failures = threading.local()
        self._use_cache = use_cache
        for external in externals:
            self._add(external)

    def raise_failure(self, location: str) -> None:
        failure: tuple[External, BaseException] | None = getattr(self._failures, "pending", None)
        self._failures.pending = None
        if failure is None:
            return
        external, cause = failure
        if not isinstance(cause, Exception):
            raise cause  # KeyboardInterrupt and the like are not the program's.
        made = f"code of '{external.compiler}' for @{external.function}"
        raise ExternalError(f"{COMPILER}: {made} failed: {type(cause).__name__}: {cause}", location) from cause

    def _add(self, external: External) -> None:
        module = parse_text(make_context(), external.source, f"@{external.function}")
        context = CodegenContext(external.compiler, external.symbol, module)
        function = context.functions[external.function]
        code = self._generate(external, function, context)
        if isinstance(code, str):
            code = NativeCode(code)
        if isinstance(code, NativeCode):
            self._add_native(external, code)
        elif callable(code):
            callback = self._callback(external, function, code)
            self._kept.append(callback)
            address = ctypes.cast(callback, ctypes.c_void_p).value
            assert address is not None
            self.addresses[external.symbol] = address
        else:
            _refuse(external, f"made {with_article(type(code).__name__)}, expected a function, LLVM text or NativeCode")

    def _generate(self, external: External, function: FuncOp, context: CodegenContext) -> Any:
        """Returns what the code generator makes of the function, or Stepwell's own code when it cannot be used."""
        found = find_codegen(external.compiler)
        reason = found.why_unavailable()
        if reason is not None:
            emit_remark(
                function,
                f"@{external.function} is compiled by stepwell itself: code generator '{external.compiler}'"
                f" cannot be used: {reason}",
            )
            return self._own_code(context.module, external.function)
        try:
            return found.function(function, context)
        except Exception as error:
            maker = maker_of(str(getattr(found.function, "__module__", None)))
            whose = "" if maker is None else f" of {maker}"
            message = f"code generator '{external.compiler}'{whose} failed on @{external.function}"
            raise StepwellError(Diagnostic(f"{message}: {type(error).__name__}: {error}")) from error

    def _add_native(self, external: External, code: NativeCode) -> None:
        for name, address in code.addresses.items():
            if self.addresses.setdefault(name, address) != address:
                _refuse(external, f"gives symbol '{name}' another address than code before it")
        self._kept.append(code)
        try:
            self.objects.append(kept_object(code.text, self._use_cache, PROGRAMS))
        except RuntimeError as error:
            _refuse(external, f"made LLVM text that is not valid: {error}")
        spellings = "|".join(map(re.escape, (symbol_text(external.symbol), f'@"{external.symbol}"')))
        if not re.search(rf"^\s*define\b[^(]*({spellings})\s*\(", code.text, re.MULTILINE):
            _refuse(external, f"made LLVM text that does not define '{external.symbol}'")
        for name in re.findall(r'^\s*declare\b[^(]*@"?([\w$.-]+)"?\s*\(', code.text, re.MULTILINE):
            if not (name.startswith("llvm.") or name in self.addresses or is_in_process(name)):
                _refuse(external, f"made LLVM text that calls '{name}', which is defined nowhere")

    def _callback(self, external: External, function: FuncOp, code: Callable[..., Any]) -> Any:
        """Returns a C function around a Python one, which takes arrays. `raise_failure` raises what that raised."""
        inputs = [_ArrayAt(type_) for type_ in function.function_type.inputs]
        outputs = [_ArrayAt(type_) for type_ in function.function_type.outputs]
        failures = self._failures

        def call(*pointers: int | None) -> int:
            try:
                arrays = [at(pointer) for at, pointer in zip(inputs, pointers, strict=False)]
                for array in arrays:
                    array.flags.writeable = False
                results = _results(code(*arrays), outputs)
                for at, pointer, result in zip(outputs, pointers[len(inputs) :], results, strict=True):
                    np.copyto(at(pointer), result)
            except BaseException as error:  # No exception may pass through native code.
                failures.pending = (external, error)
                return 1
            return 0

        count = len(inputs) + len(outputs)
        return ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * count)(call)


class _ArrayAt:
    """Makes arrays of one type over memory that is somebody else's."""

    def __init__(self, type_: Attribute):
        get_shape: Any = getattr(type_, "get_shape")  # noqa: B009
        get_element_type: Any = getattr(type_, "get_element_type")  # noqa: B009
        self.type = ArrayType(dtype_of(get_element_type()), tuple(get_shape()))
        self.dtype = numpy_dtype(self.type.dtype)
        self._bytes = ctypes.c_ubyte * self.type.nbytes

    def __call__(self, pointer: int | None) -> np.ndarray[Any, Any]:
        if self.type.nbytes == 0 or pointer is None:
            return np.empty(self.type.sizes, self.dtype)
        buffer: Any = self._bytes.from_address(pointer)
        memory = np.frombuffer(buffer, np.uint8)
        return memory.view(self.dtype).reshape(self.type.sizes)


def _results(returned: Any, outputs: Sequence[_ArrayAt]) -> list[np.ndarray[Any, Any]]:
    """Returns what a Python function returned, as one array per result. Raises ValueError when it does not fit."""
    values = list(returned) if isinstance(returned, tuple | list) else [returned]
    if len(values) != len(outputs):
        raise ValueError(f"returned {len(values)} arrays, expected {len(outputs)}")
    arrays = [np.asarray(value) for value in values]
    for index, (array, at) in enumerate(zip(arrays, outputs, strict=True)):
        if array.dtype != at.dtype or array.shape != at.type.sizes:
            found = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"result {index} is {found}, expected {at.dtype} of shape {at.type.sizes}")
    return arrays


def _refuse(external: External, what: str) -> NoReturn:
    message = f"code generator '{external.compiler}' for @{external.function} {what}"
    raise StepwellError(Diagnostic(message))
