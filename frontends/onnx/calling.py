"""Calling a converter: the operands that its signature asks for, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from xdsl.utils.exceptions import VerifyException

from ...core.messages.diagnostics import StepwellError
from ...core.plugins import maker_of
from ...core.text.errors import internal_error_hint
from ...dialects.graph.shapes import ShapeError
from .emitting.graph_builder import GraphBuilder
from .emitting.sizes import follows_from_shapes
from .errors import ConversionError, OnnxError
from .registry import Converter
from .value import Value

if TYPE_CHECKING:
    from onnx import NodeProto

LONGEST_MESSAGE: Final = 400


def called(converter: Converter, builder: GraphBuilder, operands: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    """Returns what a converter makes. Whatever goes wrong in it becomes an error of its node."""
    try:
        return converter.function(builder, *operands, **arguments)
    except (ConversionError, OnnxError, RecursionError):
        raise
    except MemoryError as error:
        raise ConversionError(f"no memory for what it computes at import: {error}".removesuffix(": ")) from error
    except (StepwellError, ShapeError, VerifyException) as error:
        raise ConversionError(str(error).removeprefix("error: ")) from error
    except Exception as error:
        raise unexpected(converter.function, "converter", error) from error


def unexpected(function: Callable[..., Any], what: str, error: Exception) -> ConversionError:
    """Returns the error of a node whose converter, or the check of that, raised what it should not."""
    maker = maker_of(str(getattr(function, "__module__", None)))
    text = f"{type(error).__name__}: {error}"
    if maker is None:
        hint = f"the {what} did not expect this attribute or input; --debug shows the traceback"
        return ConversionError(f"it cannot be converted: {text}"[:LONGEST_MESSAGE], hint=hint)
    return ConversionError(f"the {what} of {maker} failed: {text}"[:LONGEST_MESSAGE], hint=internal_error_hint(maker))


def arguments(converter: Converter, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keyword arguments for a node with the attributes `given`. Raises `ConversionError`."""
    try:
        return converter.arguments(given)
    except (ConversionError, MemoryError, RecursionError):
        raise
    except Exception as error:
        raise unexpected(converter.check or converter.function, "check", error) from error


def needs_sizes(converter: Converter, inputs: Sequence[Value | None]) -> bool:
    """Returns whether all inputs that should be known but are not follow from shapes."""
    pairs = zip(converter.inputs, inputs, strict=False)
    unknown = [v for spec, v in pairs if spec.known and spec.strict and v is not None and v.known is None]
    return bool(unknown) and all(map(follows_from_shapes, unknown))


def operands(converter: Converter, node: NodeProto, inputs: list[Value | None]) -> Iterator[Any]:
    """
    Yields an operand per input: its value, the array if it must be known, or `None` if it is left out.

    Raises `ConversionError`.
    """
    declared = converter.inputs
    if len(inputs) > len(declared) and not (declared and declared[-1].variadic):
        raise ConversionError(f"the node has {len(inputs)} inputs, expected at most {len(declared)}")
    for number, value in enumerate(inputs):
        spec = declared[min(number, len(declared) - 1)]
        if value is None:
            if not spec.optional:
                raise ConversionError(f"input {number} is missing")
            yield None
        elif spec.known and spec.strict:
            if value.known is None:
                name = node.input[number]
                raise ConversionError(
                    f"input {number}, '{name}', is computed at run time, expected it to be known at import",
                    needs=(value,),
                )
            yield value.known
        else:
            yield value
    for number, spec in enumerate(declared[len(inputs) :], len(inputs)):
        if not spec.optional:
            raise ConversionError(f"input {number} is missing")
