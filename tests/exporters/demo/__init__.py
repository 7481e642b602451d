"""A simulated node of eight GPUs whose values move: `make demo-exporter`."""
