"""Idle, busy and stalled GPUs: looks of our making, in a time of their own."""
