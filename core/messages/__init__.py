"""What a user reads of a run: places in files, errors, warnings, remarks, and the files that commands write."""
