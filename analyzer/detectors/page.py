"""The rules page, printed from what the detectors say of themselves."""

from analyzer.detectors import DETECTORS, Detector

HEADINGS = ("Detects", "Why it matters", "Assumes", "Not reported", "Remedy", "Reference")


def rules_page() -> str:
    """All rules as Markdown: `docs/rules.md` and what `knotwatch rules` prints. Ends with one newline."""
    head = (
        "# Rules\n\nWhat knotwatch detects. Each section is printed from its detector's docstring"
        " (`knotwatch rules`); do not edit this page by hand.\n"
    )
    return head + "".join(_section(detector) for detector in DETECTORS)


def _section(detector: Detector) -> str:
    rule = detector.rule
    lines = [f"\n## {rule.id}\n", f"\n**{rule.summary}** Verdict `{rule.verdict}`, severity {rule.severity}.\n"]
    first, *paragraphs = detector.page.strip().split("\n\n")
    lines.append(f"\n{_unwrapped(first)}\n")
    for paragraph in paragraphs:
        heading, colon, text = _unwrapped(paragraph).partition(": ")
        lines.append(
            f"\n- **{heading}.** {text}\n" if colon and heading in HEADINGS else f"\n{_unwrapped(paragraph)}\n"
        )
    return "".join(lines)


def _unwrapped(paragraph: str) -> str:
    return " ".join(line.strip() for line in paragraph.splitlines())
