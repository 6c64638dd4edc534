"""The problem that all simulators here run: a cube of elastic particles that falls freely. Start, constants, timing and checks.

Eight particles a cell on a lattice, quadratic splines, APIC, moving-least-squares gradients, symplectic Euler, single precision.
`--stretch 0.05` starts the cube stretched by 5 % along x, `--spin 10` with 10 rad/s about z, so that its stress is not zero.
"""

import argparse
import json
import time

import numpy as np

SPACING = 0.02  # of the grid, m
DISTANCE = SPACING / 2  # of particles, m
DENSITY = 400.0  # kg/m3
YOUNG, POISSON = 1e5, 0.4  # of the foam cube of Zong, Jiang and Han (2024)
MU, LAMBDA = YOUNG / (2 + 2 * POISSON), YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
VOLUME = DISTANCE**3  # of a particle, m3
MASS = DENSITY * VOLUME
G = 9.81
DT = 1e-4  # a ninth of the time in which an elastic wave crosses a cell, s


class Cube:
    """The options of the command line, and the state at the start."""

    def __init__(self, about):
        parser = argparse.ArgumentParser(description=about)
        parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
        parser.add_argument("--edge", type=int, default=46, help="particles along an edge")
        parser.add_argument("--substeps", type=int, default=100)
        parser.add_argument("--law", choices=["neo-hookean", "fixed-corotated"], default="neo-hookean")
        parser.add_argument("--stretch", type=float, default=0.0, help="strain along x at the start")
        parser.add_argument("--spin", type=float, default=0.0, help="angular velocity about z at the start, rad/s")
        parser.add_argument("--order", choices=["lattice", "cells"], default="lattice", help="of particles in memory")
        for name, value in vars(parser.parse_args()).items():
            setattr(self, name, value)
        line = DISTANCE * (np.arange(self.edge) + 0.5)
        rest = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
        if self.order == "cells":
            cell = np.floor(rest / SPACING).astype(int)
            rest = rest[np.lexsort((cell[:, 2], cell[:, 1], cell[:, 0]))]
        self.count = len(rest)
        side = DISTANCE * self.edge
        reach = G * (DT * self.substeps) ** 2 / 2 + side * (abs(self.stretch) + 0.25 * (self.spin != 0))
        margin = 3 + int(np.ceil(reach / SPACING))  # cells between the cube and the end of the grid
        self.nodes = self.edge // 2 + 1 + 2 * margin  # along an edge of the grid
        self.F0 = np.diag([1 + self.stretch, 1.0, 1.0])
        self.C0 = np.array([[0, -self.spin, 0], [self.spin, 0, 0], [0, 0, 0]])  # velocity gradient
        r = (rest - side / 2) @ self.F0.T
        self.x0 = (r + side / 2 + margin * SPACING).astype(np.float32)
        self.v0 = (r @ self.C0.T).astype(np.float32)

    def many(self, matrix):
        """The same matrix for every particle."""
        return np.tile(matrix.astype(np.float32), (self.count, 1, 1))

    def elastic_energy(self, F):
        """Of all particles, J."""
        F = F.astype(np.float64)
        s, J = np.linalg.svd(F, compute_uv=False), np.linalg.det(F)
        if self.law == "neo-hookean":
            density = MU / 2 * ((s**2).sum(axis=1) - 3) - MU * np.log(J) + LAMBDA / 2 * np.log(J) ** 2
        else:
            density = MU * ((s - 1) ** 2).sum(axis=1) + LAMBDA / 2 * (J - 1) ** 2
        return VOLUME * density.sum()

    def measure(self, simulator, version, reset, step, finish, result, dt=DT, **more):
        """Times all substeps after one that warms up, and prints one line of JSON.

        `reset` puts the start into place, `step` begins a substep, `finish` waits for all of them, and `result` returns x, v, C and F
        as arrays; F may be None. Kinetic energy and angular momentum include those of the velocity gradient C (APIC).
        """
        reset()
        step()
        finish()
        reset()
        finish()
        begun, busy = time.perf_counter(), time.process_time()
        for _ in range(self.substeps):
            step()
        finish()
        seconds, busy = time.perf_counter() - begun, time.process_time() - busy
        x, v, C, F = result()
        x, v, C = x.astype(np.float64), v.astype(np.float64), C.astype(np.float64)
        t = dt * self.substeps
        fall = G * dt * dt * self.substeps * (self.substeps + 1) / 2  # of symplectic Euler
        momentum = MASS * (v.sum(axis=0) - self.v0.sum(axis=0, dtype=np.float64))
        expected = np.array([0, 0, -G * t * MASS * self.count])
        centre = x.mean(axis=0)
        away = v - v.mean(axis=0)
        said = {
            "simulator": simulator,
            "version": version,
            "device": self.device,
            "law": self.law,
            "particles": self.count,
            "substeps": self.substeps,
            "dt_s": dt,
            "seconds": round(seconds, 4),
            "processor_seconds": round(busy, 4),
            "million_particle_substeps_a_second": round(1e-6 * self.count * self.substeps / seconds, 3),
            "velocity_m_s": v[:, 2].mean(),
            "velocity_expected_m_s": -G * t,
            "momentum_error": np.linalg.norm(momentum - expected) / np.linalg.norm(expected),
            "fall_error": abs(self.x0[:, 2].mean(dtype=np.float64) - centre[2] - fall) / fall,
            "kinetic_energy_about_centre_J": MASS / 2 * ((away**2).sum() + SPACING**2 / 4 * (C**2).sum()),
            "angular_momentum_z": MASS * (np.cross(x - centre, v)[:, 2] + SPACING**2 / 4 * (C[:, 1, 0] - C[:, 0, 1])).sum(),
            "elastic_energy_at_start_J": self.elastic_energy(self.F0[None]) * self.count,
        }
        if F is not None:
            said["elastic_energy_J"] = self.elastic_energy(F)
        print(json.dumps(said | more))
