"""What the Python baselines share: reading a scene, timing a run in pieces, answering one line of JSON for each line read.

The counterpart in Rust is `bench/src/engine.rs`; field names and meanings are the same.
"""

import json
import sys
import time


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def path(arm, t):
    """Joint positions and velocities asked for at time t: between two knots, q = a + (b - a)(3s^2 - 2s^3)."""
    knots, interval = arm["knots"], arm["knot_interval_s"]
    last = len(knots) - 1
    at = min(max(t / interval, 0.0), float(last))
    k = min(int(at), max(last - 1, 0))
    s = at - k
    a, b = knots[k], knots[min(k + 1, last)]
    weight, rate = s * s * (3 - 2 * s), 6 * s * (1 - s) / interval
    q = [x + (y - x) * weight for x, y in zip(a, b)]
    v = [(y - x) * rate for x, y in zip(a, b)]
    return q, v


def measure(name, engine, scene):
    """Runs `engine` (advance(n), contacts(), polygons(), iterations(), poses(), joints()) through `scene` and times it."""
    steps, chunks = scene["steps_per_chunk"], scene["n_chunks"]
    settled = min(max(round(0.5 / (scene["time_step_s"] * steps)), 1), chunks)
    outcome = {
        "engine": name,
        "chunk_s": [],
        "contacts": [],
        "polygons": [],
        "iterations": [],
        "poses_before": [],
        "between_s": scene["time_step_s"] * settled * steps,
    }
    engine.advance(scene["warm_up_steps"])
    for chunk in range(chunks):
        if chunk == chunks - settled:
            outcome["poses_before"] = engine.poses()
        before = engine.iterations()
        start = time.perf_counter()
        engine.advance(steps)
        outcome["chunk_s"].append(time.perf_counter() - start)
        outcome["contacts"].append(engine.contacts())
        outcome["polygons"].append(engine.polygons())
        outcome["iterations"].append((engine.iterations() - before) / steps)
    outcome["poses_end"] = engine.poses()
    outcome["joints_end"] = engine.joints()
    return outcome


def pose(position, quat_wxyz):
    return {
        "position": [float(x) for x in position],
        "quat_wxyz": [float(x) for x in quat_wxyz],
    }


def serve(run):
    """Calls `run` once for each line on standard input and prints what it returns."""
    for _ in sys.stdin:
        print(json.dumps(run()), flush=True)
