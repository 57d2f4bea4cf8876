"""Source locations, diagnostics, parsing, verification with dominance, pass infrastructure, plug-ins, weights store."""
