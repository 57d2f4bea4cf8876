"""
The ONNX front end.

| file | what |
|---|---|
| `importer.py` `inputs.py` | `from_onnx`: nodes in order, names, locations; what the caller fixes |
| `compiled.py` | `compile_onnx`: an import for the sizes and values of each call |
| `registry.py` | the table of converters: `converter`, `direct` |
| `operators/` | the converters, by theme |
| `emitter.py` `values.py` | what converters build with: graph ops on values |
| `model.py` `order.py` | reading and checking a model |
| `unsupported.py` | what has no converter: definitions by other operators, the report, stubs |
| `folding.py` | what is known at import: shape arithmetic |
| `weights_file.py` | the side-car |

It needs the package `onnx` (extra `onnx`), which is loaded when a model is.
"""

from __future__ import annotations

from .emitter import Emitter as Emitter
from .errors import ConversionError as ConversionError
from .errors import OnnxError as OnnxError
from .importer import from_onnx as from_onnx
from .registry import Known as Known
from .registry import converter as converter
from .registry import direct as direct
from .values import KnownValue as KnownValue
from .values import Value as Value
