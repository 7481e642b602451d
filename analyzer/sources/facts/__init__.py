"""Facts: holds and waits in our own words, as YAML, JSON or JSON lines, so that any scheduler can feed us."""
