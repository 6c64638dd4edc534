//! Gradient and Hessian of the elastic energy, against hyper-dual numbers at the reference state and away from it, and
//! against an L-shaped rod computed by hand.

use nalgebra::{DMatrix, Point3, Vector3};
use pliant_contact_sap::{BodyState, DeformableModel};

use super::hyper_dual::HyperDual;
use super::plain_energy::PlainRod;
use super::{Comparison, Comparisons};
use crate::{
    Centreline, Closure, NaturalShape, NaturalStrain, Rod, RodBuilder, RodError, RodProperties,
};

/// The k-th of a sequence of quasi-random numbers in (−`size`, `size`).
fn perturbation(k: usize, size: f64) -> f64 {
    size * (12.9898 * (k as f64 + 1.0).powi(2)).sin()
}

/// An irregular, anisotropic, naturally curved and twisted rod with nonzero material angles.
fn irregular_rod(closure: Closure) -> Result<(Rod, BodyState, PlainRod), RodError> {
    let edges = 6;
    let mut line = match closure {
        Closure::Open => Centreline::helix(0.5, 0.6, 0.7, edges),
        Closure::Closed => Centreline::circle(0.5, edges),
    };
    for (i, p) in line.nodes.iter_mut().enumerate() {
        *p += Vector3::from_fn(|k, _| perturbation(3 * i + k, 0.05));
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
        .build()?;
    let mut state = rod.default_state();
    for i in 0..rod.n_edges() {
        state.q[4 * i + 3] += perturbation(100 + i, 0.4);
    }
    let n = line.nodes.len();
    let n_edges = rod.n_edges();
    let (mut tangents, mut directors) = (Vec::new(), Vec::new());
    for i in 0..n_edges {
        let axes = rod.material_frame(&state, i)?;
        let (sin, cos) = state.q[4 * i + 3].sin_cos();
        let (m_1, m_2) = (axes * Vector3::x(), axes * Vector3::y());
        tangents.push((line.nodes[(i + 1) % n] - line.nodes[i]).normalize());
        directors.push(m_1 * cos - m_2 * sin);
    }
    let plain = PlainRod {
        closure,
        n_nodes: n,
        properties,
        natural,
        rest: (0..n_edges).map(|i| rod.rest_length(i)).collect(),
        tangents,
        directors,
    };
    Ok((rod, state, plain))
}

/// Errors of energy, gradient and Hessian, relative to their largest entries, with all unknowns displaced by up to
/// `displacement`.
fn errors(closure: Closure, displacement: f64) -> Result<[f64; 3], RodError> {
    let (rod, mut state, plain) = irregular_rod(closure)?;
    for (i, q) in state.q.iter_mut().enumerate() {
        *q += perturbation(200 + i, displacement);
    }
    let n = state.q.len();
    let gradient = rod.energy_gradient(&state)?;
    let hessian = rod.energy_hessian(&state)?;
    let mut q: Vec<HyperDual> = state.q.iter().map(|x| HyperDual::constant(*x)).collect();
    let energy = plain.energy(&q).re;
    let of_energy = (rod.elastic_energy(&state)?.total() / energy - 1.0).abs();
    let (mut of_gradient, mut of_hessian) = (0.0_f64, 0.0_f64);
    for i in 0..n {
        for j in 0..=i {
            q[i].e1 = 1.0;
            q[j].e2 = 1.0;
            let exact = plain.energy(&q);
            q[i].e1 = 0.0;
            q[j].e2 = 0.0;
            of_gradient = of_gradient.max((exact.e1 - gradient[i]).abs());
            of_hessian = of_hessian.max((exact.e12 - hessian[j * n + i]).abs());
        }
    }
    let size = |values: &[f64]| values.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    Ok([
        of_energy,
        of_gradient / size(&gradient),
        of_hessian / size(&hessian),
    ])
}

/// Energy, gradient and Hessian of an open and a closed rod against hyper-dual numbers.
///
/// # Errors
/// None.
pub fn derivatives() -> Comparisons {
    let mut comparisons = Vec::new();
    for (what, closure) in [
        ("an open rod", Closure::Open),
        ("a closed rod", Closure::Closed),
    ] {
        // Edges are 0.5 m long: the second displacement rotates them by up to half a radian.
        for (state, displacement) in [("at the reference state", 0.0), ("away from it", 0.12)] {
            let found = errors(closure, displacement)?;
            for (of, found) in ["energy", "gradient", "Hessian"].into_iter().zip(found) {
                comparisons.push(Comparison {
                    what: format!("relative error of the {of} of {what} {state}"),
                    found,
                    expected: 0.0,
                    tolerance: 1e-12,
                    source: "hyper-dual numbers of the energy of Bergou et al. (2008, 2010)",
                });
            }
        }
    }
    Ok(comparisons)
}

/// Two edges of length 1 at a right angle, both with m1 along z but for the angles 0.3 and −0.2.
fn l_shaped(bend_1: f64, bend_2: f64, twist: f64) -> Result<(Rod, BodyState), RodError> {
    let line = Centreline {
        nodes: vec![
            Point3::origin(),
            Point3::new(1.0, 0.0, 0.0),
            Point3::new(1.0, 1.0, 0.0),
        ],
        closure: Closure::Open,
    };
    let rod = RodBuilder::new(line)
        .properties(RodProperties {
            stretch: 1e-13,
            bend_1,
            bend_2,
            twist,
            mass: 1.0,
            spin_inertia: 1.0,
        })
        .director(Vector3::z())
        .build()?;
    let mut state = rod.default_state();
    state.q[3] = 0.3;
    state.q[7] = -0.2;
    Ok((rod, state))
}

const BY_HAND: &str = "an L-shaped rod, computed by hand";

fn by_hand(what: String, found: f64, expected: f64, tolerance: f64) -> Comparison {
    Comparison {
        what,
        found,
        expected,
        tolerance,
        source: BY_HAND,
    }
}

/// Strains, energies and derivatives of a rod of two edges.
///
/// # Errors
/// None.
pub fn l_shaped_rod() -> Comparisons {
    let mut comparisons = Vec::new();
    let (rod, state) = l_shaped(2.0, 1.0, 0.0)?;
    let [k_1, k_2] = rod.strains(&state)?.curvature[0];
    comparisons.push(by_hand(
        "curvature 1 of an L".into(),
        k_1,
        -0.09685088,
        1e-8,
    ));
    comparisons.push(by_hand(
        "curvature 2 of an L".into(),
        k_2,
        -1.93540307,
        1e-8,
    ));
    let bend = rod.elastic_energy(&state)?.bend;
    comparisons.push(by_hand(
        "bending energy of an L".into(),
        bend,
        1.882272608,
        1e-9,
    ));
    let of_bending = [
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
    let gradient = rod.energy_gradient(&state)?;
    for (i, (found, expected)) in gradient.iter().zip(of_bending).enumerate() {
        let what = format!("entry {i} of the gradient of an L that bends");
        comparisons.push(by_hand(what, *found, expected, 1e-10));
    }
    let hessian = rod.energy_hessian(&state)?;
    for (i, j, expected) in [
        (3, 3, 0.0064638547),
        (3, 7, 1.8138759255),
        (7, 7, 0.1021892338),
    ] {
        let what = format!("entry {i}, {j} of the Hessian of an L that bends");
        comparisons.push(by_hand(what, hessian[11 * i + j], expected, 1e-10));
    }
    let lowest = DMatrix::from_column_slice(11, 11, &hessian)
        .symmetric_eigenvalues()
        .min();
    let what = "lowest eigenvalue of an L that bends".into();
    comparisons.push(by_hand(what, lowest, -6.842203, 1e-6));

    let (rod, state) = l_shaped(0.0, 0.0, 3.0)?;
    let tau = rod.strains(&state)?.twist[0];
    comparisons.push(by_hand("twist of an L".into(), tau, -0.5, 1e-15));
    let twist = rod.elastic_energy(&state)?.twist;
    comparisons.push(by_hand(
        "twisting energy of an L".into(),
        twist,
        0.375,
        1e-15,
    ));
    let of_twisting = [0.0, 0.0, 1.5, 1.5, 0.0, 0.0, 0.0, -1.5, 0.0, 0.0, -1.5];
    let gradient = rod.energy_gradient(&state)?;
    for (i, (found, expected)) in gradient.iter().zip(of_twisting).enumerate() {
        let what = format!("entry {i} of the gradient of an L that twists");
        comparisons.push(by_hand(what, *found, expected, 1e-12));
    }
    Ok(comparisons)
}
