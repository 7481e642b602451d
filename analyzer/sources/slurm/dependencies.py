"""Dependencies of jobs: `afterok:5304(unfulfilled),singleton(unfulfilled)`, with `?` instead of commas for OR.

| kind | the job goes on when |
|---|---|
| after | the other has begun |
| afterok, aftercorr | it has ended well; never if it ended otherwise |
| afternotok | it has ended badly; never if it ended well |
| afterany, afterburstbuffer | it has ended |
| singleton | all jobs of that name and user that are older, or run, have ended |

Slurm takes fulfilled ones out of the text, and writes (failed) behind those that can never be.
"""

import re

from msgspec import Struct

_TARGET = re.compile(r"(\d{1,10})(?:_(\d{1,9}|\*|\[[^\]]*\]))?(?:\+\d+)?(?:\(([a-zA-Z_]+)\))?")
SINGLETON = "singleton"


class Dependency(Struct, frozen=True):
    """One condition. `target` is the id as written, "" for singleton; `task` is that of an array, "*" for all."""

    kind: str
    target: str
    task: str
    state: str


class Dependencies(Struct, frozen=True):
    """All conditions of a job, and whether one of them is enough."""

    conditions: tuple[Dependency, ...]
    either: bool


def parse(text: str) -> Dependencies:
    """The conditions of `Dependency=`; what is not understood is left out, which is the more silent."""
    found: list[Dependency] = []
    kind = ""
    for part in re.split(r"[,?]", text):
        head, _, rest = part.strip().partition(":")
        if head.startswith(SINGLETON):
            found.append(Dependency(SINGLETON, "", "", _state(head)))
            continue
        if rest:
            kind = head
        for one in (rest or head).split(":"):
            target = _TARGET.match(one.strip())
            if target is not None and kind:
                found.append(Dependency(kind, target[1], target[2] or "", (target[3] or "").lower()))
    return Dependencies(tuple(found), "?" in text)


def _state(text: str) -> str:
    found = re.search(r"\(([a-z_]+)\)", text)
    return found[1] if found else ""
