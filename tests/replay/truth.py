"""The truth below the divider of a story, and what a report lacks of it.

One statement a line; names are shell globs (`*/team-red/old*`); `#` begins a comment:

    quiet                                     no open finding at all
    DEADLOCK {A, B}                           an open finding whose members, root and blocked are exactly these
    DEADLOCK|UNPLACEABLE {A, B}               either verdict is right
    DEADLOCK soft suspected {A, B, C} members {A, B} root A may {D}
                                              more of it: strength, certainty, members alone, the root,
                                              and who may stand beside them without being required
    may LIVELOCK                              a further finding that is right as well
    resolved DEADLOCK {A, B}                  a finding that was open once and is not any more
    waits A for B, C                          A stands among the waiting, and B or C is among its first to finish
    never names A                             A stands in no finding
    evict A then B                            a finding offers to evict A, after which B runs
    remark disagreement A                     a remark of this kind about this subject
    says no node has a label pool             the summary of a finding has these words
    idle 32                                   the open findings say that so many GPUs idle with them, all together

Every finding of the report must be claimed by one line, and every line must find its own.
"""

import re
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

DIVIDER = "----"
_VERDICT = re.compile(r"(resolved )?([A-Z_|]+)((?: (?:soft|hard|proven|suspected))*) \{(.*?)\}(.*)")
_EXTRA = re.compile(r" (members|may) \{(.*?)\}| (root) (\S+)")
Report = dict[str, Any]


class Claim(Struct, frozen=True, kw_only=True):
    """One finding that must be there. `marks` are strength and certainty, where the story cares."""

    verdicts: tuple[str, ...]
    state: str
    marks: tuple[str, ...]
    stuck: tuple[str, ...]
    members: tuple[str, ...] | None = None
    may: tuple[str, ...] = ()
    root: str | None = None


class Truth(Struct, frozen=True):
    """Everything a story says about its report."""

    claims: tuple[Claim, ...]
    further: tuple[str, ...]
    waits: tuple[tuple[str, tuple[str, ...]], ...]
    never: tuple[str, ...]
    evictions: tuple[tuple[str, str], ...]
    remarks: tuple[tuple[str, str], ...]
    idle_gpus: int | None = None
    said: tuple[str, ...] = ()


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _claim(line: str) -> Claim | None:
    match = _VERDICT.fullmatch(line)
    if match is None:
        return None
    resolved, verdicts, marks, stuck, rest = match.groups()
    extra: dict[str, str] = {}
    for found in _EXTRA.finditer(rest):
        extra[found[1] or found[3]] = found[2] if found[1] else found[4]
    if _EXTRA.sub("", rest).strip():
        raise ValueError(f"not understood after the names: {rest!r}")
    return Claim(
        verdicts=tuple(verdicts.split("|")),
        state="resolved" if resolved else "open",
        marks=tuple(marks.split()),
        stuck=_names(stuck),
        members=_names(extra["members"]) if "members" in extra else None,
        may=_names(extra.get("may", "")),
        root=extra.get("root"),
    )


def parse_truth(text: str) -> Truth:
    """Read the statements; a line that is none of them raises ValueError, so that a typing error proves nothing."""
    claims, further, waits, never, evictions, remarks, said = [], [], [], [], [], [], []
    quiet, idle_gpus = False, None
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        words = line.split()
        if not line:
            continue
        if line == "quiet":
            quiet = True
        elif words[0] == "waits":
            who, _, whom = line.removeprefix("waits ").partition(" for ")
            waits.append((who.strip(), _names(whom)))
        elif words[:2] == ["never", "names"] and len(words) == 3:
            never.append(words[2])
        elif words[0] == "may" and len(words) == 2:
            further.append(words[1])
        elif words[0] == "evict" and words[2] == "then" and len(words) == 4:
            evictions.append((words[1], words[3]))
        elif words[0] == "idle" and len(words) == 2:
            idle_gpus = int(words[1])
        elif words[0] == "says" and len(words) > 1:
            said.append(line.removeprefix("says ").strip())
        elif words[0] == "remark" and len(words) == 3:
            remarks.append((words[1], words[2]))
        elif (claim := _claim(line)) is not None:
            claims.append(claim)
        else:
            raise ValueError(f"not a statement of truth: {line!r}")
    if quiet == any(claim.state == "open" for claim in claims):
        raise ValueError("say either `quiet` or which findings are open")
    remarked, told = tuple(remarks), tuple(said)
    return Truth(tuple(claims), tuple(further), tuple(waits), tuple(never), tuple(evictions), remarked, idle_gpus, told)


def stuck_of(finding: Report) -> set[str]:
    """All that a finding calls stuck: members, blocked behind, root."""
    root = finding.get("root")
    return {*finding["members"], *finding["blocked_behind"], *([root] if root else [])}


def _differences(actors: set[str], patterns: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[str]:
    stray = [a for a in sorted(actors) if not any(fnmatchcase(a, p) for p in (*patterns, *optional))]
    missing = [p for p in patterns if not any(fnmatchcase(a, p) for a in actors)]
    return [f"not expected: {a}" for a in stray] + [f"missing: {p}" for p in missing]


def _against(claim: Claim, finding: Report) -> list[str]:
    problems = _differences(stuck_of(finding), claim.stuck, claim.may)
    if claim.members is not None:
        problems += [f"members: {p}" for p in _differences(set(finding["members"]), claim.members)]
    if claim.root is not None and not fnmatchcase(finding.get("root") or "", claim.root):
        problems.append(f"root is {finding.get('root')}, not {claim.root}")
    for mark in claim.marks:
        said = finding["strength" if mark in ("soft", "hard") else "certainty"]
        if said != mark:
            problems.append(f"{said}, not {mark}")
    return problems


def _claimed(truth: Truth, report: Report) -> list[str]:
    problems: list[str] = []
    left = list(report["findings"])
    for claim in truth.claims:
        fitting = [f for f in left if f["verdict"] in claim.verdicts and f["state"] == claim.state]
        if not fitting:
            there = sorted({f"{f['state']} {f['verdict']} {sorted(stuck_of(f))}" for f in left})
            problems.append(f"no {claim.state} {'|'.join(claim.verdicts)} {claim.stuck}; there is {there or 'nothing'}")
            continue
        best = min(fitting, key=lambda f: len(_against(claim, f)))
        left.remove(best)
        problems += _against(claim, best)
    problems += [
        f"false alarm: {f['verdict']} {sorted(stuck_of(f))}"
        for f in left
        if f["state"] == "open" and f["verdict"] not in truth.further
    ]
    return problems


def compare(truth: Truth, report: Report) -> list[str]:
    """What the report lacks, or has too much, in words; an empty list if it is the truth."""
    problems = _claimed(truth, report)
    opened = [f for f in report["findings"] if f["state"] == "open"]
    named = {actor for f in opened for actor in stuck_of(f)}
    problems += [f"names {a}" for pattern in truth.never for a in sorted(named) if fnmatchcase(a, pattern)]
    for who, whom in truth.waits:
        rows = [row for row in report["waiting"] if fnmatchcase(row["actor"], who)]
        firsts = [first for row in rows for first in row["first_to_finish"]]
        if not rows:
            problems.append(f"{who} is not among the waiting: {[row['actor'] for row in report['waiting']]}")
        elif whom and not any(fnmatchcase(first, pattern) for first in firsts for pattern in whom):
            problems.append(f"{who} waits for {firsts}, not for {whom}")
    told = [" ".join(f["summary"].split()) for f in report["findings"]]
    problems += [f"none says {text!r}; there is {told}" for text in truth.said if not any(text in one for one in told)]
    offers = [(a["actor"], run) for f in opened for a in f["actions"] for run in a["then_runs"]]
    for victim, runs in truth.evictions:
        if not any(fnmatchcase(v, victim) and fnmatchcase(r, runs) for v, r in offers):
            problems.append(f"no offer to evict {victim} so that {runs} runs: {offers}")
    idle = sum(finding["idle_gpus"] for finding in opened)
    if truth.idle_gpus not in (None, idle):
        problems.append(f"{idle} GPUs idle, not {truth.idle_gpus}")
    for kind, subject in truth.remarks:
        if not any(r["kind"] == kind and fnmatchcase(r["subject"], subject) for r in report["remarks"]):
            problems.append(
                f"no remark {kind} about {subject}: {[(r['kind'], r['subject']) for r in report['remarks']]}"
            )
    return problems


def parts_of(text: str) -> tuple[str, Truth]:
    """The two halves of a story: what is handed over, and what must come out."""
    given, divider, expected = text.partition(f"\n{DIVIDER}\n")
    if not divider:
        raise ValueError(f"a story needs a line {DIVIDER!r} between what is given and what must come out")
    return given + "\n", parse_truth(expected)
