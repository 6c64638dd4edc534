"""Runs a scene of soft bodies in Drake and prints one line of JSON, as `pliant-bench fem run` does.

    drake_fem_engine.py FOLDER        scene.json and its meshes, as written by `pliant-bench fem scene`
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from pydrake.geometry import (
    AddCompliantHydroelasticProperties,
    AddContactMaterial,
    GeometryInstance,
    Mesh,
    ProximityProperties,
)
from pydrake.math import RigidTransform
from pydrake.common.eigen_geometry import Quaternion
from pydrake.multibody.fem import DeformableBodyConfig, MaterialModel
from pydrake.multibody.plant import (
    AddMultibodyPlantSceneGraph,
    CoulombFriction,
    DiscreteContactApproximation,
)
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder


def transform(pose):
    return RigidTransform(Quaternion(pose["quat_wxyz"]), pose["position"])


def peak_kib():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def build(scene, folder):
    builder = DiagramBuilder()
    plant, scene_graph = AddMultibodyPlantSceneGraph(builder, scene["time_step_s"])
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kLagged)
    friction = CoulombFriction(scene["friction"], scene["friction"])

    model = plant.mutable_deformable_model()
    config = DeformableBodyConfig()
    config.set_youngs_modulus(scene["youngs_modulus"])
    config.set_poissons_ratio(scene["poissons_ratio"])
    config.set_mass_density(scene["density"])
    config.set_mass_damping_coefficient(0.0)
    config.set_stiffness_damping_coefficient(scene["damping_s"])
    config.set_material_model(MaterialModel.kLinearCorotated)
    bodies = []
    for k, body in enumerate(scene["bodies"]):
        mesh = Mesh(str(folder / "body.vtk"))
        geometry = GeometryInstance(transform(body["pose"]), mesh, f"body {k}")
        properties = ProximityProperties()
        AddContactMaterial(10.0, None, friction, properties)
        geometry.set_proximity_properties(properties)
        bodies.append(model.RegisterDeformableBody(geometry, config, 1.0))
    if scene["wall"] is not None:
        at = np.array([scene["wall"]["x"], 0.0, 0.0])
        for body in bodies:
            model.SetWallBoundaryCondition(body, at, np.array([1.0, 0.0, 0.0]))
    if scene["hook"] is not None:
        properties = ProximityProperties()
        AddContactMaterial(10.0, None, friction, properties)
        AddCompliantHydroelasticProperties(0.01, 1e7, properties)
        pose = transform(scene["hook"]["pose"])
        mesh = Mesh(str(folder / "hook.vtk"))
        plant.RegisterCollisionGeometry(plant.world_body(), pose, mesh, "hook", properties)
    plant.Finalize()
    return builder.Build(), plant, bodies


def main():
    folder = Path(sys.argv[1])
    scene = json.loads((folder / "scene.json").read_text())
    diagram, plant, bodies = build(scene, folder)
    simulator = Simulator(diagram)
    simulator.Initialize()
    dt = scene["time_step_s"]
    context = simulator.get_mutable_context()
    simulator.AdvanceTo(dt * scene["warm_up_steps"])
    step_s = []
    for step in range(scene["steps"]):
        end = dt * (scene["warm_up_steps"] + step + 1)
        start = time.perf_counter()
        simulator.AdvanceTo(end)
        step_s.append(time.perf_counter() - start)
    model = plant.deformable_model()
    plant_context = plant.GetMyContextFromRoot(context)
    positions = [np.asarray(model.GetPositions(plant_context, body)) for body in bodies]
    last = positions[-1]
    heights = last[2] if last.ndim == 2 else last[2::3]
    print(
        json.dumps(
            {
                "engine": f"drake {version('drake')}",
                "n_dofs": int(sum(p.size for p in positions)),
                "step_s": step_s,
                "contacts": [],
                "iterations": [],
                "solve_share": None,
                "systems": None,
                "height": float(np.mean(heights)),
                "peak_kib": peak_kib(),
            }
        )
    )


if __name__ == "__main__":
    main()
