"""Passes on loop functions: fusing, inlining and splitting."""
