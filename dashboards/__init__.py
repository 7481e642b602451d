"""SHOW: Grafana dashboards."""
