"""The conversions of `lower-to-llvm-dialect`: one file per source dialect, one linear walk per function."""
