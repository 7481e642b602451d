"""Which documents are Slurm's, judged by their first bytes: names of files tell nothing."""

import re

from analyzer.sources.slurm.log_texts import SRUN, SUBMITTED, log_line
from analyzer.sources.slurm.texts import NOTHING, begins

_PEEK_BYTES = 1 << 16
_HEAD_LINES = 2000
_LISTS = re.compile(rb'"(jobs|nodes|sinfo|partitions|reservations|licenses|qos|QOS|associations|steps)"\s*:\s*\[')
_SLURM = re.compile(rb'"(?:Slurm|slurm|plugin)"\s*:\s*\{|"openapi|"job_state"\s*:|"state_reason"\s*:|"SLURM_')
_LOG_WORDS = re.compile(r"slurm|sched|JobId=|Job|job|select/|error:")

JSON, TEXT = "slurm json", "slurm text"


def form_of(content: bytes | memoryview) -> str | None:
    """JSON or TEXT if the document is one of Slurm's, else None. Looks at the first 64 KiB."""
    head = bytes(content[:_PEEK_BYTES])
    bare = head.lstrip()
    if bare.startswith(b"{"):
        if b'"apiVersion"' in head:
            return None
        return JSON if _LISTS.search(head) and (_SLURM.search(head) or _SLURM.search(bytes(content[-4096:]))) else None
    text = head.decode("utf-8", "replace")
    for line in text.split("\n", _HEAD_LINES)[:_HEAD_LINES]:
        line = line.rstrip("\r")
        logged = log_line(line) if line[:1] in ("[", *"0123456789JFMASOND") else None
        if logged is not None and _LOG_WORDS.search(logged.text):
            return TEXT
        if begins(line) is not None or SRUN.match(line) or SUBMITTED.match(line) or NOTHING.match(line):
            return TEXT
    return None
