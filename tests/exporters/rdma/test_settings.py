"""What the settings say of RDMA, and what is read by default."""

from pathlib import Path

import pytest

from exporters.collectors import COLLECTORS
from exporters.config import ConfigError, Settings, parsed_settings
from tests.exporters.trees import Trees, h100


@pytest.mark.parametrize("key", ["include", "exclude"])
def test_a_pattern_that_is_none_is_told_with_its_key(key: str) -> None:
    with pytest.raises(ConfigError, match=rf"rdma\.{key} is no regular expression: .*position 6"):
        parsed_settings({"rdma": {key: "mlx5_(*"}})


def test_rdma_is_read_by_default_and_ethtool_is_not() -> None:
    by_default = {each.name: each.on(Settings()) for each in COLLECTORS}
    assert [by_default[name] for name in ("rdma", "topology", "ethtool")] == [True, True, False]


def test_settings_lead_to_the_node_s_files_and_choose_devices(tmp_path: Path) -> None:
    trees = h100(Trees(tmp_path))
    paths = {"sysfs": str(trees.sysfs), "procfs": str(trees.procfs)}
    settings = parsed_settings({"path": paths, "rdma": {"exclude": "mlx5_[1-7]"}})
    subjects = {
        each.name: [subject.key.name for subject in each.source(settings)()]
        for each in COLLECTORS
        if each.name in {"rdma", "topology", "ethtool"}
    }
    assert subjects == {
        "rdma": ["", "mlx5_0", "mlx5_bond_0"],
        "topology": [""],
        "ethtool": ["bond0", "eth0", "eth1"],
    }
