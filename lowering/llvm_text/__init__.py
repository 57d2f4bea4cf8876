"""The LLVM text of modules of the llvm dialect: tables and parts, which `emit_llvm_text.py` puts together."""
