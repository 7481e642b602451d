"""`python -m analyzer` is `knotwatch`."""

from analyzer.cli import main

main(prog_name="knotwatch")
