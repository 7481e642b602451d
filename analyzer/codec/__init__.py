"""The wire format, and the only place that knows it: times, events as JSON lines, the report and its schema."""
