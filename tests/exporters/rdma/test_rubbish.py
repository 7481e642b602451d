"""Whatever files say or refuse, nothing is raised, and every value that comes out is one that a file holds."""

import errno
import math
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporters.collectors.pauses import PAUSE_MAX_S
from exporters.rooted import read_bytes
from tests.exporters.rdma.looking import devices_of, look, look_at, subject_of
from tests.exporters.trees import Trees, h100, port

FILES = sorted(
    {*port(400, link_layer="Ethernet"), "counters_ext/port_xmit_data_64", "gid_attrs/ndevs/0", "hw_counters/own", "odd"}
)
TEXTS = st.one_of(
    st.integers(-(2**65), 2**65).map(str),
    st.sampled_from(
        ["", "N/A (no PMA)", "4: ACTIVE", "5: LinkUp", ": ", "400 Gb/sec (4X NDR)", "0 GB/sec", "Ethernet"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.binary(max_size=40),
)


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from(FILES), TEXTS, max_size=30),
    st.lists(st.tuples(st.sampled_from(FILES), TEXTS), max_size=6),
)
def test_rubbish_costs_itself(files: dict[str, str | bytes], later: list[tuple[str, str | bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trees = Trees(Path(folder))
        trees.hca("mlx5_0", "", {1: {}})
        ports = trees.sysfs / "class/infiniband/mlx5_0/ports/1"

        def put(name: str, text: str | bytes) -> None:
            (ports / name).parent.mkdir(parents=True, exist_ok=True)
            (ports / name).write_bytes(text if isinstance(text, bytes) else text.encode())

        for name, text in files.items():
            put(name, text)
        subjects = list(devices_of(trees)())
        for second, change in enumerate([None, *later]):
            if change:
                put(*change)
            for subject in subjects:
                series, reading = look(subject, float(second * 10))
                assert reading.up
                assert all(math.isfinite(value) and value >= 0 for value in series.values())
                assert all(value < 2**67 for value in series.values())


ERRORS = (errno.EINVAL, errno.EIO, errno.ENOENT, errno.ENODEV, errno.EACCES, errno.ETIMEDOUT, errno.EAGAIN)


@pytest.mark.parametrize("seed", range(12))
def test_reads_that_fail_at_any_time_give_the_truth_or_nothing_and_all_comes_back(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  faults, not secrets
    trees = h100(Trees(tmp_path))
    truth = look_at(trees, "mlx5_bond_0")
    share = chance.choice((0.02, 0.2, 0.6, 1.0))
    broken = True

    def read(path: str, at_most: int) -> bytes:
        if broken and chance.random() < share:
            raise OSError(chance.choice(ERRORS), "by chance")
        return read_bytes(path, at_most)

    subject = subject_of(devices_of(trees, read=read)(), "mlx5_bond_0")
    for second in range(60):
        series, _ = look(subject, float(second))
        assert {key: value for key, value in series.items() if not key[0].endswith("_info")}.items() <= truth.items()
    broken = False
    # Files that refused for a minute are left alone for some; after the longest pause all are read again.
    look(subject, 100 + PAUSE_MAX_S)
    assert look(subject, 200 + PAUSE_MAX_S)[0] == truth
