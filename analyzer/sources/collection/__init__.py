"""Manifests of collections: known for what they are, and without facts of their own."""
