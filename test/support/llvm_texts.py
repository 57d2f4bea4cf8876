"""Modules of the llvm dialect as LLVM text, for tests of the emitter."""

from __future__ import annotations

import llvmlite.binding as binding
import pytest
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from xdsl.utils.exceptions import DiagnosticException


def text_of(source: str, **options: str) -> str:
    """The text of a module, accepted by LLVM, and the same after the module was printed and parsed."""
    context = make_context()
    module = parse_text(context, source, "test.mlir")
    module.verify()
    text = emit_llvm_text(module, **options)
    assert emit_llvm_text(parse_text(context, str(module))) == text or options
    parsed = binding.parse_assembly(text)
    parsed.verify()
    return text


def function(body: str, arguments: str = "%x: f32, %i: i64, %p: !llvm.ptr", head: str = "") -> str:
    return f"llvm.func @f({arguments}) {head} {{\n{body}\nllvm.return\n}}"


def refused(source: str) -> str:
    """The message of the refusal."""
    with pytest.raises(DiagnosticException) as caught:
        emit_llvm_text(parse_text(make_context(), source, "test.mlir"))
    return str(caught.value)
