"""The lowering of tensors to buffers in one arena."""
