"""Test helpers shipped for outside packages too: the in-process lit format and IR generators."""
