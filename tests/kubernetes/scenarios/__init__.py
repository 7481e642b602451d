"""Clusters told in a few lines each, made into files as kubectl prints them, and compared with their truth."""
