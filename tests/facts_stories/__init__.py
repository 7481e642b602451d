"""Small stories in knotwatch.facts/v1, each with its truth below the divider (`tests/replay/truth.py`)."""
