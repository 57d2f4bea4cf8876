"""Programs quantised on data: accuracy, layers that stay in floats, and a report."""
