"""Rules written by example: a function before and a function after."""
