"""The benchmarks: that what they measure is there, and that a wrong answer fails."""
