"""The converters of the standard operators, by theme. How they are written stands in `registry.py`."""

from __future__ import annotations

from importlib import import_module

THEMES = (
    "elementwise",
    "movement",
    "contraction",
    "convolution",
    "transposed_convolution",
    "reduction",
    "control",
    "indexing",
    "einsum",
    "recurrent",
    "loops",
    "scans",
    "sequences",
    "data_dependent",
    "box_suppression",
    "text",
    "classic",
    "features",
    "forests",
    "quantized",
    "quantized_convolution",
    "quantized_fusions",
    "quantized_products",
    "packed_weights",
    "fused_layers",
    "fused_products",
    "contrib",
    "quantized_lookups",
    "quantized_pooling",
    "table_weights",
    "quantized_recurrent",
    "attention",
    "rotary",
    "cached_attention",
    "attention_fusions",
    "decoder_attention",
    "sparse_attention",
    "causal_convolution",
    "linear_attention",
    "gated_delta",
    "experts",
    "losses",
    "training",
    "spectral",
    "activations",
    "arithmetic",
    "normalisation",
    "tables",
    "random",
    "pooling",
    "dynamic",
    "images",
    "resizing",
    "sampling",
)
"""The modules that define converters."""


def load() -> None:
    """Defines the converters of all themes."""
    for theme in THEMES:
        import_module(f".{theme}", __name__)
