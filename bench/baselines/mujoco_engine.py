"""Runs a scene in MuJoCo (pip install mujoco).

    python mujoco_engine.py SCENE.json --root REPOSITORY

Elliptic cones, Newton's method, the implicitfast integrator. MuJoCo has no contact stiffness in N/m: its softness is a
time constant, left at the default 0.02 s unless that is below twice the step. Everything else is as the scene says.
"""

import argparse
import os

import mujoco

import protocol


def geometry(parent, name, solid, friction):
    (kind, size), = solid.items()
    types = mujoco.mjtGeom
    made = parent.add_geom(name=name, friction=[friction, 0, 0], condim=3)
    if kind == "half_space":
        made.type, made.size = types.mjGEOM_PLANE, [0, 0, 1]
    elif kind == "sphere":
        made.type, made.size = types.mjGEOM_SPHERE, [size["radius"], 0, 0]
    elif kind == "box":
        made.type, made.size = types.mjGEOM_BOX, [0.5 * x for x in size["size"]]
    elif kind == "cylinder":
        made.type = types.mjGEOM_CYLINDER
        made.size = [size["radius"], 0.5 * size["length"], 0]
    elif kind == "capsule":
        made.type = types.mjGEOM_CAPSULE
        made.size = [size["radius"], 0.5 * size["length"], 0]
    else:
        raise ValueError(f"solid {kind} is not known here")
    return made


def arm_spec(arm, root):
    """MuJoCo reads links, joints and shapes of a URDF; rotors and actuators are added here."""
    file = os.path.join(root, arm["urdf"])
    spec = mujoco.MjSpec.from_file(file)
    drives = rotors(file)
    for geom in spec.geoms:
        # The scene's arm does not touch itself.
        geom.contype, geom.conaffinity = 0, 0
    for k, joint in enumerate(spec.joints):
        inertia, gear = drives.get(joint.name, (0.0, 1.0))
        joint.armature = inertia * gear * gear
        kp, kd = arm["proportional"][k], arm["derivative"][k]
        limit = max(abs(x) for x in joint.actfrcrange)
        # force = kp ctrl - kp q - kd v, with ctrl = q_d + kd/kp v_d.
        motor = spec.add_actuator(
            name=f"motor {k}",
            target=joint.name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            gaintype=mujoco.mjtGain.mjGAIN_FIXED,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        )
        motor.gainprm[0] = kp
        motor.biasprm[1], motor.biasprm[2] = -kp, -kd
        if limit > 0:
            motor.forcelimited, motor.forcerange = True, [-limit, limit]
    return spec


def rotors(file):
    import xml.etree.ElementTree as tree

    drake = "{http://drake.mit.edu}"
    found = {}
    for transmission in tree.parse(file).getroot().iter("transmission"):
        joint = transmission.find("joint").get("name")
        motor = transmission.find("actuator")
        value = lambda tag: float(motor.find(drake + tag).get("value"))
        found[joint] = (value("rotor_inertia"), value("gear_ratio"))
    return found


class MuJoCo:
    def __init__(self, scene, root):
        arm = scene["arm"]
        spec = arm_spec(arm, root) if arm else mujoco.MjSpec()
        step = scene["time_step_s"]
        spec.option.timestep = step
        spec.option.gravity = scene["gravity"]
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        friction = scene["surface"]["friction"]
        for fixed in scene["fixed"]:
            made = geometry(spec.worldbody, fixed["name"], fixed["solid"], friction)
            made.pos, made.quat = fixed["pose"]["position"], fixed["pose"]["quat_wxyz"]
        for free in scene["free"]:
            pose = free["pose"]
            body = spec.worldbody.add_body(
                name=free["name"], pos=pose["position"], quat=pose["quat_wxyz"]
            )
            body.add_freejoint()
            body.mass, body.inertia = free["mass"], free["inertia"]
            body.explicitinertial = True
            geometry(body, free["name"], free["solid"], friction)
        self.arm = arm
        self.n_free = len(scene["free"])
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        if arm:
            self.data.qpos[:] = arm["knots"][0]
            # The controls of all steps, worked out before the clock starts.
            self.targets = []
            n = scene["warm_up_steps"] + scene["steps_per_chunk"] * scene["n_chunks"]
            for k in range(n):
                q, v = protocol.path(arm, k * step)
                gains = zip(arm["proportional"], arm["derivative"])
                self.targets.append(
                    [x + kd / kp * y for x, y, (kp, kd) in zip(q, v, gains)]
                )
        self.steps = 0
        self.n_iterations = 0

    def advance(self, n_steps):
        if self.arm is None:
            mujoco.mj_step(self.model, self.data, nstep=n_steps)
        else:
            for k in range(self.steps, self.steps + n_steps):
                self.data.ctrl[:] = self.targets[k]
                mujoco.mj_step(self.model, self.data)
        self.steps += n_steps

    def contacts(self):
        return int(self.data.ncon)

    def polygons(self):
        return 0

    def iterations(self):
        return 0

    def poses(self):
        q = self.data.qpos.reshape(-1, 7) if self.n_free else []
        return [protocol.pose(row[:3], row[3:]) for row in q]

    def joints(self):
        return [float(x) for x in self.data.qpos] if self.arm else []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scene")
    parser.add_argument("--root", default=".")
    arguments = parser.parse_args()
    scene = protocol.load(arguments.scene)
    protocol.serve(
        lambda: protocol.measure("mujoco", MuJoCo(scene, arguments.root), scene)
    )


if __name__ == "__main__":
    main()
