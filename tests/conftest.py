"""What every test stands on: the folder of the repository, one seed for generated tests, and real parts by name."""

from pathlib import Path

import hypothesis
import pytest

from tests import parts

ROOT = Path(__file__).resolve().parents[1]

# The same examples in every run: a failure that CI sees is a failure that everybody sees.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("fixed")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(part): a real program that this test drives; see tests/parts.py")
    try:
        parts.required()
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip by name what cannot run here; fail where the part is required."""
    for marker in item.iter_markers("needs"):
        part = marker.args[0]
        missing = parts.MISSING[part]()
        if missing is None:
            continue
        if part in parts.required():
            pytest.fail(f"{part} is required ({parts.REQUIRE}) and missing: {missing}", pytrace=False)
        pytest.skip(f"{part}: {missing}")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT
