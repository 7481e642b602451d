"""Who can still go on? The fixed point, and the classes of those who cannot. README.md has the idea and the proofs."""
