"""What every test shares: hypothesis runs the same examples everywhere, and more of them where it is asked."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from process import HOME

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", settings.get_profile("ci"), derandomize=False, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# whoever runs the tests may have a policy and a memory file of their own
for name in [name for name in os.environ if name.startswith("MEMTTL_")]:
    del os.environ[name]
os.environ.pop("MEMORY_FILE_PATH", None)
os.environ.update(HOME=str(HOME), XDG_CONFIG_HOME=str(HOME / "config"), XDG_STATE_HOME=str(HOME / "state"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let golden files be written anew."""
    parser.addoption("--update-golden", action="store_true", help="write fixtures/golden anew from what is printed")
