"""
The ONNX front end.

| file | what |
|---|---|
| `types.py` `value.py` `errors.py` | element types, the values that converters see, errors |
| `files/` | reading and checking a model, the order of its nodes, the side-car |
| `emitting/` | what converters build with: graph ops on values, sizes, what is known at import |
| `registry.py` | the table of converters: `converter`, `direct` |
| `operators/` | the converters, by theme |
| `unsupported.py` | what has no converter: definitions by other operators, the report, stubs |
| `importer.py` `inputs.py` | `from_onnx`: nodes in order, names, locations, and what the caller fixes |
| `compiled.py` `given.py` | `compile_onnx`: an import for the sizes and values of each call, and its arguments |

A file imports those of rows above its own only.

It needs the package `onnx` (extra `onnx`), which is loaded when a model is.
"""
