"""The whole exporter on a node whose truth is known, while anything of that node fails at any time."""
