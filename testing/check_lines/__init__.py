"""CHECK lines written from what commands print: read, aligned with the old ones, checked by filecheck, written."""
