"""The shared language: actors, resources, requests, events, findings. Imports nothing of ours."""
