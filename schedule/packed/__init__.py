"""Products with weights that stay packed in memory, a scale for each block of a row."""
