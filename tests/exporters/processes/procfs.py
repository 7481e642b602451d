"""A /proc of our own making."""

from pathlib import Path

HOST = "0::/user.slice/user-1000.slice/session-3.scope\n"


class Procfs:
    """Processes as folders of files and links."""

    def __init__(self, root: Path, *, host: bool = True) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        if host:
            self.process(2, command="kthreadd", parent=0, cgroup="0::/\n")

    def process(
        self,
        pid: int,
        *,
        cgroup: str = HOST,
        command: str = "python",
        state: str = "S",
        parent: int = 1,
        threads: int = 1,
        began: int = 100,
        opens: tuple[str, ...] = (),
        user: int = 1000,
    ) -> Path:
        """One process, new or in place of the one that had its number."""
        folder = self.root / str(pid)
        (folder / "fd").mkdir(parents=True, exist_ok=True)
        (folder / "stat").write_text(stat(pid, command, state, parent, threads, began))
        (folder / "cgroup").write_text(cgroup)
        (folder / "status").write_text(f"Name:\t{command}\nUid:\t{user}\t{user}\t{user}\t{user}\n")
        for link in (folder / "fd").iterdir():
            link.unlink()
        for number, target in enumerate(opens):
            (folder / "fd" / str(number)).symlink_to(target)
        return folder

    def thread(self, pid: int, tid: int, *, state: str = "D", sleeps: int = 10) -> None:
        """One thread of a process."""
        folder = self.root / str(pid) / "task" / str(tid)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stat").write_text(stat(tid, "python", state, 1, 1, 100))
        (folder / "status").write_text(f"voluntary_ctxt_switches:\t{sleeps}\nnonvoluntary_ctxt_switches:\t1\n")

    def end(self, pid: int) -> None:
        """The process is no more."""
        folder = self.root / str(pid)
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        folder.rmdir()


def stat(pid: int, command: str, state: str, parent: int, threads: int, began: int) -> str:
    """A line of /proc/PID/stat: 52 fields, of which the 20th is the threads and the 22nd the beginning."""
    return f"{pid} ({command}) {state} {parent} " + "0 " * 15 + f"{threads} 0 {began} " + "0 " * 30
