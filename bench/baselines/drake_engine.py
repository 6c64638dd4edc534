"""Runs a scene in Drake (pip install drake): a discrete MultibodyPlant without visualisation.

    python drake_engine.py SCENE.json --root REPOSITORY --tetrahedra FOLDER
                         [--approximation sap|lagged|similar] [--contact point|hydroelastic]

Point contact in Drake is one point for a pair of bodies. `--contact hydroelastic` gives them the hydroelastic properties of
the scene; a compliant mesh is made of the tetrahedra in FOLDER/NAME.vtk. Everything else is at Drake's defaults (no
hydroelastic margin, polygons, a point for each polygon).
"""

import argparse
import os

import numpy as np
import pydrake
from pydrake.common.eigen_geometry import Quaternion
from pydrake.geometry import (
    AddCompliantHydroelasticProperties,
    AddContactMaterial,
    AddRigidHydroelasticProperties,
    Box,
    Capsule,
    CollisionFilterDeclaration,
    Cylinder,
    HalfSpace,
    Mesh,
    ProximityProperties,
    RoleAssign,
    Sphere,
)
from pydrake.math import RigidTransform
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import (
    AddMultibodyPlant,
    CoulombFriction,
    MultibodyPlantConfig,
)
from pydrake.multibody.tree import (
    JointActuatorIndex,
    PdControllerGains,
    SpatialInertia,
    UnitInertia,
)
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder
from pydrake.systems.primitives import TrajectorySource
from pydrake.trajectories import PiecewisePolynomial

import protocol


def transform(pose):
    return RigidTransform(Quaternion(wxyz=pose["quat_wxyz"]), pose["position"])


def shape_of(solid, name, hydroelastic, root, tetrahedra):
    (kind, size), = solid.items()
    if kind == "mesh":
        compliant = "compliant" in hydroelastic
        file = f"{tetrahedra}/{name}.vtk" if compliant else os.path.join(root, size["file"])
        return Mesh(file)
    if kind == "half_space":
        return HalfSpace()
    if kind == "sphere":
        return Sphere(size["radius"])
    if kind == "box":
        return Box(*size["size"])
    if kind == "cylinder":
        return Cylinder(size["radius"], size["length"])
    if kind == "capsule":
        return Capsule(size["radius"], size["length"])
    raise ValueError(f"solid {kind} is not known here")


def properties(surface, solid, contact, hydroelastic):
    made = ProximityProperties()
    mu = surface["friction"]
    AddContactMaterial(
        surface["dissipation"], surface["stiffness"], CoulombFriction(mu, mu), made
    )
    made.AddProperty("material", "relaxation_time", surface["relaxation_time_s"])
    if contact != "point":
        (kind, values), = hydroelastic.items()
        if kind == "compliant":
            AddCompliantHydroelasticProperties(values["edge_length"], values["modulus"], made)
        elif "half_space" in solid:
            AddRigidHydroelasticProperties(made)
        else:
            AddRigidHydroelasticProperties(values["edge_length"], made)
    return made


class Drake:
    def __init__(self, scene, root, tetrahedra, approximation, contact):
        self.scene = scene
        self.steps = 0
        builder = DiagramBuilder()
        config = MultibodyPlantConfig(
            time_step=scene["time_step_s"],
            discrete_contact_approximation=approximation,
            contact_model=contact,
            use_sampled_output_ports=False,
        )
        plant, scene_graph = AddMultibodyPlant(config, builder)
        plant.mutable_gravity_field().set_gravity_vector(scene["gravity"])
        surface = scene["surface"]
        shape = lambda thing: shape_of(
            thing["solid"], thing["name"], thing["hydroelastic"], root, tetrahedra
        )
        for fixed in scene["fixed"]:
            plant.RegisterCollisionGeometry(
                plant.world_body(),
                transform(fixed["pose"]),
                shape(fixed),
                fixed["name"],
                properties(surface, fixed["solid"], contact, fixed["hydroelastic"]),
            )
        self.bodies = []
        for free in scene["free"]:
            mass = free["mass"]
            inertia = UnitInertia(*[moment / mass for moment in free["inertia"]])
            body = plant.AddRigidBody(
                free["name"], SpatialInertia(mass, np.zeros(3), inertia)
            )
            plant.RegisterCollisionGeometry(
                body,
                RigidTransform(),
                shape(free),
                free["name"],
                properties(surface, free["solid"], contact, free["hydroelastic"]),
            )
            self.bodies.append(body)
        arm = scene["arm"]
        self.arm = None
        if arm:
            self.arm, = Parser(plant).AddModels(os.path.join(root, arm["urdf"]))
            base = plant.GetBodyByName("base", self.arm)
            plant.WeldFrames(plant.world_frame(), base.body_frame())
            # Gains must be there before Finalize, which is what fills the lists of actuators by model.
            for k in range(plant.num_actuators()):
                gains = PdControllerGains(p=arm["proportional"][k], d=arm["derivative"][k])
                actuator = plant.get_mutable_joint_actuator(JointActuatorIndex(k))
                actuator.set_controller_gains(gains)
        plant.Finalize()
        if arm:
            # The scene's arm does not touch itself.
            bodies = [plant.get_body(i) for i in plant.GetBodyIndices(self.arm)]
            made = properties(surface, {}, contact, arm["hydroelastic"])
            for body in bodies:
                for geometry in plant.GetCollisionGeometriesForBody(body):
                    scene_graph.AssignRole(
                        plant.get_source_id(), geometry, made, RoleAssign.kReplace
                    )
            filters = scene_graph.collision_filter_manager()
            filters.Apply(
                CollisionFilterDeclaration().ExcludeWithin(
                    plant.CollectRegisteredGeometries(bodies)
                )
            )
            knots = np.array(arm["knots"]).T
            times = [k * arm["knot_interval_s"] for k in range(knots.shape[1])]
            path = PiecewisePolynomial.CubicHermite(times, knots, np.zeros_like(knots))
            source = builder.AddSystem(TrajectorySource(path, output_derivative_order=1))
            builder.Connect(
                source.get_output_port(), plant.get_desired_state_input_port(self.arm)
            )
        diagram = builder.Build()
        self.plant = plant
        context = diagram.CreateDefaultContext()
        self.context = plant.GetMyMutableContextFromRoot(context)
        for body, free in zip(self.bodies, scene["free"]):
            plant.SetFreeBodyPose(self.context, body, transform(free["pose"]))
        if arm:
            plant.SetPositions(self.context, self.arm, arm["knots"][0])
        self.simulator = Simulator(diagram, context)
        self.simulator.Initialize()

    def advance(self, n_steps):
        self.steps += n_steps
        self.simulator.AdvanceTo(self.steps * self.scene["time_step_s"])

    def contacts(self):
        """Points of the solver: Drake makes one of each polygon."""
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        return results.num_point_pair_contacts() + self.polygons()

    def polygons(self):
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        patches = range(results.num_hydroelastic_contacts())
        info = results.hydroelastic_contact_info
        return sum(info(k).contact_surface().num_faces() for k in patches)

    def iterations(self):
        return 0

    def poses(self):
        found = []
        for body in self.bodies:
            X_WB = self.plant.EvalBodyPoseInWorld(self.context, body)
            found.append(
                protocol.pose(X_WB.translation(), X_WB.rotation().ToQuaternion().wxyz())
            )
        return found

    def joints(self):
        if self.arm is None:
            return []
        return [float(x) for x in self.plant.GetPositions(self.context, self.arm)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scene")
    parser.add_argument("--root", default=".")
    parser.add_argument("--tetrahedra", default=".")
    parser.add_argument(
        "--approximation", choices=["sap", "lagged", "similar"], default="sap"
    )
    parser.add_argument("--contact", choices=["point", "hydroelastic"], default="point")
    arguments = parser.parse_args()
    scene = protocol.load(arguments.scene)
    contact = {"point": "point", "hydroelastic": "hydroelastic_with_fallback"}
    name = f"drake {arguments.approximation}"
    if arguments.contact == "hydroelastic":
        name += " patches"

    def run():
        engine = Drake(
            scene,
            arguments.root,
            arguments.tetrahedra,
            arguments.approximation,
            contact[arguments.contact],
        )
        return protocol.measure(name, engine, scene)

    protocol.serve(run)


if __name__ == "__main__":
    main()
