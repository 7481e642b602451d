"""Errors by who must act. Imports nothing; serves the rim only (the core raises nothing for strange data).

    KnotwatchError
    +-- UsageError          the command line asks for something that cannot be done: exit status 2
    +-- UnreadableError     nothing of what was handed over could be understood: exit status 2

What is wrong with one file or one entry is no exception: it is a `Complaint`, a value, so that its neighbours live.
"""


class KnotwatchError(Exception):
    """Says in one sentence what happened, and in a second what to do. Its text is for the person at the terminal."""


class UsageError(KnotwatchError):
    """The command line names something that is not there or cannot be meant."""


class UnreadableError(KnotwatchError):
    """There was input, and not one file of it could be understood."""
