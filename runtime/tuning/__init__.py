"""Looking for schedules that are faster than the default, by measuring (docs/tuning.md)."""
