"""Particles to the grid and back, one thread: pliant beside its baselines (pip install taichi warp-lang).

    cargo build --release -p pliant-bench --bin pliant-bench
    python bench/baselines/transfers.py [--rounds N] [PARTICLES ALONG AN EDGE]

A cube of neo-Hookean material, eight particles a cell, quadratic splines, moving least squares, single precision: stress and scatter,
momentum to velocity, gather and update of x and F, as in the published examples of both baselines, with atomic additions. Particles lie
in the order of the grid's cells from the start and hardly move. Best of the rounds of each (processor time of the baselines, wall time of pliant), in turns, millions of
particle-substeps a second.
"""

import os
import subprocess
import sys
import time

import numpy as np

YOUNG, POISSON = 1e3, 0.3
MU, LAMBDA = YOUNG / (2 + 2 * POISSON), YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
DT = 1e-3
STEPS = 20


def places(edge):
    """Two particles a cell along each axis, spacing 1, off the walls of the baselines' grids."""
    k = np.arange(edge)
    line = 0.5 * k + 0.25 + 0.05 * (k % 3) + 4.0
    x, y, z = np.meshgrid(line, line, line, indexing="ij")
    x = np.stack([x, y, z], axis=-1).reshape(-1, 3).astype(np.float32)
    cell = np.floor(x).astype(int)
    order = np.lexsort((cell[:, 2], cell[:, 1], cell[:, 0]))
    return x[order], edge // 2 + 9


def best(step, finish, rounds, count):
    step()
    finish()
    shortest = float("inf")
    for _ in range(rounds):
        begun = time.process_time()
        for _ in range(STEPS):
            step()
        finish()
        shortest = min(shortest, (time.process_time() - begun) / STEPS)
    return count / shortest * 1e-6


def taichi(edge, rounds):
    import taichi as ti

    ti.init(arch=ti.cpu, cpu_max_num_threads=1, default_fp=ti.f32, log_level=ti.ERROR, random_seed=1)
    start, n = places(edge)
    count = len(start)
    x = ti.Vector.field(3, ti.f32, count)
    v = ti.Vector.field(3, ti.f32, count)
    c = ti.Matrix.field(3, 3, ti.f32, count)
    f = ti.Matrix.field(3, 3, ti.f32, count)
    grid_v = ti.Vector.field(3, ti.f32, (n, n, n))
    grid_m = ti.field(ti.f32, (n, n, n))
    x.from_numpy(start)
    v.from_numpy(np.tile(np.float32([0.01, 0.0, -0.02]), (count, 1)))
    f.from_numpy(np.tile(np.eye(3, dtype=np.float32), (count, 1, 1)))

    @ti.kernel
    def substep():
        for i in ti.grouped(grid_m):
            grid_v[i] = [0.0, 0.0, 0.0]
            grid_m[i] = 0.0
        for p in x:
            base = (x[p] - 0.5).cast(int)
            fx = x[p] - base
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            j = f[p].determinant()
            tau = MU * (f[p] @ f[p].transpose() - ti.Matrix.identity(ti.f32, 3))
            tau += LAMBDA * ti.log(j) * ti.Matrix.identity(ti.f32, 3)
            affine = -DT * 0.125 * 4.0 * tau + 0.125 * c[p]
            for i, k, l in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, k, l])
                arm = offset.cast(ti.f32) - fx
                weight = w[i].x * w[k].y * w[l].z
                grid_v[base + offset] += weight * (0.125 * v[p] + affine @ arm)
                grid_m[base + offset] += weight * 0.125
        for i in ti.grouped(grid_m):
            if grid_m[i] > 0:
                grid_v[i] /= grid_m[i]
        for p in x:
            base = (x[p] - 0.5).cast(int)
            fx = x[p] - base
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            new_v = ti.Vector.zero(ti.f32, 3)
            new_c = ti.Matrix.zero(ti.f32, 3, 3)
            for i, k, l in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, k, l])
                arm = offset.cast(ti.f32) - fx
                g = grid_v[base + offset]
                weight = w[i].x * w[k].y * w[l].z
                new_v += weight * g
                new_c += 4.0 * weight * g.outer_product(arm)
            v[p], c[p] = new_v, new_c
            x[p] += DT * new_v
            f[p] += DT * new_c @ f[p]

    return best(substep, ti.sync, rounds, count)


def warp(edge, rounds):
    import warp as wp

    wp.config.quiet = True
    wp.init()
    start, n = places(edge)
    count = len(start)

    @wp.func
    def weights(fx: wp.vec3):
        a, b, c = wp.vec3(1.5) - fx, fx - wp.vec3(1.0), fx - wp.vec3(0.5)
        return wp.matrix_from_cols(
            wp.cw_mul(a, a) * 0.5, wp.vec3(0.75) - wp.cw_mul(b, b), wp.cw_mul(c, c) * 0.5
        )

    @wp.kernel
    def scatter(
        x: wp.array(dtype=wp.vec3),
        v: wp.array(dtype=wp.vec3),
        c: wp.array(dtype=wp.mat33),
        f: wp.array(dtype=wp.mat33),
        grid_v: wp.array(dtype=wp.vec3, ndim=3),
        grid_m: wp.array(dtype=float, ndim=3),
    ):
        p = wp.tid()
        bx, by, bz = int(x[p][0] - 0.5), int(x[p][1] - 0.5), int(x[p][2] - 0.5)
        fx = x[p] - wp.vec3(float(bx), float(by), float(bz))
        w = weights(fx)
        one = wp.identity(n=3, dtype=float)
        tau = MU * (f[p] * wp.transpose(f[p]) - one) + LAMBDA * wp.log(wp.determinant(f[p])) * one
        affine = (-DT * 0.125 * 4.0) * tau + 0.125 * c[p]
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    arm = wp.vec3(float(i), float(j), float(k)) - fx
                    weight = w[0, i] * w[1, j] * w[2, k]
                    wp.atomic_add(grid_v, bx + i, by + j, bz + k, weight * (0.125 * v[p] + affine * arm))
                    wp.atomic_add(grid_m, bx + i, by + j, bz + k, weight * 0.125)

    @wp.kernel
    def divide(grid_v: wp.array(dtype=wp.vec3, ndim=3), grid_m: wp.array(dtype=float, ndim=3)):
        i, j, k = wp.tid()
        if grid_m[i, j, k] > 0.0:
            grid_v[i, j, k] = grid_v[i, j, k] / grid_m[i, j, k]

    @wp.kernel
    def gather(
        x: wp.array(dtype=wp.vec3),
        v: wp.array(dtype=wp.vec3),
        c: wp.array(dtype=wp.mat33),
        f: wp.array(dtype=wp.mat33),
        grid_v: wp.array(dtype=wp.vec3, ndim=3),
    ):
        p = wp.tid()
        bx, by, bz = int(x[p][0] - 0.5), int(x[p][1] - 0.5), int(x[p][2] - 0.5)
        fx = x[p] - wp.vec3(float(bx), float(by), float(bz))
        w = weights(fx)
        new_v = wp.vec3(0.0)
        new_c = wp.mat33(0.0)
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    arm = wp.vec3(float(i), float(j), float(k)) - fx
                    g = grid_v[bx + i, by + j, bz + k] * (w[0, i] * w[1, j] * w[2, k])
                    new_v += g
                    new_c += 4.0 * wp.outer(g, arm)
        v[p] = new_v
        c[p] = new_c
        x[p] = x[p] + DT * new_v
        f[p] = f[p] + DT * new_c * f[p]

    with wp.ScopedDevice("cpu"):
        x = wp.array(start, dtype=wp.vec3)
        v = wp.array(np.tile(np.float32([0.01, 0.0, -0.02]), (count, 1)), dtype=wp.vec3)
        c = wp.zeros(count, dtype=wp.mat33)
        f = wp.array(np.tile(np.eye(3, dtype=np.float32), (count, 1, 1)), dtype=wp.mat33)
        grid_v = wp.zeros((n, n, n), dtype=wp.vec3)
        grid_m = wp.zeros((n, n, n), dtype=float)

        def step():
            grid_v.zero_()
            grid_m.zero_()
            wp.launch(scatter, count, [x, v, c, f, grid_v, grid_m])
            wp.launch(divide, (n, n, n), [grid_v, grid_m])
            wp.launch(gather, count, [x, v, c, f, grid_v])

        return best(step, lambda: None, rounds, count)


def pliant(edge):
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    program = os.path.join(target, "release", "pliant-bench")
    command = [program, "mpm", "transfers", str(edge)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line for line in said.splitlines() if "Mls: both" in line]
    return {line.split()[0]: float(line.split("both ")[1].split(",")[0]) for line in lines}


if __name__ == "__main__":
    arguments = sys.argv[1:]
    rounds = 3
    if arguments[:1] == ["--rounds"]:
        rounds = int(arguments[1])
        arguments = arguments[2:]
    edge = int(arguments[0]) if arguments else 46
    ours, theirs = {}, {"Taichi": 0.0, "Warp": 0.0}
    for _ in range(rounds):
        for name, value in pliant(edge).items():
            ours[name] = max(ours.get(name, 0.0), value)
        theirs["Taichi"] = max(theirs["Taichi"], taichi(edge, 2))
        theirs["Warp"] = max(theirs["Warp"], warp(edge, 2))
    print(f"{edge**3} particles, one thread, millions of particle-substeps a second")
    print(f"pliant f32 {ours['f32']:.1f}, f64 {ours['f64']:.1f}")
    for name, value in theirs.items():
        print(f"{name} f32 {value:.2f}: pliant is {ours['f32'] / value:.1f} times as fast")
