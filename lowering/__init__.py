"""Passes that cross dialects, named pipelines, llvm dialect to LLVM text."""
