"""Whole recordings against the truth written beside them, and the language of that truth."""
