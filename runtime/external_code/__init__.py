"""Parts of programs that other libraries compute."""
