//! Checks of elements: cantilevers, modes, conformance of bodies in motion.

use nalgebra::{DMatrix, Isometry3, Rotation3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::conformance::{check_body, check_dynamics};
use pliant_contact_sap::{BodyState, Control, DeformableModel, Dynamics, StepInput};
use pliant_fem::{Axis, Element, FemBody, FemBuilder, LawKind, Region};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::mesh::{TetMesh, TetOptions};

use super::{Alone, GRAVITY, UNDAMPED, built, place};

/// Steps so long that inertia is negligible.
pub(crate) const STATIC_S: f64 = 1e4;

/// A beam of 1 × 0.1 × 0.1 m with `n` cells across, its inner vertices perturbed by up to `crooked` cells.
pub(crate) fn beam(n: u32, crooked: f64) -> TetMesh {
    let half = Vector3::new(0.5, 0.05, 0.05);
    let straight = tet_cuboid(half, [10 * n, n, n]).unwrap();
    let cell = 0.1 / f64::from(n);
    let moved = straight.vertices().iter().enumerate().map(|(i, p)| {
        // Vertices of the surface stay on it.
        Vector3::from_fn(|k, _| {
            let inside = p[k].abs() < half[k] - 1e-9;
            let shift = crooked * cell * ((7 * i + 3 * k) as f64 * 2.399).sin();
            if inside { p[k] + shift } else { p[k] }
        })
    });
    let tets = straight.tets().iter().map(|t| t.map(|v| v.0)).collect();
    TetMesh::build(moved.collect(), tets, &TetOptions::default())
        .unwrap()
        .0
}

/// Tip deflection of such a beam under its own weight, clamped at one end, over that of Timoshenko's beam: ρgA L⁴/8EI + ρgA L²/2κGA with
/// κ = 5/6.
pub(crate) fn deflection(element: Element, mesh: TetMesh, law: LawKind, nu: f64) -> f64 {
    let (E, q, side) = (1e9, 1000.0 * 9.81 * 0.01, 0.1_f64);
    let G = E / (2.0 * (1.0 + nu));
    let bending = q / (8.0 * E * side.powi(4) / 12.0);
    let exact = bending + q / (2.0 * 5.0 / 6.0 * G * side * side);
    let material = law.of(Lame::from_young_poisson(E, nu).unwrap()).unwrap();
    let wall = Region::HalfSpace {
        point: Vector3::new(-0.5, 0.0, 0.0),
        normal: Vector3::x(),
    };
    let builder = FemBuilder::new(mesh, material, 1000.0).damping(UNDAMPED);
    let body = built(builder.element(element).fix(wall, &Axis::ALL));
    let mut state = body.default_state();
    let mut alone = Alone::new(&body, STATIC_S).under(GRAVITY);
    alone.steps(&mut state, 3);
    let tip = body.mesh().vertices().iter().enumerate();
    let tip: Vec<f64> = tip
        .filter(|(_, p)| p.x > 0.5 - 1e-9)
        .map(|(i, p)| p.z - place(&state, i).z)
        .collect();
    tip.iter().sum::<f64>() / tip.len() as f64 / exact
}

/// A of a free body at rest over M, for steps of one second: 1 + ω² of each mode.
pub(crate) fn modes(body: &FemBody) -> Vec<f64> {
    let control = Control::default();
    let mut step = body.new_step();
    let input = StepInput::new(1.0, Vector3::zeros(), &control);
    step.begin(&body.default_state(), &input).unwrap();
    step.linearise_start(&mut Vec::new()).unwrap();
    let dynamics: &dyn Dynamics = step.dynamics();
    let n = step.start_velocity().len();
    let mut a = DMatrix::zeros(n, n);
    let mut x = vec![0.0; n];
    for j in 0..n {
        x[j] = 1.0;
        dynamics.apply(&x, a.column_mut(j).as_mut_slice());
        x[j] = 0.0;
    }
    let root = |i: usize| body.vertex_masses()[i / 3].sqrt();
    let scaled = DMatrix::from_fn(n, n, |i, j| a[(i, j)] / (root(i) * root(j)));
    let mut modes: Vec<f64> = scaled.symmetric_eigenvalues().iter().copied().collect();
    modes.sort_by(f64::total_cmp);
    modes
}

/// Rotated, perturbed, in motion; in a plane if the body is.
pub(crate) fn perturbed(body: &FemBody, in_plane: bool) -> BodyState {
    let turn = match in_plane {
        true => Rotation3::new(Vector3::z() * 0.8),
        false => Rotation3::new(Vector3::new(0.4, -0.7, 1.1)),
    };
    let pose = Isometry3::from_parts(Vector3::new(0.1, -0.2, 0.3).into(), turn.into());
    let spin = Vector3::new(0.0, 0.0, 3.0);
    let mut state = body.rigid_state(&pose, &spin, &Vector3::x());
    for (i, (q, v)) in state.q.iter_mut().zip(&mut state.v).enumerate() {
        if !in_plane || i % 3 != 2 {
            *q += 2e-3 * (1.7 * i as f64).sin();
            *v += 0.2 * (2.3 * i as f64).cos();
        }
    }
    state
}

#[track_caller]
pub(crate) fn check(builder: FemBuilder, in_plane: bool) {
    let body = built(builder);
    let control = Control::default();
    let input = StepInput {
        time_step: 2e-3.into(),
        gravity: GRAVITY,
        control: &control,
    };
    let state = perturbed(&body, in_plane);
    check_body(&body, &state, &input).unwrap();
    let mut step = body.new_step();
    step.begin(&state, &input).unwrap();
    step.linearise_start(&mut Vec::new()).unwrap();
    check_dynamics(step.dynamics()).unwrap();
}
