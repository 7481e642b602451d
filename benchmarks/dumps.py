"""Dumps on disk, made once for each plan and kept for the rows that read them."""

from pathlib import Path

from benchmarks.dump import Form, write_dump
from benchmarks.plan import Plan, make_plan
from benchmarks.rows import Scale


def dump_of(scale: Scale, pods: int, form: Form) -> tuple[Plan, Path]:
    """The plan of that size and the folder with its files, written now unless an earlier row wrote it."""
    plan = make_plan(pods, seed=scale.seed)
    folder = Path(scale.folder) / f"{pods}-{form.value}-{scale.seed}"
    finished = folder.with_suffix(".bytes")
    if not finished.exists():
        finished.write_text(f"{write_dump(plan, folder, form=form)}\n", encoding="utf-8")
    return plan, folder
