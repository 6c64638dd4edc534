//! Force fields that depend on position.

use std::sync::Arc;

use crate::support::{Alone, UNDAMPED, built, corotated};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel, StepInput};
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

fn pose() -> Isometry3<f64> {
    Isometry3::new(Vector3::new(0.4, -0.2, 0.3), Vector3::new(0.5, 0.2, -0.9))
}

/// A box of 0.12 × 0.08 × 0.06 m in a field.
fn body(field: impl ForceField + 'static) -> FemBody {
    let mesh = tet_cuboid(Vector3::new(0.06, 0.04, 0.03), [3, 2, 2]).unwrap();
    let builder = FemBuilder::new(mesh, corotated(1e6, 0.3), DENSITY).damping(UNDAMPED);
    built(builder.pose(pose()).force_field(Arc::new(field)))
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
    // ∫ (x − c)(x − c)ᵀ dV of the box.
    let pose = pose();
    let R = pose.rotation.to_rotation_matrix();
    let squares = Vector3::new(0.12, 0.08, 0.06).map(|side: f64| side * side / 12.0);
    let spread = R.matrix() * Matrix3::from_diagonal(&squares) * R.matrix().transpose() * volume;
    let S = slope * spread;
    let axial = Vector3::new(
        S[(2, 1)] - S[(1, 2)],
        S[(0, 2)] - S[(2, 0)],
        S[(1, 0)] - S[(0, 1)],
    );
    let torque = center.cross(&force) + axial;
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

/// A pulse f₀ exp(−|x − c|²/w²) along z.
#[derive(Debug)]
struct Pulse {
    center: Point3<f64>,
    width: f64,
}

const PEAK: f64 = 1e6;

impl Pulse {
    /// ∫ f dV over all space, N.
    fn force(&self) -> f64 {
        PEAK * (std::f64::consts::PI * self.width * self.width).powf(1.5)
    }

    fn at_distance(&self, r: f64) -> f64 {
        PEAK * (-(r / self.width).powi(2)).exp()
    }
}

impl ForceField for Pulse {
    fn force_density(&self, p_WQ: &Point3<f64>) -> Vector3<f64> {
        Vector3::z() * self.at_distance((p_WQ - self.center).norm())
    }

    fn bounds(&self, low: &Point3<f64>, high: &Point3<f64>) -> Option<[Vector3<f64>; 2]> {
        let nearest = self.center.coords.sup(&low.coords).inf(&high.coords);
        let (to_low, to_high) = (low - self.center, high - self.center);
        let farthest = to_low.abs().sup(&to_high.abs());
        let of = |r: f64| Vector3::z() * self.at_distance(r);
        Some([
            of(farthest.norm()),
            of((nearest - self.center.coords).norm()),
        ])
    }
}

/// Force and torque about the origin of a field on a cube of 0.1 m, and the warnings of the step.
fn wrench(
    cells: u32,
    field: impl ForceField + 'static,
) -> (Vector3<f64>, Vector3<f64>, Vec<String>) {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [cells; 3]).unwrap();
    let builder = FemBuilder::new(mesh, corotated(1e6, 0.3), DENSITY).damping(UNDAMPED);
    let body = built(builder.force_field(Arc::new(field)));
    let (state, control) = (body.default_state(), Control::default());
    let mut step = body.new_step();
    let dt = 1e-4;
    step.begin(&state, &StepInput::new(dt, Vector3::zeros(), &control))
        .unwrap();
    let mut v = Vec::new();
    step.linearise_start(&mut v).unwrap();
    let (mut force, mut torque) = (Vector3::zeros(), Vector3::zeros());
    let impulses = step.dynamics().right_hand_side().chunks_exact(3);
    for (f, x) in impulses.zip(state.q.chunks_exact(3)) {
        let f = Vector3::from_column_slice(f) / dt;
        force += f;
        torque += Vector3::from_column_slice(x).cross(&f);
    }
    let warnings = step
        .advance(&v, &mut BodyState::default())
        .unwrap()
        .warnings;
    (force, torque, warnings)
}

#[test]
fn a_pulse_narrower_than_an_element_has_its_whole_force_and_torque() {
    for cells in [1, 2, 3, 4, 7] {
        for (width, center) in [
            (0.01, [0.0, 0.0, 0.0]),
            (0.01, [0.013, -0.004, 0.007]),
            (0.002, [0.013, -0.004, 0.007]),
            (0.002, [-0.02, 0.011, 0.0]),
        ] {
            let center = Point3::from(center);
            let pulse = Pulse { center, width };
            let whole = pulse.force();
            let (force, torque, warnings) = wrench(cells, pulse);
            let ratio = force.z / whole;
            let of = format!("{cells} cells, {width} m at {center}: {ratio}");
            assert!((ratio - 1.0).abs() < 2e-3, "{of}");
            let error = torque - center.coords.cross(&(Vector3::z() * whole));
            assert!(error.norm() < 2e-3 * whole * 0.05, "{of}: {error}");
            let narrow = width < 0.3 * 0.1 / f64::from(cells);
            let warned = warnings
                .iter()
                .any(|w| w.contains("narrower than the elements"));
            assert!(warned || !narrow, "{of}: {warnings:?}");
        }
    }
}

#[test]
fn a_pulse_wider_than_the_elements_is_not_warned_of() {
    let pulse = Pulse {
        center: Point3::new(0.01, 0.0, -0.02),
        width: 0.05,
    };
    let (_, _, warnings) = wrench(4, pulse);
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_layer_far_thinner_than_all_pieces_is_warned_of() {
    /// 1 within 1 µm of a plane, without bounds.
    #[derive(Debug)]
    struct Layer;
    impl ForceField for Layer {
        fn force_density(&self, p_WQ: &Point3<f64>) -> Vector3<f64> {
            Vector3::z() * f64::from(p_WQ.z.abs() < 1e-6)
        }

        fn bounds(&self, low: &Point3<f64>, high: &Point3<f64>) -> Option<[Vector3<f64>; 2]> {
            let crosses = low.z < 1e-6 && high.z > -1e-6;
            Some([Vector3::zeros(), Vector3::z() * f64::from(crosses)])
        }
    }
    let (_, _, warnings) = wrench(3, Layer);
    assert!(
        warnings.iter().any(|w| w.contains("changes too fast")),
        "{warnings:?}"
    );
}
