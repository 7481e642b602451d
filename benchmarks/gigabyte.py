"""Row 7: a gigabyte of pods in one file, against bare decoding of the same bytes; and the most memory that it takes.

The yardstick is that of `replay`: the bytes are in memory, and one msgspec call makes all structs of them, so it needs
more than a gigabyte and a half. Beside it stands the same decoding in pieces, each dropped before the next: that
is what a reader with bounded memory can come down to, and it is quicker, since a piece stays in the processor's cache.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.dump import Form
from benchmarks.dumps import dump_of
from benchmarks.memory import check, replayed
from benchmarks.ratio import Prepared, compare
from benchmarks.replay import LISTS, decoding, prove, replaying
from benchmarks.rows import Figure, Row, Scale, figure, peak_figure, pods_text

BAR = 2.0
RUNS_MAX = 3
POD_BYTES = {Form.PRETTY: 7_700, Form.COMPACT: 2_900}
PIECE_BYTES = 256 << 10
BETWEEN = {Form.PRETTY: b"\n        },\n        {\n", Form.COMPACT: b'},{"apiVersion":"v1","kind":"Pod"'}


def decoding_inpieces(folder: Path, form: Form) -> Prepared:
    """Decodes pods.json in pieces of whole pods, in one pass, and keeps none; the other files as a whole."""
    contents = {name: (folder / name).read_bytes() for name in LISTS}
    decoders = {name: msgspec.json.Decoder(of) for name, of in LISTS.items()}

    def work() -> int:
        for name in LISTS:
            if name != "pods.json":
                decoders[name].decode(contents[name])
        count = 0
        for piece in pieces(contents["pods.json"], form):
            decoders["pods.json"].decode(piece)
            count += 1
        return count

    return lambda: work


def pieces(content: bytes, form: Form) -> Iterator[bytes]:
    """Lists of whole pods, about 256 KB each, which together are the content."""
    between = BETWEEN[form]
    brace = between.index(b"{")
    start = content.index(b"[") + 1
    while start < len(content):
        cut = content.find(between, start + PIECE_BYTES)
        end = len(content) if cut < 0 else cut + between.index(b"}") + 1
        yield b'{"items":[' + content[start:end] + (b"" if cut < 0 else b"]}")
        start = len(content) if cut < 0 else cut + brace


def measure(scale: Scale) -> Sequence[Figure]:
    """Both layouts; as many pods as make a file of that size."""
    figures: list[Figure] = []
    for form, words in ((Form.PRETTY, "as kubectl prints"), (Form.COMPACT, "compact")):
        plan, folder = dump_of(scale, scale.megabytes * 1_000_000 // POD_BYTES[form] // 1_000 * 1_000, form)
        size = (folder / "pods.json").stat().st_size
        case = f"{pods_text(plan.pods)}, {words} ({size / 1e6:,.0f} MB)"
        runs = min(scale.runs, RUNS_MAX)
        prove(plan, folder)
        figures.append(figure(case, compare(replaying(folder), decoding(folder), runs), BAR))
        pieces = compare(replaying(folder), decoding_inpieces(folder, form), runs)
        figures.append(figure(f"{case}: against decoding in pieces", pieces, None))
        report, peak = replayed(folder)
        check(plan, report)
        figures.append(peak_figure(f"{case}: peak", peak.peak_bytes, peak.processor_s))
    return figures


ROW = Row(
    command="gigabyte",
    what="replay of a gigabyte of pods (bytes to findings)",
    yardstick="bare msgspec decode of the same bytes into the same structs",
    bar="2x",
    measure=measure,
)
