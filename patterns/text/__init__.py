"""Rules read from the text of the pattern dialect."""
