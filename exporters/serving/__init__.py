"""The ways out: HTTP for Prometheus, a file for node_exporter. Nothing here reads a device."""
