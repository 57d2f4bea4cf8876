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
    "ci", max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=_UNHEALTHY
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


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "ci_cases(count): CI runs so many cases of this test, spread over all. 0: with STEPWELL_FULL=1 only."
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Leaves out the cases that CI does not run. `STEPWELL_FULL=1` runs all, and so does pytest where it is given files.

    A test process gives a list of its own, and all lists must be the same. So nothing is drawn.
    """
    if FULL or not all(Path(each).is_dir() for each in config.args):
        return
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("ci_cases"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = {id(item) for cases in tests.values() for item in cases} - {
        id(item) for cases in tests.values() for item in _spread(cases)
    }
    config.hook.pytest_deselected(items=[item for item in items if id(item) in left_out])
    items[:] = [item for item in items if id(item) not in left_out]


def _spread(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Returns as many of the cases of a test as its mark says, in even steps."""
    marker = cases[0].get_closest_marker("ci_cases")
    assert marker is not None
    count = min(marker.args[0], len(cases))
    return [cases[(2 * number + 1) * len(cases) // (2 * count)] for number in range(count)]


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()
    gc.enable()
