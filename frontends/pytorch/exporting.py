"""A module as an ONNX model, by the exporter of PyTorch (`torch.export`, then `torch.onnx.export`)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from inspect import Signature, signature
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from ...lazy_dataclass import dataclass
from .errors import TorchError, fail, package
from .structure import Structure, arguments_of, bound, check_leaves, results_of

MOST_BYTES: Final = 1 << 30
"""The weights that a model holds itself. Protocol buffers end at 2 GB, and those of larger models are files."""

NOT_FOUND: Final = re.compile(r"No ONNX function found for <OpOverload\(op='(\S+?)', overload='(\S+?)'\)>")

PLACE: Final = re.compile(r'File "(.+?)", line (\d+)')


@dataclass(frozen=True)
class Exported:
    """An ONNX model whose inputs and outputs are the tensors in `arguments` and `results`, in order."""

    model: Any
    """The `ModelProto`, or the path of a file in `folder`. It is `None` once it has been compiled."""
    signature: Signature
    arguments: Structure
    results: Structure
    folder: TemporaryDirectory[str] | None = None


def exported(
    what: str,
    module: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any = None,
) -> Exported:
    """
    Returns a `torch.nn.Module` as it computes on these arguments. `what` names it in errors.

    Tensors are the inputs of the model, and all other arguments are part of it. `dynamic_shapes` is that of
    `torch.export.export`. Raises TorchError for what PyTorch cannot export, and for modules that change their
    arguments or their own state.
    """
    for needed in ("onnx", "onnxscript"):
        package(needed)
    called = signature(module.forward)
    args, kwargs = bound(called, args, kwargs)
    arguments = arguments_of(called, args, kwargs)
    check_leaves(what, arguments, "arguments")
    structures: list[Structure] = []
    flat = _flat(module, called, structures)
    found = _onnx_program(what, flat, args, kwargs, dynamic_shapes)
    check_leaves(what, structures[-1], "results")
    model, folder = _stored(found, module)
    return Exported(model, called, arguments, structures[-1], folder)


def _onnx_program(what: str, flat: Any, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any) -> Any:
    """Returns what PyTorch's exporters make of a module. Raises TorchError for what they do not take."""
    torch = package()
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            program = torch.export.export(flat, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
            if any(map(_writes, program.graph.nodes)):  # What they write into is known without them only.
                program = program.run_decompositions({})
            _check_changes(what, program.graph_signature)
            with redirect_stderr(StringIO()):
                return torch.onnx.export(program, dynamo=True, optimize=False, verbose=False)
    except torch.onnx.OnnxExporterError as error:
        _fail_without_converter(what, error)
    except TorchError:
        raise
    except Exception as error:  # Of the module itself too, whatever it is.
        fail(what, f"torch.export cannot export it: {_reason(error)}")


def _flat(module: Any, called: Signature, structures: list[Structure]) -> Any:
    """
    Returns a module that computes the tensors in what `module` returns, as a tuple.

    How they nest is appended to `structures`, as the export sets attributes of modules back.
    """
    torch = package()

    def forward(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        structure, values = results_of(module(*args, **kwargs))
        structures.append(structure)
        return tuple(
            value if isinstance(value, torch.Tensor) else torch.scalar_tensor(value, dtype=torch.int64)
            for value in values
        )

    forward.__signature__ = called  # pyright: ignore[reportFunctionMemberAccess]
    flat = torch.nn.Module()
    flat.module = module
    flat.forward = forward
    return flat


def _writes(node: Any) -> bool:
    """Returns whether a node may write into one of its operands."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def _check_changes(what: str, graph: Any) -> None:
    """Raises TorchError for a module that writes into its buffers or its arguments."""
    if changed := [name.removeprefix("module.") for name in graph.buffers_to_mutate.values()]:
        fail(what, f"it changes its buffer '{changed[0]}' when it is called, which compiled programs do not")
    if changed := list(graph.user_inputs_to_mutate.values()):
        fail(what, f"it changes its argument '{changed[0]}', which compiled programs do not")


def _stored(found: Any, module: Any) -> tuple[Any, TemporaryDirectory[str] | None]:
    tensors = [*module.parameters(), *module.buffers()]
    if sum(each.numel() * each.element_size() for each in tensors) < MOST_BYTES:
        return found.model_proto, None
    folder = TemporaryDirectory(prefix="stepwell-")
    path = Path(folder.name) / "model.onnx"
    found.save(str(path), external_data=True)
    return path, folder


def _fail_without_converter(what: str, error: Exception) -> None:
    if found := NOT_FOUND.search(str(error)):
        name, overload = found.groups()
        fail(what, f"PyTorch's exporter of ONNX does not know '{name}.{overload}'", "compile the parts around it")
    fail(what, f"torch.onnx.export cannot export it: {_reason(error.__cause__ or error)}")


def _reason(error: BaseException) -> str:
    """Returns what an error of PyTorch says and where, without its advice for developers of PyTorch."""
    text = re.sub(r"\x1b\[\d+m", "", str(error)).strip()
    places = PLACE.findall(text)
    reason = text.partition("\n\n")[0].replace("\n", " ")[:400] or type(error).__name__
    return f"{reason} (at {places[-1][0]}:{places[-1][1]})" if places else reason
