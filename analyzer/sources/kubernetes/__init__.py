"""Kubernetes objects, streams and logs, translated to actors and resources."""
