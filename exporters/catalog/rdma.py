"""What each RDMA device and port says of itself, on InfiniBand, RoCE, Omni-Path, iWARP and EFA alike.

Labels: the device's name and the port's number. Who it is (network interface, firmware, PCI address) is in the info
families. Files keep the meaning that the driver gives them; bytes are bytes: the two classic data counters
(`port_*_data`) count words of four octets, and nothing else does.
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from exporters.catalog.family import Family, Group, Kind

DEVICE = ("device",)
PORT = ("device", "port")
OCTETS_PER_WORD = 4


def _family(kind: Kind, name: str, text: str, source: str, labels: tuple[str, ...]) -> Family:
    return Family(name=f"knotwatch_rdma_{name}", kind=kind, group=Group.RDMA, text=text, source=source, labels=labels)


def _gauge(name: str, text: str, source: str, labels: tuple[str, ...] = PORT) -> Family:
    return _family(Kind.GAUGE, name, text, source, labels)


class Counted(Struct, frozen=True):
    """What one file counts: the family, and the factor to its unit."""

    family: Family
    factor: int = 1


def _factor(file: str) -> int:
    """Only by the file's name: EFA's tx_bytes are bytes, though they count the same."""
    return OCTETS_PER_WORD if file.startswith("port_") and file.removesuffix("_64").endswith("_data") else 1


Table = Mapping[str, Counted]
"""Files of a folder, by name."""


def _counted(folder: str, labels: tuple[str, ...], rows: str) -> Table:
    """`file name text` a line; a file named port_*_data counts words."""
    table = {}
    for row in rows.strip().splitlines():
        file, name, text = row.split(maxsplit=2)
        factor = _factor(file)
        source = f"{folder}/{file}" + (f" x {factor}" if factor > 1 else "")
        level = "port_" if labels is PORT else "device_"
        family = _family(Kind.COUNTER, f"{level}{name}_total", text, source, labels)
        table[file] = Counted(family, factor)
    return MappingProxyType(table)


def _alias(rows: str, *known: Table) -> Table:
    """`file file-of-the-same-meaning` a line: another driver's name for what is in a table already."""
    files = {file: counted for table in known for file, counted in table.items()}
    table = {}
    for row in rows.strip().splitlines():
        file, same = row.split()
        table[file] = Counted(files[same].family, _factor(file))
    return MappingProxyType(table)


COUNTERS = _counted(
    "counters",
    PORT,
    """
port_xmit_data transmit_bytes Bytes sent; on InfiniBand with the headers of the link layer.
port_rcv_data receive_bytes Bytes received; on InfiniBand with the headers of the link layer.
port_xmit_packets transmit_packets Packets sent.
port_rcv_packets receive_packets Packets received.
unicast_xmit_packets transmit_unicast_packets Packets sent to one receiver.
unicast_rcv_packets receive_unicast_packets Packets received that were for this port alone.
multicast_xmit_packets transmit_multicast_packets Packets sent to a group.
multicast_rcv_packets receive_multicast_packets Packets received that were for a group.
port_xmit_wait transmit_wait_ticks Ticks with something to send and no credit to; how long a tick is the device keeps.
port_xmit_discards transmit_discards Packets that could not be sent and were dropped: congestion, or the port went down.
port_rcv_errors receive_errors Packets received with an error.
port_xmit_constraint_errors transmit_constraint_errors Packets not sent because of a partition or raw filter.
port_rcv_constraint_errors receive_constraint_errors Packets refused because of a partition or raw filter.
port_rcv_remote_physical_errors receive_remote_physical_errors Packets that the sender marked as bad.
port_rcv_switch_relay_errors receive_switch_relay_errors Packets that could not be passed on.
symbol_error symbol_errors Symbols that the link could not decode: a bad cable or transceiver.
link_error_recovery link_recoveries Times that the link went down by itself and recovered.
link_downed link_downs Times that the link failed to recover and went down.
local_link_integrity_errors local_link_integrity_errors Times that errors of the link passed its threshold.
excessive_buffer_overrun_errors buffer_overrun_errors Times that the receive buffer overran for long.
VL15_dropped management_drops Management packets dropped for want of room.
""",
)
"""Files of `ports/N/counters`."""

LEGACY_COUNTERS = _alias(
    """
port_xmit_data_64 port_xmit_data
port_rcv_data_64 port_rcv_data
port_xmit_packets_64 port_xmit_packets
port_rcv_packets_64 port_rcv_packets
port_unicast_xmit_packets unicast_xmit_packets
port_unicast_rcv_packets unicast_rcv_packets
port_multicast_xmit_packets multicast_xmit_packets
port_multicast_rcv_packets multicast_rcv_packets
""",
    COUNTERS,
)
"""Files of `ports/N/counters_ext`, which old drivers have: 64 bits wide where those in `counters` have 32 and stick."""

TRANSPORT_COUNTERS = _counted(
    "hw_counters",
    PORT,
    """
local_ack_timeout_err local_ack_timeouts No acknowledgement came in time: the peer is gone or the path is dead.
rnr_nak_retry_err receiver_not_ready_retries Times that the receiver had nothing posted to receive into.
out_of_sequence out_of_sequence_packets Packets that came out of order: loss, or several paths.
packet_seq_err packet_sequence_errors Refusals received for a gap in the order.
implied_nak_seq_err implied_sequence_errors Times that an answer told of a lost one before it.
duplicate_request duplicate_requests Requests that came twice.
req_cqe_error requester_completion_errors Own requests that ended in an error: the queue pair is lost.
req_cqe_flush_error requester_flush_errors Own requests thrown away after an error.
resp_cqe_error responder_completion_errors Receives that ended in an error.
resp_cqe_flush_error responder_flush_errors Receives thrown away after an error.
req_remote_access_errors requester_remote_access_errors Own requests refused by the peer for want of rights.
resp_remote_access_errors responder_remote_access_errors Requests of peers refused for want of rights.
req_remote_invalid_request requester_invalid_requests Own requests that the peer called invalid.
resp_local_length_error responder_length_errors Messages longer than what was posted for them.
req_transport_retries_exceeded requester_retries_exceeded Own requests given up after all retries.
req_rnr_retries_exceeded requester_not_ready_exceeded Own requests given up since the receiver stayed not ready.
out_of_buffer out_of_buffer_drops Packets dropped for want of posted receives.
np_ecn_marked_roce_packets ecn_marked_packets Packets received with the mark of congestion.
np_cnp_sent congestion_notices_sent Notices of congestion sent to senders.
rp_cnp_handled congestion_notices_handled Notices of congestion received and obeyed.
rp_cnp_ignored congestion_notices_ignored Notices of congestion received and ignored: a wrong setting.
roce_adp_retrans adaptive_retransmissions Adaptive retransmissions.
roce_adp_retrans_to adaptive_retransmission_timeouts Adaptive retransmissions that ran into their timeout.
roce_slow_restart slow_restarts Times that slow restart was used.
roce_slow_restart_cnps slow_restart_notices Notices of congestion that slow restart made.
roce_slow_restart_trans slow_restart_transitions Times that slow restart began.
rx_write_requests receive_write_requests Write requests of peers.
rx_read_requests receive_read_requests Read requests of peers.
rx_atomic_requests receive_atomic_requests Atomic requests of peers.
rx_dct_connect receive_dynamic_connects Requests to connect a dynamic transport.
rx_icrc_encapsulated receive_checksum_errors RoCE packets with a wrong checksum.
rx_drops receive_drops Packets received and dropped.
send_bytes send_work_bytes Bytes of sends.
send_wrs send_work_requests Sends.
recv_bytes receive_work_bytes Bytes received by posted receives.
recv_wrs receive_work_requests Posted receives that were filled.
rdma_read_bytes read_bytes Bytes read from peers.
rdma_read_wrs read_requests Reads from peers.
rdma_read_wr_err read_errors Reads from peers that failed.
rdma_read_resp_bytes read_response_bytes Bytes that peers read here.
rdma_write_bytes write_bytes Bytes written to peers.
rdma_write_wrs write_requests Writes to peers.
rdma_write_wr_err write_errors Writes to peers that failed.
rdma_write_recv_bytes write_receive_bytes Bytes that peers wrote here.
retrans_bytes retransmit_bytes Bytes sent again.
retrans_pkts retransmit_packets Packets sent again.
retrans_timeout_events retransmit_timeouts Times that nothing came back before the timeout.
impaired_remote_conn_events impaired_connections Times that a connection to a peer was impaired.
unresponsive_remote_events unresponsive_peers Times that a peer did not answer.
""",
)
"""Files of `ports/N/hw_counters` (some drivers keep them at the device): mlx5's and EFA's names."""

TRANSPORT_ALIASES = _alias(
    """
tx_bytes port_xmit_data
rx_bytes port_rcv_data
tx_pkts port_xmit_packets
rx_pkts port_rcv_packets
rx_write_req rx_write_requests
rx_read_req rx_read_requests
rx_atomic_req rx_atomic_requests
tx_cnp_pkts np_cnp_sent
rx_ecn_marked_pkts np_ecn_marked_roce_packets
seq_err_naks_rcvd packet_seq_err
oos_drop_count out_of_sequence
cnpHandled rp_cnp_handled
cnpIgnored rp_cnp_ignored
cnpSent np_cnp_sent
RxECNMrkd np_ecn_marked_roce_packets
""",
    COUNTERS,
    TRANSPORT_COUNTERS,
)
"""Other drivers' names (EFA, bnxt_re, irdma) for the same things. Their bytes are true bytes."""

HARDWARE_COUNTERS: Table = MappingProxyType({**TRANSPORT_COUNTERS, **TRANSPORT_ALIASES})

DEVICE_COUNTERS = _counted(
    "hw_counters",
    DEVICE,
    """
submitted_cmds submitted_commands Commands given to the device.
completed_cmds completed_commands Commands that the device completed.
cmds_err command_errors Commands that failed.
no_completion_cmds lost_commands Commands whose completion never came.
keep_alive_rcvd keep_alives Signs of life of the device.
""",
)
"""Files of `hw_counters` that tell of a device as a whole: EFA's names."""

HARDWARE_VALUE = _gauge(
    "port_hardware_value",
    "A file of the driver's own that has no family here, as it is: mostly a count since the device was set up.",
    "hw_counters/<counter>",
    (*PORT, "counter"),
)
DEVICE_HARDWARE_VALUE = _gauge(
    "device_hardware_value",
    "A file of the driver's own at the device that has no family here, as it is.",
    "hw_counters/<counter>",
    (*DEVICE, "counter"),
)
HARDWARE_LIFESPAN = _gauge(
    "port_hardware_lifespan_seconds",
    "How old the values of hw_counters may be, by the driver's setting.",
    "hw_counters/lifespan / 1000",
)

STATE = _gauge(
    "port_state",
    "1 down, 2 initializing, 3 armed, 4 active, 5 active but deferred. On EFA it is always 4 and says nothing.",
    "ports/<port>/state",
)
PHYSICAL_STATE = _gauge(
    "port_physical_state",
    "1 sleep, 2 polling, 3 disabled, 4 training, 5 link up, 6 error recovery, 7 phy test.",
    "ports/<port>/phys_state",
)
LINK_UP = _gauge(
    "port_link_up",
    "1 if traffic can pass: the port is active. On EFA, whose state is always the same, its network interface tells; "
    "absent where it has none.",
    "ports/<port>/state, for EFA class/net/<netdev>/operstate",
)
STATE_CHANGES = _family(
    Kind.COUNTER,
    "port_state_changes_total",
    "Changes of the state that were seen, looking every second; both ways of a flap count.",
    "ports/<port>/state, for EFA class/net/<netdev>/operstate",
    PORT,
)
CARRIER_CHANGES = _family(
    Kind.COUNTER,
    "port_carrier_changes_total",
    "Changes of the carrier of the port's network interface, counted by the kernel, so none is missed.",
    "class/net/<netdev>/carrier_changes",
    PORT,
)
RATE = _gauge(
    "port_rate_bytes_per_second", "Speed of the link; 0 with nothing plugged in.", "ports/<port>/rate x 1e9 / 8"
)
LANES = _gauge("port_lanes", "Lanes of the link in use: fewer than the cable has is a fault.", "ports/<port>/rate")
PORT_INFO = _family(
    Kind.IDENTITY,
    "port_info",
    "What the port is: its link layer (InfiniBand, Ethernet), the speed's name, and its network interface.",
    "ports/<port>/link_layer, rate, gid_attrs/ndevs, device/net",
    (*PORT, "link_layer", "speed", "netdev"),
)
DEVICE_INFO = _family(
    Kind.IDENTITY,
    "device_info",
    "Which device this is. physical_function: for a virtual function the device that it is of.",
    "board_id, fw_ver, hca_type, node_guid, device/driver, device/physfn",
    (*DEVICE, "board_id", "firmware", "hca_type", "node_guid", "driver", "pci_address", "physical_function"),
)
NUMA_NODE = _gauge("device_numa_node", "NUMA node that the device is at.", "device/numa_node", DEVICE)
DEFAULT_ROUTE = _gauge(
    "port_default_route",
    "1 if the node's default route goes through the port: it serves management, too.",
    "net/route, net/ipv6_route of procfs",
)
NEAREST_GPU = _family(
    Kind.IDENTITY,
    "nearest_gpu_info",
    "The GPU nearest to the device on PCI, or each of several. pix: through one switch, pxb: through several, node: "
    "within a NUMA node, sys: farther. Virtual functions have their physical function's.",
    "paths of the two in sysfs",
    (*DEVICE, "uuid", "pci_address", "distance"),
)

DEVICES = _gauge("devices", "RDMA devices that are read; those excluded are not counted.", "class/infiniband", ())
GPUDIRECT = _gauge(
    "gpudirect",
    "1 if RDMA can reach the memory of GPUs by this means. nvidia_peermem: the module is loaded. dma_buf: kernel and "
    "driver are of a kind that can, which devices may still refuse.",
    "modules, sys/kernel/osrelease, driver/nvidia/version of procfs",
    ("means",),
)
