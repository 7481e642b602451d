"""How each subject is, and what the exporter's work has cost, as samples. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from exporters.catalog import itself as catalog
from exporters.catalog.family import Family, Sample
from exporters.subject import Moment, Reason
from exporters.working.accounts import Accounts
from exporters.working.board import Entry


def own_samples(
    entries: Sequence[Entry], accounts: Accounts, page_s: float, version: str, now: Moment
) -> Iterator[Sample]:
    """All of it, now. `page_s`: how long the page before this one took to make. O(subjects)."""
    for entry in entries:
        yield from standing(entry, now)
    yield from _by_kind(entries, now)
    yield Sample(catalog.BUILD_INFO, (version,), 1)
    yield from _counted(catalog.COLLECT_SKIPPED, sorted(accounts.skipped.items()))
    yield from _counted(catalog.BROKEN, sorted(accounts.broken.items()))
    yield from _counted(catalog.SERIES_DROPPED, sorted(accounts.left_out.items()))
    for error in sorted(accounts.errors):
        yield Sample(catalog.READ_ERRORS, (error.call, error.code), accounts.errors[error])
    for family, value in (
        (catalog.DUPLICATES, accounts.duplicates),
        (catalog.REJECTED, accounts.rejected),
        (catalog.SUBJECTS_REFUSED, accounts.subjects_refused),
        (catalog.PAGE_TIMESTAMP, now.wall_s),
        (catalog.PAGE_DURATION, page_s),
    ):
        yield Sample(family, (), value)


def standing(entry: Entry, now: Moment) -> Iterator[Sample]:
    """Whether the subject is up, why not, when it last was, and how long it has been stuck."""
    key, reading = entry.key, entry.reading
    special = catalog.STANDINGS.get(key.kind) if key.name else None
    families, labels = (special, (key.name,)) if special else (catalog.OTHER_STANDING, (key.kind, key.name))
    yield Sample(families.up, labels, reading.up)
    if not reading.up:
        reason = reading.reason if reading.reason is not Reason.NONE else Reason.ERRORS
        yield Sample(families.down_reason, (*labels, reason.value), 1)
    if entry.up_at is not None:
        yield Sample(families.last_success, labels, entry.up_at.wall_s)
    if entry.stuck_since is not None:
        yield Sample(families.stuck, labels, now.mono_s - entry.stuck_since.mono_s)


def _by_kind(entries: Iterable[Entry], now: Moment) -> Iterator[Sample]:
    kinds: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        kinds[entry.key.kind].append(entry)
    for kind, those in sorted(kinds.items()):
        spans_s = [now.mono_s - each.stuck_since.mono_s if each.stuck_since else each.duration_s for each in those]
        yield Sample(catalog.SUBJECTS, (kind,), len(those))
        yield Sample(catalog.COLLECT_DURATION, (kind,), max(spans_s))
        yield Sample(catalog.COLLECTOR_SUCCESS, (kind,), all(each.reading.up and not each.failures for each in those))


def _counted(family: Family, counts: Iterable[tuple[str, int]]) -> Iterator[Sample]:
    for label, count in counts:
        yield Sample(family, (label,), count)
