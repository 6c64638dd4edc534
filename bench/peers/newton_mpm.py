"""The cube of `cube.py` in Newton's implicit material point solver: quadratic splines, APIC, one implicit solve in each time step.

Not the same method: the steps are implicit, ten times as long by default, the law is of the elastic strain that the solver keeps, and its strains
are constant in each cell.
"""

import newton
import warp as wp
from cube import G, MASS, POISSON, SPACING, YOUNG, Cube
from newton.solvers import SolverImplicitMPM

DT = 1e-3

wp.config.log_level = wp.LOG_WARNING
cube = Cube(__doc__)
with wp.ScopedDevice(cube.device):
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, -G))
    SolverImplicitMPM.register_custom_attributes(builder)
    # The radius of a particle is half of the edge of its cube: its volume follows from it.
    radius = SPACING / 4
    n = cube.count
    builder.add_particles(cube.x0.tolist(), cube.v0.tolist(), [MASS] * n, [radius] * n)
    model = builder.finalize()
    material = {"young_modulus": YOUNG, "poisson_ratio": POISSON, "tensile_yield_ratio": 1.0, "yield_pressure": 1e15}
    for name, value in material.items():
        getattr(model.mpm, name).fill_(value)
    # The numerical drag of the air is left at its default: without it, quadratic splines give numbers that are not finite (1.8.0).
    config = SolverImplicitMPM.Config(voxel_size=SPACING, velocity_basis="B2", transfer_scheme="apic")
    solver = SolverImplicitMPM(model, config)
    first, second = model.state(), model.state()

    def reset():
        global first, second
        first, second = model.state(), model.state()
        first.mpm.particle_qd_grad.assign(cube.many(cube.C0))

    def step():
        global first, second
        solver.step(first, second, None, None, DT)
        first, second = second, first

    def result():
        return first.particle_q.numpy(), first.particle_qd.numpy(), first.mpm.particle_qd_grad.numpy(), None

    more = {"law": "elastic strain of Newton", "warp": wp.__version__, "name": wp.get_device().name}
    cube.measure("newton", newton.__version__, reset, step, wp.synchronize_device, result, dt=DT, **more)
