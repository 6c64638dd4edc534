//! A bar of silicone in tension: laws fitted to measured curves, and a bar of finite elements that reproduces them.
//!
//! The measurements (Marechal et al. 2020) are not part of this repository; without them the test is skipped.

use std::sync::Arc;

use crate::shared_data::shared;
use crate::support::{Alone, UNDAMPED, built, place};
use nalgebra::{DMatrix, DVector, Vector3};
use pliant_constitutive::MooneyRivlin;
use pliant_contact_sap::DeformableModel;
use pliant_fem::{Axis, FemBody, FemBuilder, Region};
use pliant_hydroelastic::mesh::TetIdx;
use pliant_hydroelastic::mesh::generate::tet_cuboid;

const SILICONES: [&str; 4] = [
    "Dragon_Skin_10_MEDIUM",
    "Dragon_Skin_30",
    "Ecoflex_00-30",
    "RTV615",
];

/// Engineering strain and stress (Pa) up to strain 1.
fn measured(name: &str) -> Option<Vec<[f64; 2]>> {
    let path = shared(&format!("data/measured/elastomer_tension/{name}.csv"))?;
    let text = std::fs::read(path).expect("a readable file");
    let text = String::from_utf8_lossy(&text);
    let rows = text.lines().filter_map(|line| {
        let numbers: Vec<f64> = line
            .split(';')
            .filter_map(|cell| cell.trim().parse().ok())
            .collect();
        (numbers.len() == 5).then(|| [numbers[3], 1e6 * numbers[4]])
    });
    Some(
        rows.filter(|[strain, _]| (0.0..1.0).contains(strain))
            .collect(),
    )
}

/// C₁ and C₂ ≥ 0 of the incompressible P = 2(λ − λ⁻²)(C₁ + C₂/λ), by least squares.
fn fitted(curve: &[[f64; 2]]) -> [f64; 2] {
    let column = |f: fn(f64) -> f64| {
        DVector::from_iterator(curve.len(), curve.iter().map(|[strain, _]| f(1.0 + strain)))
    };
    let first = column(|l| 2.0 * (l - l.powi(-2)));
    let second = column(|l| 2.0 * (l - l.powi(-2)) / l);
    let stress = DVector::from_iterator(curve.len(), curve.iter().map(|[_, stress]| *stress));
    let both = DMatrix::from_columns(&[first.clone(), second]);
    let c = both.svd(true, true).solve(&stress, 1e-12).unwrap();
    if c[0] > 0.0 && c[1] >= 0.0 {
        return [c[0], c[1]];
    }
    [first.dot(&stress) / first.norm_squared(), 0.0]
}

/// A quarter of a specimen of 33 × 6 × 3 mm between its planes of symmetry.
fn specimen(c: [f64; 2]) -> FemBody {
    let half = Vector3::new(0.0165, 0.0015, 0.00075);
    let mesh = tet_cuboid(half, [8, 2, 1]).unwrap();
    // Nearly incompressible: K a hundred times the shear modulus. The bar is in uniform strain, where nothing locks.
    let law = MooneyRivlin::new(c[0], c[1], 200.0 * (c[0] + c[1])).unwrap();
    let face = |axis: usize| {
        let mut normal = Vector3::zeros();
        normal[axis] = 1.0;
        Region::HalfSpace {
            point: -half,
            normal,
        }
    };
    let builder = FemBuilder::new(mesh, Arc::new(law), 1070.0).damping(UNDAMPED);
    built(
        builder
            .fix(face(0), &[Axis::X])
            .fix(face(1), &[Axis::Y])
            .fix(face(2), &[Axis::Z]),
    )
}

#[test]
fn a_bar_of_silicone_follows_the_measured_curve() {
    for name in SILICONES {
        let Some(curve) = measured(name) else { return };
        assert!(curve.len() > 20, "{name}: {} points", curve.len());
        let c = fitted(&curve);
        let body = specimen(c);
        let mut state = body.default_state();
        let right = Region::HalfSpace {
            point: Vector3::x() * 0.0165,
            normal: -Vector3::x(),
        };
        let right = right.vertices(body.mesh(), "the jaw").unwrap();
        // Stretched to twice its length in fifty increments, with rest after each.
        let mut alone = Alone::new(&body, 1e3);
        let (mut square, mut scale, mut count) = (0.0, 0.0, 0);
        for _ in 0..50 {
            let speed = 0.033 / 50.0 / 1e3;
            alone.control = body.holding(&right, &[Axis::X], &(Vector3::x() * speed));
            alone.step(&mut state);
            alone.control = body.holding(&right, &[Axis::X], &Vector3::zeros());
            alone.steps(&mut state, 3);
            let stretch = (place(&state, right[0] as usize).x + 0.0165) / 0.033;
            let F = body.deformation_gradient(&state, TetIdx(3));
            // P = det F · σ F⁻ᵀ.
            let stress = body.cauchy_stress(&state, TetIdx(3));
            let pull = (F.determinant() * stress * F.try_inverse().unwrap().transpose())[(0, 0)];
            let exact = 2.0 * (stretch - stretch.powi(-2)) * (c[0] + c[1] / stretch);
            assert!(
                (pull / exact - 1.0).abs() < 0.02,
                "{name} at {stretch}: {pull} {exact}"
            );
            let near = curve.iter().min_by(|a, b| {
                let apart = |p: &[f64; 2]| (p[0] + 1.0 - stretch).abs();
                apart(a).total_cmp(&apart(b))
            });
            let [_, real] = near.unwrap();
            square += (pull - real).powi(2);
            scale = real.max(scale);
            count += 1;
        }
        let error = (square / f64::from(count)).sqrt() / scale;
        eprintln!(
            "{name}: C1 {:.3e}, C2 {:.3e} Pa, E {:.3e} Pa at rest; bar against measurement {:.1} % rms of the largest stress",
            c[0],
            c[1],
            6.0 * (c[0] + c[1]),
            100.0 * error
        );
        assert!(error < 0.1, "{name}: {error}");
    }
}
