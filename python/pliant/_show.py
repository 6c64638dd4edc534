"""Replays inside a notebook."""

import html
import os
import tempfile
from os import PathLike
from pathlib import Path

from ._run import Run


class Replay:
    """A replay as one page of HTML. A notebook shows it where it is the value of a cell."""

    def __init__(self, page: str, height: int) -> None:
        self.page = page
        """The page, without external parts."""
        self.height = height
        """Height in a notebook, pixels."""

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the page, beside its place until it is complete and on the disk."""
        path = Path(path)
        beside = path.with_name(path.name + ".partial")
        try:
            with open(beside, "w", encoding="utf-8") as file:
                file.write(self.page)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)

    def _repr_html_(self) -> str:
        # A frame of its own keeps the page's styles and scripts apart from the notebook's.
        return (
            f'<iframe srcdoc="{html.escape(self.page)}" width="100%" height="{self.height}" '
            'style="border: 0" allow="fullscreen"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<pliant replay, {len(self.page) / 1e6:.1f} MB; save(path) writes it, a notebook shows it>"


def show(run_or_replay: Run | str | PathLike[str], *, height: int = 480) -> Replay:
    """The replay of a run, or the replay file at that path, for a notebook; `height` in pixels.

    Raises `RecordingError` for a run without frames, `ValueError` for a file that is not a replay, and `OSError`.
    """
    if height <= 0:
        raise ValueError(f"height must be a positive number of pixels; it is {height}")
    if isinstance(run_or_replay, Run):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "replay.html"
            run_or_replay.save_replay(path)
            return Replay(path.read_text(encoding="utf-8"), height)
    page = Path(run_or_replay).read_text(encoding="utf-8")
    if not page.lstrip().lower().startswith("<!doctype html"):
        raise ValueError(f"{run_or_replay}: not a replay; Run.save_replay or `pliant run` writes one")
    return Replay(page, height)
