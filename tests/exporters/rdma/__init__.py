"""RDMA devices: trees of files of our making, whole and broken, and published ones beside Debian's node_exporter."""
