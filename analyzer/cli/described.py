"""Commands whose help ends with examples and the meaning of the exit status."""

from typing import Any

import click


class Described(click.Command):
    """A command with `examples`, lines that help shows as they are, above click's own epilog."""

    def __init__(self, *arguments: Any, examples: tuple[str, ...] = (), **extra: Any) -> None:
        super().__init__(*arguments, **extra)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  the signature is click's
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")
        if self.epilog:
            formatter.write_paragraph()
            formatter.write_text(self.epilog)
