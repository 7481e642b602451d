"""Where events come from: files of every kind that people hand over, recognised by content."""
