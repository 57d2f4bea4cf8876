"""Rules for quantised tensors: arithmetic on floats between dequantize and quantize becomes arithmetic on integers."""
