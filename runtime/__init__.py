"""compile(), Executable, JIT, compile cache."""
