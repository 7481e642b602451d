"""Debian's prometheus-node-exporter on a sysfs of ours, as an oracle: the same files, read by somebody else."""

import re
import socket
import subprocess
import urllib.request
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.exporters.rdma.looking import Series
from tests.parts import where_is

LISTENING = re.compile(r"Listening on")
WITHIN_S = 30

NAMES = {
    "port_data_transmitted_bytes": "port_transmit_bytes",
    "port_data_received_bytes": "port_receive_bytes",
    "port_packets_transmitted": "port_transmit_packets",
    "port_packets_received": "port_receive_packets",
    "port_transmit_wait": "port_transmit_wait_ticks",
    "port_discards_transmitted": "port_transmit_discards",
    "port_errors_received": "port_receive_errors",
    "port_constraint_errors_received": "port_receive_constraint_errors",
    "port_constraint_errors_transmitted": "port_transmit_constraint_errors",
    "port_receive_remote_physical_errors": "port_receive_remote_physical_errors",
    "port_receive_switch_relay_errors": "port_receive_switch_relay_errors",
    "symbol_error": "port_symbol_errors",
    "link_downed": "port_link_downs",
    "link_error_recovery": "port_link_recoveries",
    "local_link_integrity_errors": "port_local_link_integrity_errors",
    "excessive_buffer_overrun_errors": "port_buffer_overrun_errors",
    "vl15_dropped": "port_management_drops",
    "unicast_packets_transmitted": "port_transmit_unicast_packets",
    "unicast_packets_received": "port_receive_unicast_packets",
    "multicast_packets_transmitted": "port_transmit_multicast_packets",
    "multicast_packets_received": "port_receive_multicast_packets",
    "state_id": "port_state",
    "physical_state_id": "port_physical_state",
    "rate_bytes_per_second": "port_rate_bytes_per_second",
}
"""node_exporter's names, without prefix and suffix, and ours."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def page(sysfs: Path, *options: str) -> str:
    """What node_exporter publishes of InfiniBand in this tree, or of what the options turn on."""
    address = f"127.0.0.1:{free_port()}"
    command = [
        where_is("prometheus-node-exporter") or "prometheus-node-exporter",
        f"--path.sysfs={sysfs}",
        "--collector.disable-defaults",
        *(options or ("--collector.infiniband",)),
        "--web.disable-exporter-metrics",
        f"--web.listen-address={address}",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as exporter:  # noqa: S603  the program above
        try:
            assert exporter.stderr is not None
            said = []
            for line in exporter.stderr:
                said.append(line)
                if LISTENING.search(line):
                    break
            else:
                raise AssertionError("".join(said))
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=WITHIN_S) as answer:
                return str(answer.read().decode())
        finally:
            exporter.kill()


def series(sysfs: Path) -> tuple[Series, set[tuple[str, ...]]]:
    """Its series by our names, and (device, board, firmware, type) of its info series."""
    found: Series = {}
    infos: set[tuple[str, ...]] = set()
    for family in text_string_to_metric_families(page(sysfs)):
        for sample in family.samples:
            name = sample.name.removeprefix("node_infiniband_")
            labels = sample.labels
            if name == "info":
                infos.add((labels["device"], labels["board_id"], labels["firmware_version"], labels["hca_type"]))
            elif name != sample.name:
                total = "_total" if name.endswith("_total") else ""
                found[NAMES[name.removesuffix("_total")] + total, labels["device"], labels["port"]] = sample.value
    return found, infos
