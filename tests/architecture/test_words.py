"""What no file of ours says: where some machine keeps its files, and where packages come from."""

import re

from tests.architecture.source_tree import files, shown

# Put together from parts, so that this file does not say them either.
HOSTS = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("crates", "io"))]
FOLDERS = ["/" + name + "/" for name in ("root", "home", "work", "Users")]
FORBIDDEN = re.compile("|".join([*map(re.escape, HOSTS), *(rf"(?<![\w.:$)}}\]-]){folder}\w" for folder in FOLDERS)]))
TEXT = (".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".json", ".sh", ".scenario", ".story", ".history", "")


def test_a_machine_s_path_is_seen() -> None:
    assert FORBIDDEN.search("see /" + "home/someone/x")
    assert FORBIDDEN.search("files.python" + "hosted.org")
    assert not FORBIDDEN.search("the team/" + "work/load")


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = [
        f"{shown(path)}:{number} {match.group()}"
        for path in files(*TEXT)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := FORBIDDEN.search(line))
    ]
    assert found == []
