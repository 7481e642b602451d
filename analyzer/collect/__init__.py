"""Collect what the analyzer reads into one archive: plans of commands, their running, and what is left out."""
