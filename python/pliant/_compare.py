"""One scene in several variants, as a table: `pliant compare` in Python."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from typing import Literal

from ._pliant import StepError
from ._run import Run
from ._scene import load

Cell = str | float | int | None


@dataclass(frozen=True)
class Comparison:
    """Rows of a comparison: what was varied, speed, iterations, and what the scene's expectations measured."""

    rows: tuple[dict[str, Cell], ...]
    """One row for each run, with the same columns in the same order; None where a run has no value."""
    runs: tuple[Run | None, ...]
    """The run of each row; None where a step failed."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.rows[0])

    def __getitem__(self, column: str) -> list[Cell]:
        return [row[column] for row in self.rows]

    def __str__(self) -> str:
        table = [self.columns, *(tuple(_text(cell) for cell in row.values()) for row in self.rows)]
        widths = [max(len(line[k]) for line in table) for k in range(len(self.columns))]
        lines = ("  ".join(f"{cell:<{w}}" for cell, w in zip(line, widths)).rstrip() for line in table)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_text(cell))}</td>" for cell in row.values()) + "</tr>" for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def compare(
    scene: str | PathLike[str],
    *,
    solvers: Sequence[str] = (),
    steppers: Sequence[str] = (),
    time_steps: Sequence[float] = (),
    vary: Mapping[str, Sequence[str | float]] | None = None,
    until: float | Literal["smoke", "full"] = "smoke",
    keys: Mapping[str, str | float] | None = None,
    **parameters: str | float,
) -> Comparison:
    """Runs the bundled scene of that name, or the file at that path, in every combination of the requested values.

    `vary` has values of parameters and keys, as in `vary={"mu": [0.2, 0.4], "contact.model": ["sap", "lagged"]}`; `keys` and
    `parameters` hold for all runs, `time_steps` are in s. The last option varies fastest: vary, steppers, solvers, time steps.
    A step that fails ends its run; its row has "failed" under "met". Raises `SceneError`.
    """
    rows: list[dict[str, Cell]] = []
    runs: list[Run | None] = []
    for case in _cases(vary or {}, steppers, solvers, time_steps):
        loaded = load(
            scene,
            time_step=case.time_step,
            solver=case.solver,
            keys={**(keys or {}), **parameters, **case.varied, **case.stepper},
        )
        row: dict[str, Cell] = {
            **case.varied,
            "stepper": loaded.stepper,
            "solver": loaded.solver,
            "step s": loaded.time_step,
        }
        try:
            run = loaded.run(until)
        except StepError:
            row["met"] = "failed"
            runs.append(None)
        else:
            row.update(_results(run))
            runs.append(run)
        rows.append(row)
    columns = dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row)
    return Comparison(tuple({name: row.get(name) for name in columns} for row in rows), tuple(runs))


@dataclass(frozen=True)
class _Case:
    varied: dict[str, str | float]
    stepper: dict[str, str | float]
    solver: str | None
    time_step: float | None


def _cases(
    vary: Mapping[str, Sequence[str | float]],
    steppers: Sequence[str],
    solvers: Sequence[str],
    time_steps: Sequence[float],
) -> Iterator[_Case]:
    for name, values in vary.items():
        if isinstance(values, str) or not len(values):
            raise ValueError(f"vary[{name!r}] must be a list of values that is not empty; it is {values!r}")
    named: Sequence[str | None] = steppers or [None]
    solved: Sequence[str | None] = solvers or [None]
    timed: Sequence[float | None] = time_steps or [None]
    for values in itertools.product(*vary.values()):
        varied = dict(zip(vary, values))
        for stepper, solver, step in itertools.product(named, solved, timed):
            yield _Case(varied, {} if stepper is None else {"simulation.stepper": stepper}, solver, step)


def _results(run: Run) -> dict[str, Cell]:
    summary = run.summary
    substeps = summary["substeps"] or summary
    checked = [entry for entry in run.expectations if entry["outcome"] != "skipped"]
    met = sum(entry["outcome"] == "met" for entry in checked)
    return {
        "x real time": summary["realtime_rate"],
        "iterations": substeps["iterations_mean"],
        "at most": summary["iterations_max"],
        "unconverged": summary["unconverged_steps"],
        "contacts": substeps["contacts_mean"],
        "met": f"{met} of {len(checked)}",
        **{f"{entry['observable']} {entry['measured']}": entry["found"] for entry in run.expectations},
    }


def _text(cell: Cell) -> str:
    if cell is None:
        return "-"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
