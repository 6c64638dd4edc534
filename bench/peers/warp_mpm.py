"""The cube of `cube.py` in NVIDIA Warp: scatter with atomic additions, nodes, gather; on a GPU the kernels of a substep are one graph."""

import warp as wp
from cube import DT, G, LAMBDA, MASS, MU, SPACING, VOLUME, Cube

cube = Cube(__doc__)
wp.config.log_level = wp.LOG_WARNING
wp.init()
FOUR = 4 / SPACING**2  # inverse of the second moment of quadratic splines


@wp.func
def neo_hookean(A: wp.mat33):
    one = wp.identity(n=3, dtype=float)
    return MU * (A * wp.transpose(A) - one) + LAMBDA * wp.log(wp.determinant(A)) * one


@wp.func
def fixed_corotated(A: wp.mat33):
    one = wp.identity(n=3, dtype=float)
    U, _, V = wp.svd3(A)
    J = wp.determinant(A)
    return 2.0 * MU * (A - U * wp.transpose(V)) * wp.transpose(A) + LAMBDA * J * (J - 1.0) * one


kirchhoff_stress = neo_hookean if cube.law == "neo-hookean" else fixed_corotated


@wp.func
def base_of(x: wp.vec3):
    return wp.vec3i(int(x[0] / SPACING - 0.5), int(x[1] / SPACING - 0.5), int(x[2] / SPACING - 0.5))


@wp.func
def splines(f: wp.vec3):
    a, b, c = wp.vec3(1.5) - f, f - wp.vec3(1.0), f - wp.vec3(0.5)
    return wp.matrix_from_cols(0.5 * wp.cw_mul(a, a), wp.vec3(0.75) - wp.cw_mul(b, b), 0.5 * wp.cw_mul(c, c))


@wp.kernel
def scatter(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    C: wp.array(dtype=wp.mat33),
    F: wp.array(dtype=wp.mat33),
    node_v: wp.array3d(dtype=wp.vec3),
    node_m: wp.array3d(dtype=float),
):
    p = wp.tid()
    base = base_of(x[p])
    f = x[p] / SPACING - wp.vec3(base)
    w = splines(f)
    affine = MASS * C[p] - DT * VOLUME * FOUR * kirchhoff_stress(F[p])
    for a in range(3):
        for b in range(3):
            for c in range(3):
                arm = SPACING * (wp.vec3(float(a), float(b), float(c)) - f)
                weight = w[0, a] * w[1, b] * w[2, c]
                wp.atomic_add(node_v, base[0] + a, base[1] + b, base[2] + c, weight * (MASS * v[p] + affine * arm))
                wp.atomic_add(node_m, base[0] + a, base[1] + b, base[2] + c, weight * MASS)


@wp.kernel
def nodes(node_v: wp.array3d(dtype=wp.vec3), node_m: wp.array3d(dtype=float)):
    i, j, k = wp.tid()
    if node_m[i, j, k] > 0.0:
        node_v[i, j, k] = node_v[i, j, k] / node_m[i, j, k] - wp.vec3(0.0, 0.0, DT * G)


@wp.kernel
def gather(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    C: wp.array(dtype=wp.mat33),
    F: wp.array(dtype=wp.mat33),
    node_v: wp.array3d(dtype=wp.vec3),
):
    p = wp.tid()
    base = base_of(x[p])
    f = x[p] / SPACING - wp.vec3(base)
    w = splines(f)
    mean = wp.vec3(0.0)
    gradient = wp.mat33(0.0)
    for a in range(3):
        for b in range(3):
            for c in range(3):
                arm = SPACING * (wp.vec3(float(a), float(b), float(c)) - f)
                part = w[0, a] * w[1, b] * w[2, c] * node_v[base[0] + a, base[1] + b, base[2] + c]
                mean += part
                gradient += FOUR * wp.outer(part, arm)
    v[p] = mean
    C[p] = gradient
    x[p] = x[p] + DT * mean
    F[p] = F[p] + DT * gradient * F[p]


with wp.ScopedDevice(cube.device):
    x = wp.zeros(cube.count, dtype=wp.vec3)
    v = wp.zeros(cube.count, dtype=wp.vec3)
    C = wp.zeros(cube.count, dtype=wp.mat33)
    F = wp.zeros(cube.count, dtype=wp.mat33)
    grid = (cube.nodes, cube.nodes, cube.nodes)
    node_v = wp.zeros(grid, dtype=wp.vec3)
    node_m = wp.zeros(grid, dtype=float)

    def reset():
        x.assign(cube.x0)
        v.assign(cube.v0)
        C.assign(cube.many(cube.C0))
        F.assign(cube.many(cube.F0))

    def substep():
        node_v.zero_()
        node_m.zero_()
        wp.launch(scatter, cube.count, [x, v, C, F, node_v, node_m])
        wp.launch(nodes, grid, [node_v, node_m])
        wp.launch(gather, cube.count, [x, v, C, F, node_v])

    step = substep
    if cube.device == "cuda":
        wp.load_module()
        with wp.ScopedCapture() as capture:
            substep()

        def step():
            wp.capture_launch(capture.graph)

    def result():
        return x.numpy(), v.numpy(), C.numpy(), F.numpy()

    cube.measure("warp", wp.__version__, reset, step, wp.synchronize_device, result, name=wp.get_device().name)
