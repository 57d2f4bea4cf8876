"""What the commands share: options, streams, arrays in files, expected diagnostics."""
