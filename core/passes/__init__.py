"""Passes and the pipelines that run them: options, configuration, plans, records, instruments."""
