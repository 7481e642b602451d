"""Tests of the forms in which people hand over one and the same incident."""
