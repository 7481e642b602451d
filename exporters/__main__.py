"""`python -m exporters` is `knotwatch-exporter`."""

from exporters.cli import main

main(prog_name="knotwatch-exporter")
