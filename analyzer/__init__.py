"""DECIDE: ordered events in, findings out. See README.md for the idea, ARCHITECTURE.md for the map."""
