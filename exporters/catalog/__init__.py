"""Every metric family of the exporters, declared once: one file for each subject, `FAMILIES` has them all."""

from exporters.catalog.family import Family

FAMILIES: tuple[Family, ...] = ()
"""All families, sorted by group and name."""
