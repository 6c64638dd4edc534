//! Gradient and Hessian of the elastic energy against hyper-dual numbers of the energy written down plainly, at the anchor
//! of the frames and away from it.

use crate::support::hyper_dual::HyperDual;
use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, DeformableModel};
use pliant_der::{
    Centreline, Closure, NaturalShape, NaturalStrain, Rod, RodBuilder, RodProperties,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type H = HyperDual;
type V = [H; 3];

fn constant(v: &Vector3<f64>) -> V {
    [v.x, v.y, v.z].map(H::constant)
}
fn dot(a: &V, b: &V) -> H {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: &V, b: &V) -> V {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
fn times(a: &V, s: H) -> V {
    a.map(|x| x * s)
}
fn plus(a: &V, b: &V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
fn minus(a: &V, b: &V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
fn transport(t_0: &V, t: &V, v: &V) -> V {
    let (w, c) = (cross(t_0, t), dot(t_0, t));
    let along = times(&w, dot(&w, v) / (H::constant(1.0) + c));
    plus(&plus(&times(v, c), &cross(&w, v)), &along)
}

/// A rod as the plain energy sees it.
struct Plain {
    closure: Closure,
    n_nodes: usize,
    properties: RodProperties,
    natural: NaturalStrain,
    rest: Vec<f64>,
    tangents: Vec<Vector3<f64>>,
    directors: Vec<Vector3<f64>>,
}

impl Plain {
    fn energy(&self, q: &[H]) -> H {
        let n = self.n_nodes;
        let n_edges = self.rest.len();
        let x = |i: usize| -> V { [q[4 * i], q[4 * i + 1], q[4 * i + 2]] };
        let half = H::constant(0.5);
        let mut energy = H::constant(0.0);
        let mut frames = Vec::new();
        for i in 0..n_edges {
            let e = minus(&x((i + 1) % n), &x(i));
            let l = dot(&e, &e).sqrt();
            let t = times(&e, H::constant(1.0) / l);
            let strain = l * (1.0 / self.rest[i]) - H::constant(1.0);
            energy = energy + strain * strain * (0.5 * self.properties.stretch * self.rest[i]);
            let d_1 = transport(
                &constant(&self.tangents[i]),
                &t,
                &constant(&self.directors[i]),
            );
            let d_2 = cross(&t, &d_1);
            let (sin, cos) = (q[4 * i + 3].sin(), q[4 * i + 3].cos());
            let m_1 = plus(&times(&d_1, cos), &times(&d_2, sin));
            let m_2 = minus(&times(&d_2, cos), &times(&d_1, sin));
            frames.push((t, d_1, m_1, m_2));
        }
        let joints = match self.closure {
            Closure::Open => n_edges - 1,
            Closure::Closed => n_edges,
        };
        for j in 0..joints {
            let (a, b) = (j, (j + 1) % n_edges);
            let ((t, d_a, m_1a, m_2a), (u, d_b, m_1b, m_2b)) = (&frames[a], &frames[b]);
            let v = 0.5 * (self.rest[a] + self.rest[b]);
            let chi = H::constant(1.0) + dot(t, u);
            let kappa = times(&cross(t, u), H::constant(2.0) / chi);
            let k_1 = dot(&kappa, &plus(m_2a, m_2b)) * half;
            let k_2 = -(dot(&kappa, &plus(m_1a, m_1b)) * half);
            let carried = transport(t, u, d_a);
            let beta = dot(u, &cross(&carried, d_b)).atan2(dot(&carried, d_b));
            let tau = q[4 * b + 3] - q[4 * a + 3] + beta;
            let NaturalStrain {
                curvature_1,
                curvature_2,
                twist_rate,
            } = self.natural;
            let size = curvature_1.hypot(curvature_2);
            let scale = 2.0 * (0.5 * size * v).tan() / size;
            let off = |s: H, natural: f64| {
                let d = s - H::constant(natural);
                d * d
            };
            energy = energy
                + off(k_1, curvature_1 * scale) * (0.5 * self.properties.bend_1 / v)
                + off(k_2, curvature_2 * scale) * (0.5 * self.properties.bend_2 / v)
                + off(tau, twist_rate * v) * (0.5 * self.properties.twist / v);
        }
        energy
    }
}

/// A crooked, anisotropic, naturally curved and twisted rod with all angles off zero.
fn crooked(closure: Closure) -> (Rod, BodyState, Plain) {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let edges = 6;
    let mut line = match closure {
        Closure::Open => Centreline::helix(0.5, 0.6, 0.7, edges),
        Closure::Closed => Centreline::circle(0.5, edges),
    };
    for p in &mut line.nodes {
        *p += Vector3::from_fn(|_, _| rng.random_range(-0.05..0.05));
    }
    let properties = RodProperties {
        stretch: 40.0,
        bend_1: 2.0,
        bend_2: 0.7,
        twist: 1.3,
        mass: 1.0,
        spin_inertia: 0.1,
    };
    let natural = NaturalStrain {
        curvature_1: 0.8,
        curvature_2: -0.5,
        twist_rate: 0.6,
    };
    let rod = RodBuilder::new(line.clone())
        .properties(properties)
        .natural_shape(NaturalShape::Uniform(natural))
        .rest_length_scale(0.97)
        .build()
        .unwrap();
    let mut state = rod.default_state();
    for i in 0..rod.n_edges() {
        state.q[4 * i + 3] += rng.random_range(-0.4..0.4);
    }
    let n = line.nodes.len();
    let n_edges = rod.n_edges();
    let (mut tangents, mut directors) = (Vec::new(), Vec::new());
    for i in 0..n_edges {
        let axes = rod.material_frame(&state, i).unwrap();
        let (sin, cos) = state.q[4 * i + 3].sin_cos();
        let (m_1, m_2) = (axes * Vector3::x(), axes * Vector3::y());
        tangents.push((line.nodes[(i + 1) % n] - line.nodes[i]).normalize());
        directors.push(m_1 * cos - m_2 * sin);
    }
    let plain = Plain {
        closure,
        n_nodes: n,
        properties,
        natural,
        rest: (0..n_edges).map(|i| rod.rest_length(i)).collect(),
        tangents,
        directors,
    };
    (rod, state, plain)
}

#[track_caller]
fn check(closure: Closure, displacement: f64) {
    let (rod, mut state, plain) = crooked(closure);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for q in &mut state.q {
        *q += displacement * rng.random_range(-1.0..1.0);
    }
    let n = state.q.len();
    let gradient = rod.energy_gradient(&state).unwrap();
    let hessian = rod.energy_hessian(&state).unwrap();
    let mut q: Vec<H> = state.q.iter().map(|x| H::constant(*x)).collect();
    let energy = plain.energy(&q).re;
    let found = rod.elastic_energy(&state).unwrap().total();
    assert!((found - energy).abs() < 1e-13 * energy, "{found} {energy}");
    let (mut worst_gradient, mut worst_hessian) = (0.0_f64, 0.0_f64);
    for i in 0..n {
        for j in 0..=i {
            q[i].e1 = 1.0;
            q[j].e2 = 1.0;
            let exact = plain.energy(&q);
            q[i].e1 = 0.0;
            q[j].e2 = 0.0;
            worst_gradient = worst_gradient.max((exact.e1 - gradient[i]).abs());
            worst_hessian = worst_hessian.max((exact.e12 - hessian[j * n + i]).abs());
        }
    }
    let size = |values: &[f64]| values.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let (g, h) = (
        worst_gradient / size(&gradient),
        worst_hessian / size(&hessian),
    );
    assert!(g < 1e-12, "gradient off by {g:e} of itself");
    assert!(h < 1e-12, "Hessian off by {h:e} of itself");
}

#[test]
fn gradient_and_hessian_are_exact_at_the_anchor() {
    check(Closure::Open, 0.0);
    check(Closure::Closed, 0.0);
}

#[test]
fn gradient_and_hessian_are_exact_far_from_the_anchor() {
    // An edge has 0.5 m: these turn it by up to half a radian.
    check(Closure::Open, 0.12);
    check(Closure::Closed, 0.12);
}

/// Section 13 of the notes this crate was checked against: numbers of an L-shaped rod.
fn l_shaped(bend_1: f64, bend_2: f64, twist: f64) -> (Rod, BodyState) {
    let line = Centreline {
        nodes: vec![
            Point3::origin(),
            Point3::new(1.0, 0.0, 0.0),
            Point3::new(1.0, 1.0, 0.0),
        ],
        closure: Closure::Open,
    };
    let properties = RodProperties {
        stretch: 1e-13,
        bend_1,
        bend_2,
        twist,
        mass: 1.0,
        spin_inertia: 1.0,
    };
    let rod = RodBuilder::new(line)
        .properties(properties)
        .director(Vector3::z())
        .build()
        .unwrap();
    let mut state = rod.default_state();
    state.q[3] = 0.3;
    state.q[7] = -0.2;
    (rod, state)
}

#[track_caller]
fn check_numbers(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() < tolerance, "entry {i}: {f} instead of {e}");
    }
}

#[test]
fn an_l_shaped_rod_has_the_bending_derivatives_computed_by_hand() {
    let (rod, state) = l_shaped(2.0, 1.0, 0.0);
    let strains = rod.strains(&state).unwrap();
    check_numbers(&strains.curvature[0], &[-0.09685088, -1.93540307], 1e-8);
    let energy = rod.elastic_energy(&state).unwrap();
    assert!((energy.bend - 1.882272608).abs() < 1e-9);
    let gradient = rod.energy_gradient(&state).unwrap();
    let expected = [
        0.0,
        3.7645452159,
        -0.5743458451,
        -0.3869003629,
        3.7645452159,
        -3.7645452159,
        0.1874454822,
        0.5743458451,
        -3.7645452159,
        0.0,
        0.3869003629,
    ];
    check_numbers(&gradient, &expected, 1e-10);
    let hessian = rod.energy_hessian(&state).unwrap();
    let angles = [
        hessian[3 * 11 + 3],
        hessian[3 * 11 + 7],
        hessian[7 * 11 + 7],
    ];
    check_numbers(&angles, &[0.0064638547, 1.8138759255, 0.1021892338], 1e-10);
    let lowest = nalgebra::DMatrix::from_column_slice(11, 11, &hessian)
        .symmetric_eigenvalues()
        .min();
    assert!((lowest + 6.842203).abs() < 1e-6, "{lowest}");
}

#[test]
fn an_l_shaped_rod_has_the_twisting_derivatives_computed_by_hand() {
    let (rod, state) = l_shaped(0.0, 0.0, 3.0);
    assert!((rod.strains(&state).unwrap().twist[0] + 0.5).abs() < 1e-15);
    assert!((rod.elastic_energy(&state).unwrap().twist - 0.375).abs() < 1e-15);
    let gradient = rod.energy_gradient(&state).unwrap();
    let expected = [0.0, 0.0, 1.5, 1.5, 0.0, 0.0, 0.0, -1.5, 0.0, 0.0, -1.5];
    check_numbers(&gradient, &expected, 1e-12);
}
