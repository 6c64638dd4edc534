"""The cube of `cube.py` in Taichi: scatter with atomic additions, nodes, gather, in one kernel of three parallel loops."""

import contextlib
import os
import sys

os.environ["ENABLE_TAICHI_HEADER_PRINT"] = "0"
import taichi as ti  # noqa: E402
from cube import DT, G, LAMBDA, MASS, MU, SPACING, VOLUME, Cube

cube = Cube(__doc__)
arch = {"cpu": ti.cpu, "cuda": ti.cuda}[cube.device]
with contextlib.redirect_stdout(sys.stderr):
    ti.init(arch=arch, cpu_max_num_threads=1, default_fp=ti.f32, log_level=ti.ERROR)
# Without a GPU, Taichi goes on with the processor.
assert ti.lang.impl.current_cfg().arch == arch, f"no device for {cube.device}"

n = cube.nodes
x = ti.Vector.field(3, ti.f32, cube.count)
v = ti.Vector.field(3, ti.f32, cube.count)
C = ti.Matrix.field(3, 3, ti.f32, cube.count)
F = ti.Matrix.field(3, 3, ti.f32, cube.count)
node_v = ti.Vector.field(3, ti.f32, (n, n, n))
node_m = ti.field(ti.f32, (n, n, n))
NEO_HOOKEAN = cube.law == "neo-hookean"
FOUR = 4 / SPACING**2  # inverse of the second moment of quadratic splines


@ti.func
def kirchhoff_stress(A):
    one = ti.Matrix.identity(ti.f32, 3)
    J = A.determinant()
    tau = one
    if ti.static(NEO_HOOKEAN):
        tau = MU * (A @ A.transpose() - one) + LAMBDA * ti.log(J) * one
    else:
        U, _, V = ti.svd(A)
        tau = 2 * MU * (A - U @ V.transpose()) @ A.transpose() + LAMBDA * J * (J - 1) * one
    return tau


@ti.func
def splines(f):
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@ti.kernel
def substep():
    for i in ti.grouped(node_m):
        node_v[i] = [0.0, 0.0, 0.0]
        node_m[i] = 0.0
    for p in x:
        base = ti.cast(x[p] / SPACING - 0.5, ti.i32)
        f = x[p] / SPACING - base
        w = splines(f)
        affine = MASS * C[p] - DT * VOLUME * FOUR * kirchhoff_stress(F[p])
        for a, b, c in ti.static(ti.ndrange(3, 3, 3)):
            offset = ti.Vector([a, b, c])
            weight = w[a][0] * w[b][1] * w[c][2]
            node_v[base + offset] += weight * (MASS * v[p] + affine @ (offset - f) * SPACING)
            node_m[base + offset] += weight * MASS
    for i in ti.grouped(node_m):
        if node_m[i] > 0:
            node_v[i] /= node_m[i]
            node_v[i][2] -= DT * G
    for p in x:
        base = ti.cast(x[p] / SPACING - 0.5, ti.i32)
        f = x[p] / SPACING - base
        w = splines(f)
        mean = ti.Vector.zero(ti.f32, 3)
        gradient = ti.Matrix.zero(ti.f32, 3, 3)
        for a, b, c in ti.static(ti.ndrange(3, 3, 3)):
            offset = ti.Vector([a, b, c])
            part = w[a][0] * w[b][1] * w[c][2] * node_v[base + offset]
            mean += part
            gradient += FOUR * SPACING * part.outer_product(offset - f)
        v[p], C[p] = mean, gradient
        x[p] += DT * mean
        F[p] += DT * gradient @ F[p]


def reset():
    x.from_numpy(cube.x0)
    v.from_numpy(cube.v0)
    C.from_numpy(cube.many(cube.C0))
    F.from_numpy(cube.many(cube.F0))


def result():
    return x.to_numpy(), v.to_numpy(), C.to_numpy(), F.to_numpy()


cube.measure("taichi", ".".join(map(str, ti.__version__)), reset, substep, ti.sync, result)
