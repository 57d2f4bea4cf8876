"""
Tables that depend on numbers only: windows of signals, filter banks. They are evaluated at import, like all that is
known there.
"""

from __future__ import annotations

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value


@converter("HannWindow")
@converter("HammingWindow")
@converter("BlackmanWindow")
def window(b: GraphBuilder, size: Known, *, periodic: int = 1, output_datatype: int = 1) -> Value:
    """Refuses a window that cannot be evaluated. The importer folds all others before a converter is asked."""
    raise ConversionError("the window cannot be evaluated", hint="compute it before the export")


@converter("MelWeightMatrix")
def mel_weight_matrix(
    b: GraphBuilder,
    num_mel_bins: Known,
    dft_length: Known,
    sample_rate: Known,
    lower_edge_hertz: Known,
    upper_edge_hertz: Known,
    *,
    output_datatype: int = 1,
) -> Value:
    """Refuses a matrix that cannot be evaluated, as `window` does."""
    raise ConversionError("the matrix cannot be evaluated", hint="compute it before the export")
