"""The tables and parts of the LLVM text emitter: `lowering/emit_llvm_text.py` puts them together."""
