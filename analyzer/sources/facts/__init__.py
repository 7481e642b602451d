"""`knotwatch.facts/v1`: holds and waits stated outright, by any scheduler or by hand."""
