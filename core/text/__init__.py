"""Reading IR: the parser with its places and messages."""
