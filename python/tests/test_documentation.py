"""The snippets of the pages on Python run: scenes in TOML are read and stepped, Python in the order of the page."""

import os
import re
from pathlib import Path
from typing import Any

import pliant
import pytest

DOCS = Path(os.environ.get("PLIANT_REPOSITORY", Path(__file__).parents[2])) / "docs"
COMING_FROM = ["drake", "mujoco", "newton", "genesis"]
PAGES = ["python.md", "python-learning.md", "python-parallel.md", *(f"coming-from/{name}.md" for name in COMING_FROM)]


def snippets(text: str) -> list[tuple[str, str]]:
    """Language and content of the blocks of a page."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_snippets_are_found() -> None:
    assert snippets("a\n```toml\nx = 1\n```\nb\n```python\ny\nz\n```\n") == [("toml", "x = 1\n"), ("python", "y\nz\n")]


@pytest.mark.parametrize("page", PAGES)
def test_snippets_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "gym" in (text := (DOCS / page).read_text()):
        pytest.importorskip("gymnasium", reason=f"SKIPPED {page}: gymnasium is not installed")
    if "scipy" in text:
        pytest.importorskip("scipy", reason=f"SKIPPED {page}: scipy is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "snippets"}
    blocks = snippets(text)
    assert any(language == "python" for language, _ in blocks)
    for language, block in blocks:
        if language == "toml":
            scene = names["scene"] = pliant.parse(block, name=page)
            scene.simulation().step()
        elif language == "python":
            exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize("name", COMING_FROM)
def test_pages_say_what_differs_and_what_is_missing(name: str) -> None:
    text = (DOCS / f"coming-from/{name}.md").read_text()
    assert "## What differs" in text and "## What pliant lacks" in text
    assert {language for language, _ in snippets(text)} == {"toml", "python"}


@pytest.mark.parametrize("page", PAGES)
def test_names_of_the_package_exist(page: str) -> None:
    missing = [
        name
        for name in re.findall(r"`pliant\.(\w+)", (DOCS / page).read_text())
        if not hasattr(pliant, name) and name not in ("gym", "ray")
    ]
    assert not missing
