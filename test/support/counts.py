"""Whether the tests run with the counts of CI or of the acceptance lists (`STEPWELL_FULL=1`)."""

from __future__ import annotations

import os

FULL = os.environ.get("STEPWELL_FULL", "") == "1"
