"""ACT: one page per alert."""
