"""
The PyTorch front end: modules as programs on tensors, and the backend `stepwell` of `torch.compile`.

| file | what |
|---|---|
| `errors.py` | errors, and the packages that must be there |
| `tensors.py` | tensors as arrays and back, which share their memory |
| `exporting.py` | a module as an ONNX model, by PyTorch's own exporter |
| `structure.py` | nested arguments and results as flat lists |
| `compiled.py` | `compile_torch` and what it returns |
| `backend.py` | graphs that `torch.compile` asks to compile |

A file imports those of rows above its own only.

It needs the packages `torch`, `onnx` and `onnxscript` (extra `pytorch`), which are loaded when they are used.
"""
