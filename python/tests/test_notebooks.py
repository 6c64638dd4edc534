"""Replays and comparisons in notebooks, and the tutorial."""

import html
import json
import re
from pathlib import Path

import pliant
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_a_run_is_shown_as_its_replay(tmp_path: Path) -> None:
    run = pliant.load("box-on-incline").run(until=0.02)
    replay = pliant.show(run, height=300)
    framed = re.search(r'srcdoc="(.*?)" width="100%" height="300"', replay._repr_html_(), re.DOTALL)
    assert framed is not None and html.unescape(framed[1]) == replay.page
    replay.save(tmp_path / "shown.html")
    run.save_replay(tmp_path / "saved.html")
    assert (tmp_path / "shown.html").read_text() == (tmp_path / "saved.html").read_text()
    assert pliant.show(tmp_path / "saved.html").page == replay.page
    assert "<iframe" in run._repr_html_()


def test_what_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("time\n0\n")
    with pytest.raises(ValueError, match=r"table.csv: not a replay; Run.save_replay"):
        pliant.show(tmp_path / "table.csv")
    with pytest.raises(FileNotFoundError):
        pliant.show(tmp_path / "none.html")
    with pytest.raises(ValueError, match="positive number of pixels"):
        pliant.show(pliant.load("box-on-incline").run(until=0.01), height=0)


def test_comparison_has_every_combination_in_order() -> None:
    comparison = pliant.compare(
        "box-on-incline", solvers=["newton", "gauss-seidel"], vary={"mu": [0.3, 0.4]}, until=1.0, angle="30*deg"
    )
    assert comparison["mu"] == [0.3, 0.3, 0.4, 0.4]
    assert comparison["solver"] == ["newton", "gauss-seidel"] * 2
    assert comparison["met"] == ["4 of 4"] * 4
    # Coulomb: less friction, more speed; the solvers solve the same problem.
    speeds = [run["box.speed"][-1] for run in comparison.runs if run is not None]
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-3) and speeds[0] > 1.2 * speeds[2]
    lines = str(comparison).splitlines()
    assert len(lines) == 5 and lines[0].startswith("mu   stepper")
    assert comparison._repr_html_().count("<tr>") == 5
    assert comparison.columns[:4] == ("mu", "stepper", "solver", "step s")


def test_comparison_takes_steppers_keys_and_time_steps() -> None:
    comparison = pliant.compare(
        "box-on-incline", time_steps=[0.002, 0.004], keys={"contact.model": "sap"}, until=0.02, mu=0.2
    )
    assert comparison["step s"] == [0.002, 0.004]
    assert [run.steps for run in comparison.runs if run is not None] == [10, 5]
    with pytest.raises(ValueError, match="vary\\['mu'\\] must be a list"):
        pliant.compare("box-on-incline", vary={"mu": []})
    with pytest.raises(pliant.SceneError, match="newton"):
        pliant.compare("box-on-incline", solvers=["newtn"])


def test_scene_in_a_text() -> None:
    text = 'schema = 1\ntitle = "t"\n[simulation]\nsmoke_s = 0.1\n[[bodies]]\nname = "ball"\nshape = { sphere = { radius = "r" } }\n[parameters]\nr = 0.1\n'
    assert pliant.parse(text, r=0.2).parameters == {"r": 0.2}
    with pytest.raises(pliant.SceneError, match="my-scene:7"):
        pliant.parse(text.replace("sphere", "spere"), name="my-scene")


def test_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="SKIPPED tutorial: nbclient is not installed")
    pytest.importorskip("ipykernel", reason="SKIPPED tutorial: ipykernel is not installed")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("PYTHONPATH", str(Path(pliant.__file__).parents[1]))
    notebook = nbformat.read(EXAMPLES / "tutorial.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("<iframe" in output.get("data", {}).get("text/html", "") for output in shown)


def test_tutorial_keeps_no_outputs() -> None:
    notebook = json.loads((EXAMPLES / "tutorial.ipynb").read_text())
    assert all(not cell.get("outputs") for cell in notebook["cells"])
