"""Saved output of Slurm's commands and its controller's log, as one incident."""
