"""Processes: whose they are by cgroup, and memory that none of them holds."""
