"""ONNX files: models, the order of their nodes, and their tensors."""
