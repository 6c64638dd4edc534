"""A metre of rubber, clamped at one end, falls and swings: pliant beside its baselines (pip install pyelastica "mujoco<4").

    cargo build --release -p pliant-der --example swinging_rod
    python bench/baselines/cables.py [--rounds N] [ELEMENTS ...]

Radius 5 mm, 1000 kg/m3, E 1 MPa, one thread, processor time. PyElastica takes the longest step that its Cosserat rod stays
finite with (it goes with the element's length), MuJoCo's cable the longest of a list; the rate is simulated over processor
time. The engines take turns; the best of several rounds counts.
"""

import os
import subprocess
import sys
import time

for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

LENGTH, RADIUS, DENSITY, MODULUS = 1.0, 5e-3, 1000.0, 1e6
SECONDS = 0.3


def report(name, elements, step, steps, cpu, what=""):
    rate = step * steps / cpu
    print(f"{name:12} {elements:5} elements  dt {step:.1e} s  {1e6 * cpu / steps:10.1f} us a step  rate {rate:8.3f} {what}")


def pliant(elements):
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    program = os.path.join(target, "release", "examples", "swinging_rod")
    lines = subprocess.run([program, str(elements)], check=True, capture_output=True, text=True).stdout.splitlines()
    microseconds = float(lines[1].split()[1])
    report("pliant", elements, 1e-3, 300, 300e-6 * microseconds)


def elastica(elements):
    import elastica as ea

    class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Forcing, ea.Damping):
        pass

    step = 3.2e-4 * 100 / elements
    simulator = Simulator()
    rod = ea.CosseratRod.straight_rod(
        elements,
        np.zeros(3),
        np.array([1.0, 0.0, 0.0]),
        np.array([0.0, 1.0, 0.0]),
        LENGTH,
        RADIUS,
        DENSITY,
        youngs_modulus=MODULUS,
        shear_modulus=MODULUS / 3.0,
    )
    simulator.append(rod)
    simulator.constrain(rod).using(
        ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
    )
    simulator.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array([0.0, 0.0, -9.81]))
    simulator.finalize()
    stepper = ea.PositionVerlet()
    now = np.float64(0.0)
    for _ in range(50):  # compiles
        now = stepper.step(simulator, now, np.float64(step))
    steps = max(200, int(min(SECONDS / step, 4000)))
    begun = time.process_time()
    for _ in range(steps):
        now = stepper.step(simulator, now, np.float64(step))
    cpu = time.process_time() - begun
    finite = bool(np.isfinite(rod.position_collection).all())
    report("PyElastica", elements, step, steps, cpu, "" if finite else "NOT FINITE")


CABLE = """
<mujoco>
  <extension><plugin plugin="mujoco.elasticity.cable"/></extension>
  <option timestep="{step}" integrator="implicitfast" gravity="0 0 -9.81"/>
  <size memory="256M"/>
  <worldbody>
    <composite type="cable" curve="s" count="{count} 1 1" size="{length}" initial="none">
      <plugin plugin="mujoco.elasticity.cable">
        <config key="twist" value="{shear}"/>
        <config key="bend" value="{modulus}"/>
      </plugin>
      <geom type="capsule" size="{radius}" density="{density}" contype="0" conaffinity="0"/>
    </composite>
  </worldbody>
</mujoco>
"""


def cable(elements):
    import mujoco

    for step in (2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5):
        text = CABLE.format(
            step=step,
            count=elements + 1,
            length=LENGTH,
            shear=MODULUS / 3.0,
            modulus=MODULUS,
            radius=RADIUS,
            density=DENSITY,
        )
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        steps = int(SECONDS / step)
        begun = time.process_time()
        for _ in range(steps):
            mujoco.mj_step(model, data)
        cpu = time.process_time() - begun
        # Unstable runs are reset by MuJoCo with a warning.
        if np.isfinite(data.qpos).all() and not any(w.number for w in data.warning):
            report("MuJoCo", elements, step, steps, cpu)
            return
    print(f"MuJoCo       {elements:5} elements: no step of the list is stable")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    rounds = 1
    if arguments[:1] == ["--rounds"]:
        rounds = int(arguments[1])
        arguments = arguments[2:]
    wanted = [int(n) for n in arguments] or [100, 1000]
    for _ in range(rounds):
        for n in wanted:
            pliant(n)
            elastica(n)
            # Its cost for an element grows with the length: nobody waits for a thousand.
            if n <= 100:
                cable(n)
