//! Force fields that depend on position.

use std::sync::Arc;

use crate::support::{Alone, UNDAMPED, built, corotated, place};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_contact_sap::{BodyState, DeformableModel};
use pliant_fem::{FemBody, FemBuilder, ForceField};
use pliant_hydroelastic::mesh::generate::tet_cuboid;

const DENSITY: f64 = 1000.0;

/// Kx + f.
#[derive(Debug)]
struct Linear {
    slope: Matrix3<f64>,
    at_origin: Vector3<f64>,
}

impl ForceField for Linear {
    fn force_density(&self, p_WQ: &Point3<f64>) -> Vector3<f64> {
        self.slope * p_WQ.coords + self.at_origin
    }
}

/// A box of 0.12 × 0.08 × 0.06 m in a field.
fn body(field: impl ForceField + 'static) -> FemBody {
    let mesh = tet_cuboid(Vector3::new(0.06, 0.04, 0.03), [3, 2, 2]).unwrap();
    let builder = FemBuilder::new(mesh, corotated(1e6, 0.3), DENSITY).damping(UNDAMPED);
    let pose = Isometry3::new(Vector3::new(0.4, -0.2, 0.3), Vector3::new(0.5, 0.2, -0.9));
    built(builder.pose(pose).force_field(Arc::new(field)))
}

fn center_of_mass(body: &FemBody, state: &BodyState) -> Vector3<f64> {
    let mut moving = state.clone();
    // L = c × m v of a body in translation, by each axis.
    let mut center = Vector3::zeros();
    for axis in 0..3 {
        let v = Vector3::ith(axis, 1.0);
        moving
            .v
            .chunks_exact_mut(3)
            .for_each(|of| of.copy_from_slice(v.as_slice()));
        let angular = body.energy(&moving, &Vector3::zeros()).angular_momentum_W;
        center += v.cross(&angular) / (2.0 * body.mass());
    }
    center
}

#[test]
fn a_field_that_is_linear_in_position_has_the_exact_integral() {
    let slope = Matrix3::new(3.0, 1.0, 0.0, -2.0, 0.5, 4.0, 0.0, 1.5, -2.5) * 1e3;
    let at_origin = Vector3::new(100.0, -50.0, 20.0);
    let body = body(Linear { slope, at_origin });
    let mut state = body.default_state();
    let center = center_of_mass(&body, &state);
    assert!(
        (center - Vector3::new(0.4, -0.2, 0.3)).norm() < 1e-12,
        "{center}"
    );
    let dt = 1e-3;
    Alone::new(&body, dt).step(&mut state);
    let momentum = body.energy(&state, &Vector3::zeros());
    let volume = body.mass() / DENSITY;
    // ∫ f dV, and ∫ x × f dV = c × ∫ f dV and what the spread Σ = ∫ (x − c)(x − c)ᵀ dV gives: the axial vector of KΣ.
    let force = (slope * center + at_origin) * volume;
    let error = (momentum.linear_momentum_W / dt - force).norm();
    assert!(error < 1e-9 * force.norm(), "{error:e} of {force}");
    let start = body.default_state();
    let mut torque = Vector3::zeros();
    let n = body.mesh().vertices().len();
    let masses = {
        // Of each vertex, by its momentum.
        let mut alone = start.clone();
        (0..n).map(move |i| {
            alone.v.fill(0.0);
            alone.v[3 * i] = 1.0;
            alone.clone()
        })
    };
    for (i, moving) in masses.enumerate() {
        let mass = body.energy(&moving, &Vector3::zeros()).linear_momentum_W.x;
        let p = place(&start, i);
        torque += p.cross(&(slope * p + at_origin)) * (mass / DENSITY);
    }
    let error = (momentum.angular_momentum_W / dt - torque).norm();
    assert!(error < 1e-6 * torque.norm(), "{error:e} of {torque}");
}

#[test]
fn a_body_tethered_by_a_field_swings_at_its_frequency() {
    // −kx per m³ on ρ: ω² = k/ρ at any position and orientation.
    let k = 4e4;
    let omega = (k / DENSITY).sqrt();
    let body = body(Linear {
        slope: Matrix3::from_diagonal_element(-k),
        at_origin: Vector3::zeros(),
    });
    let mut state = body.default_state();
    let start = center_of_mass(&body, &state);
    let n = 4000;
    let dt = std::f64::consts::TAU / omega / f64::from(n);
    let mut alone = Alone::new(&body, dt);
    alone.steps(&mut state, n as usize / 2);
    let half = center_of_mass(&body, &state);
    // The force of a step is that of its start: symplectic, off by (ω Δt)².
    assert!(
        (half + start).norm() < 1e-3 * start.norm(),
        "{half} {start}"
    );
    alone.steps(&mut state, n as usize / 2);
    let whole = center_of_mass(&body, &state);
    assert!(
        (whole - start).norm() < 2e-3 * start.norm(),
        "{whole} {start}"
    );
}
