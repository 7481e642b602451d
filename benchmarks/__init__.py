"""What the performance table asks, one command each. README.md has the figures and how they are taken."""
