"""The node itself: files of proc and sysfs, whole and broken, and Debian's node_exporter on the same ones."""
