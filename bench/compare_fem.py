"""Soft bodies in pliant and in Drake, in one run: time of a step, its spread, peak memory, and where the bodies are.

    compare_fem.py [--scene NAME ...] [--rounds 2] [--json FILE]

Each engine is a process of one thread, pinned to one core; the engines take turns.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRAKE = Path(__file__).resolve().parent / "baselines" / "drake_fem_engine.py"


def pinned(command):
    environment = dict(os.environ, RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")
    core = max(os.sched_getaffinity(0))
    run = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    if run.returncode != 0:
        print(f"{command[0]}: {run.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(run.stdout.strip().splitlines()[-1])


def best_of(rounds):
    """The shortest time of every step over the rounds: the engines repeat a run exactly, other programs only add."""
    best = dict(rounds[0])
    best["step_s"] = [min(times) for times in zip(*(r["step_s"] for r in rounds))]
    return best


def row(name, engine, outcome, base):
    times = sorted(1e3 * t for t in outcome["step_s"])
    mean = statistics.fmean(times)
    ratio = "" if base is None else f"{mean / base:7.1f}"
    contacts = statistics.fmean(outcome["contacts"]) if outcome["contacts"] else None
    newton = statistics.fmean(outcome["iterations"]) if outcome["iterations"] else None
    print(
        f"{name:<12} {engine:<22} {outcome['n_dofs']:>7} {mean:>9.2f} {times[len(times) // 2]:>9.2f}"
        f" {times[-1]:>9.2f} {ratio:>7} {outcome['peak_kib'] / 1024:>9.0f} {outcome['height']:>10.5f}"
        f" {'' if contacts is None else f'{contacts:.0f}':>8} {'' if newton is None else f'{newton:.1f}':>6}"
        f"  {outcome['systems'] or ''}"
    )
    return mean


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = ROOT / target / "release" / "pliant-bench"
    parser.add_argument("--binary", type=Path, default=binary)
    parser.add_argument("--scene", action="append", help="default: all")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write all outcomes here")
    arguments = parser.parse_args()
    if not arguments.binary.exists():
        build = ["cargo", "build", "--release", "-p", "pliant-bench"]
        subprocess.run(build, cwd=ROOT, check=True)
    names = arguments.scene or subprocess.check_output([arguments.binary, "fem", "names"], text=True).split()
    outcomes = {}
    print(
        f"{'scene':<12} {'engine':<22} {'DoFs':>7} {'mean ms':>9} {'median':>9} {'longest':>9} {'ratio':>7}"
        f" {'peak MiB':>9} {'height m':>10} {'contacts':>8} {'Newton':>6}  systems"
    )
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([arguments.binary, "fem", "scene", name, folder], check=True)
            commands = {
                "pliant": [arguments.binary, "fem", "run", name],
                "pliant, lagged": [arguments.binary, "fem", "run", name, "--rotation", "lagged"],
                "drake": [sys.executable, str(DRAKE), folder],
            }
            rounds = {engine: [] for engine in commands}
            for _ in range(arguments.rounds):
                for engine, command in commands.items():
                    outcome = pinned(command)
                    if outcome is not None:
                        rounds[engine].append(outcome)
        base = None
        for engine, found in rounds.items():
            if not found:
                print(f"{name:<12} {engine:<22} did not run")
                continue
            outcomes[f"{name}/{engine}"] = found
            best = best_of(found)
            mean = row(name, best["engine"], best, base)
            base = mean if engine == "pliant" else base
    if arguments.json:
        arguments.json.write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main()
