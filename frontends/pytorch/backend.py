"""The backend of `torch.compile`: `torch.compile(module, backend="stepwell")`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from inspect import Parameter, signature
from operator import getitem
from threading import Lock
from typing import Any, Final, NoReturn

from ...core.messages.diagnostics import did_you_mean
from ...runtime.executable import Executable
from ..onnx.given import check_options
from .compiled import compile_torch, compiled
from .errors import fail, package
from .exporting import Exported, exported

WHAT: Final = "torch.compile"
ATTENTION: Final = ("query", "key", "value", "dropout_p", "is_causal")
"""The arguments of PyTorch's kernel for attention that have a place. Others have their names."""

MOST_PROGRAMS: Final = 32
"""The programs for different sizes that a graph keeps."""

NO_OPTIONS: Final = frozenset({"module", "args", "kwargs", "dynamic_shapes"})


def stepwell(graph: Any, inputs: Sequence[Any], *, mode: str | None = None, options: Any = None) -> Callable[..., Any]:
    """
    Returns a graph of `torch.compile` as a function of its tensors. PyTorch finds it by the name `stepwell`.

    `options` are the keyword arguments of `compile_torch`. A graph is compiled when it is called, once for each tuple
    of sizes. Its weights are part of the program while nobody changes them. Writes into arguments and buffers, and
    results that share memory with arguments, are as without `torch.compile`.

    Raises TorchError for a graph of which gradients are wanted, and for options that are unknown.
    """
    if mode not in (None, "default"):
        fail(WHAT, f"mode is '{mode}', which the backend 'stepwell' does not have", "give options={'opt_level': …}")
    checked = _checked(options or {})
    common = package("torch._dynamo.backends.common")
    compiler = partial(_graph, options=checked)
    return common.aot_autograd(fw_compiler=_training, bw_compiler=_training, inference_compiler=compiler)(graph, inputs)


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    found = signature(compile_torch).parameters
    known = {
        k: each.default for k, each in found.items() if each.kind is Parameter.KEYWORD_ONLY and k not in NO_OPTIONS
    }
    if unknown := next((name for name in options if name not in known), None):
        hint = did_you_mean(unknown, list(known)) or f"options are {', '.join(known)}"
        fail(WHAT, f"the backend 'stepwell' has no option '{unknown}'", hint)
    check_options({**known, **options})
    return dict(options)


def _training(graph: Any, inputs: Sequence[Any]) -> NoReturn:
    fail(WHAT, "gradients are wanted of the graph, and programs have none", "call it in 'with torch.no_grad():'")


def _graph(graph: Any, inputs: Sequence[Any], options: dict[str, Any]) -> Graph:
    """Returns a graph with what is known of its inputs while it is made: which are weights, which it writes into."""
    context = package("torch._guards").TracingContext.try_get()
    metadata = getattr(context, "fw_metadata", None)
    static: set[int] = set(getattr(metadata, "static_input_indices", None) or ())
    return Graph(graph, static - set(getattr(metadata, "mutated_inp_runtime_indices", ())), options)


class Graph:
    """
    A graph of ATen ops without side effects, which is called with a list of tensors and numbers.

    `static` are the places of the weights. One that has changed since the first call becomes an argument. PyTorch
    counts writes into a tensor, but for those through `.data`.
    """

    _boxed_call = True
    """Tells PyTorch that the arguments come as one list."""

    def __init__(self, graph: Any, static: set[int], options: dict[str, Any]):
        self._graph = _with_whole_attention(graph)
        self._options = options
        self._static = static
        self._weights: dict[int, tuple[Any, Any]] = {}
        """The version of each weight at the first call, and its memory, which no other tensor gets while it is held."""
        self._programs: dict[tuple[Any, ...], tuple[Exported, Executable]] = {}
        self._orders = [_order(each) for each in _results(graph)]
        self._lock = Lock()

    def __call__(self, args: list[Any]) -> list[Any]:
        given = list(args)
        args.clear()
        with self._lock:
            self._note_weights(given)
            free = [value for place, value in enumerate(given) if place not in self._static]
            key = tuple(map(_kind, free))
            if key not in self._programs:
                # A thread of its own has none of the modes in which PyTorch runs graphs. They disturb its exporter.
                with ThreadPoolExecutor(1) as thread:
                    self._programs[key] = thread.submit(self._compiled, given, free).result()
            made_of, executable = self._programs[key] = self._programs.pop(key)
            while len(self._programs) > MOST_PROGRAMS:  # The one that was unused for longest goes.
                del self._programs[next(iter(self._programs))]
        results = made_of.results.values(executable(*made_of.arguments.arrays((tuple(free), {}))))
        return [_in_order(result, order) for result, order in zip(results, self._orders, strict=True)]

    def _note_weights(self, given: Sequence[Any]) -> None:
        """Makes arguments of weights that have changed since the first call."""
        versions = {place: _version(given[place]) for place in self._static}
        if not self._weights:
            self._weights = {place: (version, given[place].detach()) for place, version in versions.items()}
        if changed := [place for place, each in versions.items() if each is None or each != self._weights[place][0]]:
            self._static.difference_update(changed)
            self._programs.clear()

    def _compiled(self, given: Sequence[Any], free: Sequence[Any]) -> tuple[Exported, Executable]:
        torch = package()
        graph, static = self._graph, frozenset(self._static)
        module = torch.nn.Module()
        for place in static:
            module.register_buffer(f"weight_{place}", self._weights[place][1])

        def forward(*tensors: Any) -> Any:
            left = iter(tensors)
            return graph(
                *(getattr(module, f"weight_{place}") if place in static else next(left) for place in range(len(given)))
            )

        module.forward = forward
        found = exported(WHAT, module.eval(), free, {})
        return compiled(WHAT, found, self._options)


def _kind(value: Any) -> Any:
    """Returns what a program is compiled for."""
    return (tuple(value.shape), value.dtype) if hasattr(value, "dtype") else value


def _version(tensor: Any) -> Any:
    """Returns what changes when the elements of a tensor do, or None where PyTorch does not count that."""
    return None if tensor.is_inference() else (tensor.data_ptr(), tensor._version)


def _with_whole_attention(graph: Any) -> Any:
    """
    Returns a graph with `scaled_dot_product_attention` where PyTorch has chosen a kernel of its own for it.

    PyTorch's exporter does not see that such a kernel may share heads of keys and values.
    """
    torch = package()
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
    for node in [each for each in graph.graph.nodes if each.target is kernel]:
        parts = list(node.users)
        if any(part.target is not getitem or part.args[1] != 0 for part in parts):
            continue
        found = {**dict(zip(ATTENTION, node.args, strict=False)), **node.kwargs}
        operands = found.pop("query"), found.pop("key"), found.pop("value")
        found["enable_gqa"] = operands[0].meta["val"].shape[1] != operands[1].meta["val"].shape[1]
        with graph.graph.inserting_before(node):
            whole = graph.graph.call_function(torch.ops.aten.scaled_dot_product_attention.default, operands, found)
        whole.meta["val"] = node.meta["val"][0]
        for part in parts:
            part.replace_all_uses_with(whole)
            graph.graph.erase_node(part)
        graph.graph.erase_node(node)
    graph.recompile()
    return graph


def _results(graph: Any) -> Sequence[Any]:
    (output,) = (node for node in graph.graph.nodes if node.op == "output")
    return [getattr(each, "meta", {}).get("val") for each in output.args[0]]


def _order(fake: Any) -> tuple[int, ...] | None:
    """Returns the dimensions of a result from the outermost in memory to the innermost, None if they are in order."""
    if not hasattr(fake, "stride"):
        return None
    strides = [int(each) for each in fake.stride()]
    order = tuple(sorted(range(len(strides)), key=lambda place: -strides[place]))
    return None if order == tuple(range(len(strides))) else order


def _in_order(result: Any, order: tuple[int, ...] | None) -> Any:
    """Returns a result whose dimensions stand in memory as PyTorch expects, which makes views by these strides."""
    if order is None:
        return result
    back = sorted(range(len(order)), key=lambda place: order[place])
    return result.permute(order).contiguous().permute(back)
