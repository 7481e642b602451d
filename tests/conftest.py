"""What every test stands on: the folder of the repository, and one seed for generated tests."""

from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]

# The same examples in every run: a failure that CI sees is a failure that everybody sees.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("fixed")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT
