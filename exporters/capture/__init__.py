"""One node in one file: what its driver library answered and its files said, masked, to be read again elsewhere."""
