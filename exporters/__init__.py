"""OBSERVE: node exporters."""
