"""Fixtures of the tests of machines."""

from __future__ import annotations

import pytest
from stepwell.core import codegens
from stepwell.machine import named


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets after the test what it registers."""
    monkeypatch.setattr(named, "_registered", {})
    monkeypatch.setattr(codegens, "_registrations", dict(codegens._registrations))
