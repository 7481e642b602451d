"""Job and node states, long and short, and the many ways to name an absent value."""

import re

_ABSENT = frozenset(("", "(null)", "null", "none", "n/a", "unknown", "none assigned", "not_set", "*"))

KEPT = frozenset(("OFF", "DISABLED", "GANG", ""))
"""Preempt modes in which a job keeps what it has."""

PENDING = frozenset(("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"))
HELD_STATES = frozenset(("REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"))
ENDED = frozenset(
    (
        "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",
        "OUT_OF_MEMORY", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL", "EXPIRED", "OVER",
    )
)  # fmt: skip
SUCCEEDED = "COMPLETED"
OVER = "OVER"
"""It ended, and how is not known. Our word, not one of Slurm's."""

COMPLETING = "COMPLETING"

_SHORT = {
    "PD": "PENDING", "R": "RUNNING", "CG": "COMPLETING", "CD": "COMPLETED", "F": "FAILED", "CA": "CANCELLED",
    "TO": "TIMEOUT", "NF": "NODE_FAIL", "PR": "PREEMPTED", "BF": "BOOT_FAIL", "DL": "DEADLINE", "OOM": "OUT_OF_MEMORY",
    "S": "SUSPENDED", "CF": "CONFIGURING", "RD": "RESV_DEL_HOLD", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED", "RS": "RESIZING", "RV": "REVOKED", "SI": "SIGNALING", "SE": "SPECIAL_EXIT", "SO": "STAGE_OUT",
    "ST": "STOPPED",
}  # fmt: skip
_LONG = ENDED | PENDING | frozenset(_SHORT.values()) | {"RUNNING"}

_NODE_SHORT = {
    "ALLOC": "ALLOCATED", "MIX": "MIXED", "COMP": "COMPLETING", "DRNG": "DRAIN", "DRAINING": "DRAIN",
    "DRAINED": "DRAIN", "UNK": "UNKNOWN", "RESV": "RESERVED", "PLND": "PLANNED", "NO_RESPOND": "NOT_RESPONDING",
    "BOOT": "REBOOT_ISSUED", "FAILG": "FAIL", "FAILING": "FAIL", "FUTR": "FUTURE", "NPC": "PERFCTRS",
}  # fmt: skip
_NODE_MARKS = {
    "*": "NOT_RESPONDING", "~": "POWERED_DOWN", "#": "POWERING_UP", "!": "POWERING_DOWN", "%": "POWERING_DOWN",
    "$": "MAINTENANCE", "@": "REBOOT_REQUESTED", "^": "REBOOT_ISSUED", "-": "PLANNED",
}  # fmt: skip
_NODE_WORD = re.compile(r"([A-Z_]+)([*~#!%$@^-]*)")

UNAVAILABLE = frozenset(("DOWN", "DRAIN", "FAIL", "FUTURE", "ERROR"))
"""A node in such a state takes no new job until a person does something."""

PASSING = frozenset(("NOT_RESPONDING", "REBOOT_REQUESTED", "REBOOT_ISSUED", "REBOOT", "MAINTENANCE", "MAINT",
                     "POWERING_UP", "POWER_UP", "CONFIGURING", "BLOCKED", "UNKNOWN"))  # fmt: skip
"""A node in such a state may be back by itself."""

MADE_ANEW = frozenset(("POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN", "CLOUD"))
"""A node in such a state is started, or made, when it is wanted: Slurm tries again even after a failure."""


def given(text: str | None) -> str | None:
    """The value, or None for the many ways to write that there is none."""
    return None if text is None or text.strip().lower() in _ABSENT else text.strip()


def job_state(text: str) -> str | None:
    """`R`, `RUNNING`, `CANCELLED by 1000`, `RUNNING,COMPLETING`: the long word; None if it is no state."""
    words = [word for word in re.split(r"[\s,+]+", text.strip().upper()) if word]
    known = [_SHORT.get(word, word) for word in words]
    known = [word for word in known if word in _LONG]
    if not known:
        return None
    return COMPLETING if COMPLETING in known else known[0]


def node_states(text: str) -> frozenset[str]:
    """`IDLE+DRAIN`, `mix-`, `drained*`, `down$`: words in capitals."""
    states: set[str] = set()
    for part in text.strip().upper().split("+"):
        found = _NODE_WORD.fullmatch(part.strip())
        if found is not None:
            states.add(_NODE_SHORT.get(found[1], found[1]))
            states.update(_NODE_MARKS[mark] for mark in found[2])
    return frozenset(states)
