"""NVIDIA's driver library, asked so that no answer of it can hurt: values or refusals, never an exception."""
