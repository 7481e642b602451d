"""Where findings go: a terminal, JSON, a drawing of the graph."""
