"""A driver library of our making, which the real pynvml loads: see fake.py for how to script it."""
