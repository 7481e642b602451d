"""What goes over a GPU's NVLinks, and how well. Sums over all links; series per link only where asked for."""

from exporters.catalog.family import Family, Group, Kind
from exporters.catalog.gpu import GPU


def _family(kind: Kind, name: str, text: str, source: str, *labels: str) -> Family:
    return Family(
        name=f"knotwatch_gpu_{name}", kind=kind, group=Group.NVLINK, text=text, source=source, labels=(*GPU, *labels)
    )


TRANSMIT = _family(
    Kind.COUNTER,
    "nvlink_transmit_bytes_total",
    "Bytes sent over all links, without overhead.",
    "field 138 x 1024, else 202",
)
RECEIVE = _family(
    Kind.COUNTER,
    "nvlink_receive_bytes_total",
    "Bytes received over all links, without overhead.",
    "field 139 x 1024, else 204",
)
LINK_TRANSMIT = _family(
    Kind.COUNTER, "nvlink_link_transmit_bytes_total", "Bytes sent over one link.", "field 138 x 1024, else 202", "link"
)
LINK_RECEIVE = _family(
    Kind.COUNTER,
    "nvlink_link_receive_bytes_total",
    "Bytes received over one link.",
    "field 139 x 1024, else 204",
    "link",
)
LINKS = _family(Kind.GAUGE, "nvlink_links", "Links that the GPU has.", "field 91")
LINKS_UP = _family(Kind.GAUGE, "nvlink_links_up", "Links that are active.", "field 165 of each link")
LINK_UP = _family(Kind.GAUGE, "nvlink_link_up", "Whether one link is active (1) or not (0).", "field 165", "link")
SPEED = _family(
    Kind.GAUGE,
    "nvlink_speed_bytes_per_second",
    "What all active links together can move in one direction.",
    "field 164 (MB/s) x 1e6, sum over active links",
)
ERRORS = _family(
    Kind.COUNTER,
    "nvlink_errors_total",
    "Errors over all links: `crc`, `replay`, `recovery`, and on newer cards `recovery_failed`, `symbol`, `effective`, "
    "`receive`, `buffer_overrun`, `transmit_discard`, `integrity`.",
    "fields 161-163, else 207, 208, 211-215, 219, 221; sum over links",
    "kind",
)
LINK_ERRORS = _family(
    Kind.COUNTER, "nvlink_link_errors_total", "As nvlink_errors_total, of one link.", "as there", "link", "kind"
)
