"""`knotwatch rules`: what is detected, in the detectors' own words."""

import click

from analyzer.cli.described import Described
from analyzer.cli.options import color
from analyzer.cli.outcome import write
from analyzer.cli.terminal import text_format


@click.command(
    cls=Described,
    short_help="Say what is detected, and what is not.",
    examples=(
        "knotwatch rules",
        "knotwatch rules deadlock",
    ),
)
@click.argument("wanted", metavar="[RULE]...", nargs=-1)
@color
def rules(wanted: tuple[str, ...], color: str) -> None:
    """What is detected: what each rule means, assumes and does not report.

    Into a pipe this is Markdown, the page docs/rules.md.
    """
    from analyzer.detectors.page import rules_page

    page = rules_page()
    if wanted:
        page = "".join(_section(page, rule) for rule in wanted)
    form = text_format(color)
    if form.colored:
        from analyzer.sinks.console import markdown_text

        page = markdown_text(page, form)
    write(page)


def _section(page: str, rule: str) -> str:
    """One rule's part of the page."""
    head, *sections = page.split("\n## ")
    del head
    for section in sections:
        if section.partition("\n")[0] == rule:
            return f"## {section.rstrip()}\n"
    known = ", ".join(section.partition("\n")[0] for section in sections)
    raise click.BadParameter(f"{rule!r} is no rule; known are {known}.", param_hint="RULE")
