"""Converts `com.acme:Bend`, after which no element is less than `floor`."""

from __future__ import annotations

from stepwell.frontends import Emitter, Value, converter


@converter("Bend", domain="com.acme")
def bend(b: Emitter, x: Value, *, floor: float = 0.0) -> Value:
    return b.maximum(x, floor)
