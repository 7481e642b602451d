"""The command `knotwatch`: parse, build, call, exit status. Everything heavy is imported by the command that needs it.

Exit status: 0 nothing found, 1 findings (see `--fail-on`), 2 usage or unreadable input, with one sentence on stderr.
"""

import click

from analyzer.cli.collect import collect
from analyzer.cli.graph import graph
from analyzer.cli.outcome import Commands
from analyzer.cli.replay import replay
from analyzer.cli.rules import rules
from analyzer.cli.whatif import whatif
from analyzer.cli.why import why


@click.group(
    cls=Commands,
    examples=(
        "knotwatch collect -o incident.tar.gz && knotwatch replay incident.tar.gz",
        "knotwatch why team-red/job-a dump/",
        "knotwatch graph dump/ --format dot | dot -Tsvg > knot.svg",
    ),
    epilog="Exit status: 0 nothing found, 1 findings, 2 usage or unreadable input.",
    context_settings={"help_option_names": ["-h", "--help"], "terminal_width": 80},
)
@click.version_option(package_name="knotwatch", message="%(prog)s %(version)s")
def main() -> None:
    """Which jobs can never go on, who holds what they need, and what to stop so that the rest runs.

    PATH is a file, a folder, an archive or - for standard input: what kubectl or Slurm's commands
    print, logs, or facts (knotwatch.facts/v1). What a file is, is found out from its content; what is
    not understood is listed. Nothing is ever changed in a cluster.
    """


for command in (collect, replay, why, whatif, graph, rules):
    main.add_command(command)
