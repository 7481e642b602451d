"""`python -m benchmarks.peak OUTPUT COMMAND...`: runs the command and says what it took at most, as one line of JSON.

A process of its own, and a small one: what Linux reports as the largest resident set of a child also covers the moment
before the child became another program, when it still was a copy of whoever started it.
"""

import json
import os
import sys

BYTES_PER_KIB = 1024


def main(output: str, command: list[str]) -> None:
    """The command's standard output goes to the file."""
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, file, 1)])
    _, status, usage = os.wait4(child, 0)
    print(
        json.dumps(
            {
                "status": os.waitstatus_to_exitcode(status),
                "peak_bytes": usage.ru_maxrss * BYTES_PER_KIB,
                "processor_s": usage.ru_utime + usage.ru_stime,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
