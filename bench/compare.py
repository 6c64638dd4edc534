#!/usr/bin/env python3
"""Runs pliant and its baselines on the same scenes in one go and prints tables with ratios.

    python bench/compare.py                      everything
    python bench/compare.py scenes clutter       one scene
    python bench/compare.py patches              patches: box-on-box, bowl, boxes, pepper
    python bench/compare.py scaling              clutter with 10, 40, 160, 640 bodies
    python bench/compare.py dynamics             RNEA, CRBA, ABA, Jacobians against pinocchio

Every engine is one process with one thread, all pinned to the same core; only one of them computes at a time, and they
take turns round by round. A run is timed in pieces; an engine's time is the sum over the pieces of the shortest of all
rounds (all engines repeat a run exactly), the median over rounds of the whole run is beside it. Needs Python's standard
library only; the baselines require what README.md says, in the interpreter given by --python.
"""

import argparse
import glob
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASELINES = os.path.join(ROOT, "bench", "baselines")
SCENES = ["clutter", "box-stack", "arm"]
PATCHES = ["box-on-box", "bowl", "boxes", "pepper"]
SCALING = ["clutter-10", "clutter-40", "clutter-160", "clutter-640"]
ROBOTS = [
    ("arm7", "robots/arm7.urdf", False),
    ("iiwa7", "../shared/data/robots/iiwa7/iiwa7.urdf", False),
    ("atlas", "../shared/data/robots/atlas/atlas/atlas_minimal_contact.urdf", True),
]
QUESTIONS = ["rnea", "crba", "aba", "one_jacobian", "all_jacobians"]
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
}


class EngineProcess:
    """A process that answers each line with one line of JSON."""

    def __init__(self, name, command, core):
        self.name = name
        self.process = subprocess.Popen(
            ["taskset", "-c", str(core)] + command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ONE_THREAD},
            text=True,
        )

    def ask(self):
        try:
            self.process.stdin.write("run\n")
            self.process.stdin.flush()
            while True:
                line = self.process.stdout.readline()
                if not line:
                    return None
                if line.startswith("{"):
                    return json.loads(line)
        except BrokenPipeError:
            return None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def build(rapier):
    command = ["cargo", "build", "--release", "-p", "pliant-bench"]
    subprocess.run(command + (["--features", "rapier"] if rapier else []), cwd=ROOT, check=True)


def binary():
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )
    return os.path.join(json.loads(metadata.stdout)["target_directory"], "release", "pliant-bench")


def commands(options, scene_file, names):
    """How each engine is started."""
    ours = lambda engine: [options.binary, "rigid", "run", engine, scene_file, "--root", ROOT]
    tetrahedra = ["--tetrahedra", os.path.dirname(scene_file)]
    patches = ["--contact", "hydroelastic", *tetrahedra]
    python = lambda script, *more: [
        options.python, os.path.join(BASELINES, script), scene_file, "--root", ROOT, *more
    ]
    known = {
        "pliant": ours("pliant"),
        "pliant-similar": ours("pliant-similar"),
        "pliant-sap": ours("pliant-sap"),
        "pliant-patches": ours("pliant-patches"),
        "pliant-sap-patches": ours("pliant-sap-patches"),
        "rapier": ours("rapier"),
        "drake-sap": python("drake_engine.py", "--approximation", "sap", *tetrahedra),
        "drake-lagged": python("drake_engine.py", "--approximation", "lagged", *tetrahedra),
        "drake-patches": python("drake_engine.py", "--approximation", "sap", *patches),
        "drake-lagged-patches": python("drake_engine.py", "--approximation", "lagged", *patches),
        "mujoco": python("mujoco_engine.py"),
    }
    return {name: known[name] for name in names}


def run_scene(options, name, engines):
    """Rounds of one scene; returns {engine: row}."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "scene.json")
        text = subprocess.run(
            [options.binary, "rigid", "scene", name], check=True, capture_output=True, text=True
        ).stdout
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        scene = json.loads(text)
        subprocess.run([options.binary, "rigid", "tetrahedra", file, folder, "--root", ROOT], check=True)
        processes = [EngineProcess(n, c, options.core) for n, c in commands(options, file, engines).items()]
        rounds = {process.name: [] for process in processes}
        for turn in range(options.rounds):
            for process in list(processes):
                print(f"{name}: round {turn + 1} of {options.rounds}, {process.name}   ",
                      end="\r", file=sys.stderr, flush=True)
                outcome = process.ask()
                if outcome is None:
                    print(f"{name}: {process.name} gave no answer and is left out", file=sys.stderr)
                    processes.remove(process)
                else:
                    rounds[process.name].append(outcome)
        for process in processes:
            process.close()
        return scene, {
            engine: row(options, scene, file, outcomes)
            for engine, outcomes in rounds.items() if outcomes
        }


def row(options, scene, file, outcomes):
    pieces = list(zip(*[outcome["chunk_s"] for outcome in outcomes]))
    best = [min(piece) for piece in pieces]
    last = outcomes[-1]
    steps = scene["steps_per_chunk"] * scene["n_chunks"]
    settled = max(len(best) // 4, 1)
    quality = subprocess.run(
        [options.binary, "rigid", "quality", file, "--root", ROOT], input=json.dumps(last),
        check=True, capture_output=True, text=True,
    )
    return {
        "engine": last["engine"],
        "steps_per_s": steps / sum(best),
        "median_steps_per_s": steps / statistics.median(sum(o["chunk_s"]) for o in outcomes),
        "settled_steps_per_s": settled * scene["steps_per_chunk"] / sum(best[-settled:]),
        "realtime": steps * scene["time_step_s"] / sum(best),
        "contacts_mean": statistics.mean(last["contacts"]),
        "contacts_max": max(last["contacts"]),
        "polygons_mean": statistics.mean(last["polygons"]),
        "iterations": statistics.mean(last["iterations"]),
        "joints_end": last["joints_end"],
        **json.loads(quality.stdout),
    }


def print_scene(scene, rows, base):
    base = rows.get(base)
    title = f"{scene['name']}: {len(scene['free'])} bodies, step {scene['time_step_s'] * 1e3:g} ms, " \
            f"{scene['steps_per_chunk'] * scene['n_chunks']} steps timed"
    if scene["arm"]:
        joints = len(scene["arm"]["proportional"])
        title = title.replace(f"{len(scene['free'])} bodies",
                              f"{len(scene['free'])} free bodies, {joints} joints under PD")
    print(f"\n### {title}\n")
    print("| engine | steps/s | median | last quarter | real time | pliant is | contacts mean / max | polygons "
          "| iterations "
          "| penetration | drift | moved | lost | tracking |")
    print("|---" * 14 + "|")
    for r in rows.values():
        ratio = f"{base['steps_per_s'] / r['steps_per_s']:.2f}x" if base else "-"
        polygons = f"{r['polygons_mean']:.0f}" if r["polygons_mean"] else "-"
        iterations = f"{r['iterations']:.2f}" if r["iterations"] else "-"
        tracking = f"{r['tracking_max_rad']:.1e} rad" if scene["arm"] else "-"
        print(f"| {r['engine']} | {r['steps_per_s']:,.0f} | {r['median_steps_per_s']:,.0f} "
              f"| {r['settled_steps_per_s']:,.0f} | {r['realtime']:.1f}x | {ratio} "
              f"| {r['contacts_mean']:.0f} / {r['contacts_max']} | {polygons} | {iterations} "
              f"| {r['penetration_max_m'] * 1e3:.3f} mm | {r['drift_max_m'] * 1e3:.4f} mm "
              f"| {r['moved_max_m'] * 1e3:.2f} mm | {r['lost']} | {tracking} |")


def scenes(options, results):
    for name in options.names or SCENES:
        engines = [e for e in options.engines if not (e == "rapier" and name == "arm")]
        scene, rows = run_scene(options, name, engines)
        print_scene(scene, rows, "pliant")
        results[name] = rows


def patches(options, results):
    for name in options.names or PATCHES:
        # Drake has no signed distance of a mesh; its hollow meshes in point contact are their convex hulls.
        engines = ["pliant-patches", "pliant", "drake-patches", "drake-lagged-patches"]
        scene, rows = run_scene(options, name, engines)
        print_scene(scene, rows, "pliant-patches")
        results[f"{name} in patches"] = rows


def scaling(options, results):
    engines = [e for e in options.engines if e in ("pliant", "drake-sap", "mujoco")]
    table = {}
    for name in SCALING:
        scene, rows = run_scene(options, name, engines)
        table[len(scene["free"])] = rows
        results[name] = rows
    print("\n### Clutter: time a step for each body, µs (whole run / last quarter); contacts a body\n")
    print("| bodies | " + " | ".join(engines) + " |")
    print("|---" * (len(engines) + 1) + "|")
    for n, rows in table.items():
        cells = []
        for engine in engines:
            r = rows.get(engine)
            cells.append("-" if r is None else
                         f"{1e6 / r['steps_per_s'] / n:.2f} / {1e6 / r['settled_steps_per_s'] / n:.2f}; "
                         f"{r['contacts_mean'] / n:.1f}")
        print(f"| {n} | " + " | ".join(cells) + " |")
    for engine in engines:
        times = [1e6 / rows[engine]["steps_per_s"] / n for n, rows in table.items() if engine in rows]
        print(f"\n{engine}: largest over smallest {max(times) / min(times):.2f}", end="")
    print()


def dynamics(options, results):
    pinocchio = build_pinocchio(options)
    print("\n### One call, µs (shortest of all batches)\n")
    print("| robot | call | pliant | pinocchio | ratio |\n|---|---|---|---|---|")
    for name, file, floating in ROBOTS:
        path = os.path.join(ROOT, file)
        if not os.path.exists(path):
            print(f"skipped {name}: {file} is not there", file=sys.stderr)
            continue
        more = ["--floating"] if floating else []
        processes = [EngineProcess("pliant", [options.binary, "rigid", "dynamics", path] + more, options.core)]
        if pinocchio:
            processes.append(EngineProcess("pinocchio", [pinocchio, saved(options, name, path, floating)], options.core))
        best = {process.name: {} for process in processes}
        for _ in range(4 * options.rounds):
            for process in processes:
                for question, seconds in process.ask().items():
                    so_far = best[process.name].get(question, float("inf"))
                    best[process.name][question] = min(so_far, seconds)
        for process in processes:
            process.close()
        for question in QUESTIONS:
            ours = best["pliant"][question]
            theirs = best.get("pinocchio", {}).get(question)
            cells = f"{theirs * 1e6:.3f} | {ours / theirs:.2f}" if theirs else "- | -"
            print(f"| {name} | {question.replace('_', ' ')} | {ours * 1e6:.3f} | {cells} |")
        results[f"dynamics {name}"] = best


def saved(options, name, urdf, floating):
    """The robot as a file that the C++ program reads."""
    out = os.path.join(tempfile.gettempdir(), f"pliant_pinocchio_{name}.txt")
    root = ", p.JointModelFreeFlyer()" if floating else ""
    script = f"import pinocchio as p; p.buildModelFromUrdf({urdf!r}{root}).saveToText({out!r})"
    subprocess.run([options.python, "-c", script], check=True)
    return out


def build_pinocchio(options):
    """Compiles the C++ program against the headers and libraries of the `pin` package; None if that fails."""
    find = "import os, pinocchio; print(os.path.dirname(pinocchio.__file__))"
    found = subprocess.run([options.python, "-c", find], capture_output=True, text=True)
    if found.returncode != 0:
        print("pinocchio is left out: `pip install pin` first", file=sys.stderr)
        return None
    prefix = found.stdout.strip().rsplit("/lib/python", 1)[0]
    eigen = [p for p in (f"{prefix}/include/eigen3", "/usr/include/eigen3", "/usr/local/include/eigen3")
             if os.path.isdir(p)]
    if not eigen or not glob.glob(f"{prefix}/include/pinocchio"):
        print(f"pinocchio is left out: no headers under {prefix}, or no eigen3", file=sys.stderr)
        return None
    out = os.path.join(tempfile.gettempdir(), "pliant_pinocchio_engine")
    command = [
        shutil.which("c++") or "g++", "-std=c++17", "-O3", "-DNDEBUG", "-w",
        # What pinocchio's own build sets: its list of joints is longer than Boost's default limit.
        "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
        "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
        *options.cxxflags.split(),
        os.path.join(BASELINES, "pinocchio_engine.cpp"), "-o", out, f"-I{prefix}/include", f"-isystem{eigen[0]}",
        f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-lpinocchio_default", "-lboost_serialization",
    ]
    source = os.path.join(BASELINES, "pinocchio_engine.cpp")
    if os.path.exists(out) and os.path.getmtime(out) > os.path.getmtime(source) and not options.cxxflags:
        return out
    print("compiling the pinocchio program (a minute or two)", file=sys.stderr)
    return out if subprocess.run(command).returncode == 0 else None


def machine():
    model = "unknown processor"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = [line for line in file if line.startswith("model name")]
            model = lines[0].split(":")[1].strip() if lines else model
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return f"{model}, {platform.system()}, load {os.getloadavg()[0]:.1f}, commit {commit.stdout.strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["all", "scenes", "patches", "scaling", "dynamics"], default="all")
    parser.add_argument("names", nargs="*", help="scenes, if not all of them")
    parser.add_argument("--python", default=sys.executable, help="interpreter with drake, mujoco and pin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--core", type=int, default=os.cpu_count() - 1)
    parser.add_argument("--engines", default="pliant,pliant-sap,drake-sap,drake-lagged,mujoco,rapier",
                        help="also: pliant-similar, pliant-patches, pliant-sap-patches, drake-patches, "
                             "drake-lagged-patches; the tables of patches have their own")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--cxxflags", default="", help="more flags for the C++ program, such as -march=native")
    parser.add_argument("--json", help="file for everything measured")
    options = parser.parse_args()
    options.engines = options.engines.split(",")
    if not options.no_build:
        build("rapier" in options.engines)
    options.binary = binary()
    print(f"Measured on {machine()}; {options.rounds} rounds, one thread each.")
    results = {}
    if options.what in ("all", "scenes"):
        scenes(options, results)
    if options.what in ("all", "patches"):
        patches(options, results)
    if options.what in ("all", "scaling"):
        scaling(options, results)
    if options.what in ("all", "dynamics"):
        dynamics(options, results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "results": results}, file, indent=1)


if __name__ == "__main__":
    main()
