"""What Ethernet interfaces of RDMA devices count beneath RoCE: pauses, discards, marks of congestion, the cable.

None of it is in sysfs; drivers tell it by the names of their own that `ethtool -S` shows. Received pauses mean that the
network stops us, sent ones that we stop the network.
"""

import re

from msgspec import Struct

from exporters.catalog.family import Family, Group, Kind

NETDEV = ("netdev",)
PERCENT = 0.01
MICROSECOND = 1e-6


class Named(Struct, frozen=True):
    """Names of a driver that mean one thing. A group of the pattern is the value of the family's second label."""

    pattern: re.Pattern[str]
    family: Family
    factor: float = 1


def _named(pattern: str, name: str, text: str, *labels: str, factor: float = 1) -> Named:
    gauge = factor == PERCENT
    shown = pattern.replace(PRIORITY, "<priority>").replace(LANE, "<lane>").replace("\\.", ".").replace("|", " or ")
    source = shown if factor == 1 else f"{shown} x {factor:g}"
    family = Family(
        name=f"knotwatch_ethtool_{name}" if gauge else f"knotwatch_ethtool_{name}_total",
        kind=Kind.GAUGE if gauge else Kind.COUNTER,
        group=Group.ETHTOOL,
        text=text,
        source=f"ethtool statistics: {source}",
        labels=(*NETDEV, *labels),
    )
    return Named(re.compile(pattern), family, factor)


PRIORITY = "([0-7])"
LANE = "([0-9]{1,2})"


def _both_ways() -> tuple[Named, ...]:
    """What is counted for each way alike."""
    found = []
    for short, way, whose in (("rx", "receive", "received"), ("tx", "transmit", "sent")):
        found += [
            _named(
                f"{short}_prio{PRIORITY}_pause|{short}_pfc_ena_frames_pri{PRIORITY}|"
                rf"{short}_priority_{PRIORITY}_xoff\.nic",
                f"{way}_priority_pause_frames",
                f"Pause frames {whose} for one priority (PFC).",
                "priority",
            ),
            _named(
                f"{short}_prio{PRIORITY}_pause_duration",
                f"{way}_priority_pause_seconds",
                f"Time paused by frames {whose} for one priority.",
                "priority",
                factor=MICROSECOND,
            ),
            _named(
                f"{short}_prio{PRIORITY}_pause_transition",
                f"{way}_priority_pause_transitions",
                f"Times that a pause began, by frames {whose} for one priority.",
                "priority",
            ),
            _named(f"{short}_prio{PRIORITY}_bytes", f"{way}_priority_bytes", f"Bytes {whose} by priority.", "priority"),
            _named(
                f"{short}_prio{PRIORITY}_packets",
                f"{way}_priority_packets",
                f"Packets {whose} by priority.",
                "priority",
            ),
            _named(
                f"{short}_global_pause|{short}_pause_frames|" + rf"link_xoff_{short}\.nic",
                f"{way}_pause_frames",
                f"Pause frames {whose} for all priorities.",
            ),
            _named(
                f"{short}_global_pause_duration",
                f"{way}_pause_seconds",
                f"Time paused by frames {whose} for all priorities.",
                factor=MICROSECOND,
            ),
            _named(
                f"{short}_global_pause_transition",
                f"{way}_pause_transitions",
                f"Times that a pause began, by frames {whose} for all priorities.",
            ),
            _named(f"{short}_discards_phy", f"{way}_discards", f"Packets dropped at the port that were to be {whose}."),
            _named(f"{short}_pci_signal_integrity", f"{way}_pcie_errors", f"Errors on PCIe for what was {whose}."),
            *(
                _named(
                    f"{short}_vport_rdma_{cast}_{unit}",
                    f"{way}_rdma_{cast}_{unit}",
                    f"{unit.capitalize()} of RDMA {whose}, {cast}.",
                )
                for cast in ("unicast", "multicast")
                for unit in ("bytes", "packets")
            ),
        ]
    return tuple(found)


NAMED: tuple[Named, ...] = (
    *_both_ways(),
    _named(
        f"rx_prio{PRIORITY}_buf_discard",
        "receive_priority_buffer_discards",
        "Packets dropped for want of buffers, by priority.",
        "priority",
    ),
    _named(
        f"rx_prio{PRIORITY}_cong_discard",
        "receive_priority_congestion_discards",
        "Packets dropped for congestion, by priority.",
        "priority",
    ),
    _named(
        f"rx_prio{PRIORITY}_discards",
        "receive_priority_discards",
        "Packets dropped on receipt, by priority.",
        "priority",
    ),
    _named(
        f"rx_prio{PRIORITY}_marked",
        "receive_priority_ecn_marked_packets",
        "Packets that the device marked for congestion, by priority.",
        "priority",
    ),
    _named("rx_ecn_mark", "receive_ecn_marked_packets", "Packets received with the mark of congestion."),
    _named("tx_pause_storm_warning_events", "pause_storm_warnings", "Times that we paused the network for long."),
    _named("tx_pause_storm_error_events", "pause_storm_errors", "Times that we paused it so long that it was ended."),
    _named("rx_out_of_buffer", "out_of_buffer_drops", "Packets dropped for want of receive buffers."),
    _named("dev_out_of_buffer", "device_out_of_buffer_drops", "Times that the device had no receive buffer at all."),
    _named("outbound_pci_stalled_rd", "pcie_read_stalled_ratio", "Share of time that reads waited.", factor=PERCENT),
    _named("outbound_pci_stalled_wr", "pcie_write_stalled_ratio", "Share of time that writes waited.", factor=PERCENT),
    _named("outbound_pci_stalled_rd_events", "pcie_read_stalled_seconds", "Seconds in which reads waited over 30 %."),
    _named("outbound_pci_stalled_wr_events", "pcie_write_stalled_seconds", "Seconds in which writes waited over 30 %."),
    _named("outbound_pci_buffer_overflow", "pcie_overflow_drops", "Packets dropped since PCIe did not keep up."),
    _named("rx_bits_phy", "cable_bytes", "Bytes received on the cable: what errors are counted against.", factor=1 / 8),
    _named("rx_corrected_bits_phy", "cable_corrections", "Wrong bits that error correction set right."),
    _named("rx_pcs_symbol_err_phy|rx_symbol_err_phy", "cable_symbol_errors", "Symbols that could not be set right."),
    _named(f"rx_err_lane_{LANE}_phy", "cable_lane_errors", "Errors before correction, by lane.", "lane"),
    _named("rx_crc_errors_phy", "cable_checksum_errors", "Frames received with a wrong checksum."),
    _named("link_down_events_phy", "link_downs", "Times that the link went down, by the device's own count."),
    _named(
        "([a-z]{2,9}(?:_in|_out)?)_allowance_exceeded",
        "allowance_exceeded",
        "Packets queued or dropped beyond what the cloud allows the instance (ENA).",
        "allowance",
    ),
)
"""Known names, of mlx5, bnxt_en, ice and ena. What is not known is not published: drivers have thousands per queue."""
