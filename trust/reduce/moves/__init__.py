"""The moves that shrink a program in MLIR, coarse ones first."""
