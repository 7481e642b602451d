"""A folder as one tar.gz: readable by its owner alone, written whole or not at all."""

import gzip
import os
import tarfile
from pathlib import Path

from analyzer.codec.collection import Manifest, encode_manifest

MANIFEST = "manifest.json"


def pack(folder: Path, manifest: Manifest, target: Path, made_s: int) -> int:
    """Write the folder and its manifest as `target`, below a folder of the target's name; how many bytes it has.

    Names, owners and times of the machine stay out: every entry is root's, made at `made_s`. Raises OSError.
    """
    (folder / MANIFEST).write_bytes(encode_manifest(manifest))
    top = target.name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar") or target.name
    unfinished = target.with_name(f".{target.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    # A file that somebody put there meanwhile, or a link, is refused: it would not be ours alone.
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with (
            os.fdopen(descriptor, "wb") as sink,
            gzip.GzipFile("", "wb", fileobj=sink, mtime=made_s) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and not path.name.startswith("."):
                    entry = tarfile.TarInfo(f"{top}/{path.relative_to(folder).as_posix()}")
                    entry.size, entry.mtime, entry.mode = path.stat().st_size, made_s, 0o644
                    with path.open("rb") as content:
                        archive.addfile(entry, content)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target.stat().st_size
