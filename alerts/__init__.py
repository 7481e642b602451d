"""WARN: Prometheus rules."""
