"""Profiles of hypothesis (`ci`, `full`) and the path to the helpers in test/support."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# `--import-mode=importlib` adds no folder to the path; the helpers (tolerances.py …) are found by this.
sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

# What has been tuned on this machine is not what is tested.
os.environ["STEPWELL_TUNING_DB"] = ""

from counts import FULL

# Tests and all modules that they import stay until the end. The cycle collector looks at them no more than once.
gc.disable()

_UNHEALTHY = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

settings.register_profile(
    "ci", max_examples=12, derandomize=True, deadline=None, database=None, suppress_health_check=_UNHEALTHY
)
settings.register_profile(
    "full", max_examples=200, deadline=None, database=None, print_blob=True, suppress_health_check=_UNHEALTHY
)
settings.load_profile("full" if FULL else "ci")


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keeps programs for this session alone: what a user has compiled before does not count."""
    os.environ["STEPWELL_CACHE_DIR"] = str(tmp_path_factory.mktemp("compiled"))


def pytest_report_header(config: pytest.Config) -> str:
    # test/full.py passes the seed as --hypothesis-seed; under `ci` every example follows from the test itself.
    seed = config.getoption("--hypothesis-seed", None)
    return f"hypothesis profile: full, seed {seed}" if FULL else "hypothesis profile: ci, derandomized"


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()
    gc.enable()
