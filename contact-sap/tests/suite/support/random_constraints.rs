//! Random contacts and rows between the bodies of a scene.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use pliant_contact_sap::{
    Bilateral, BlockFactors, ConstraintLabel, ConstraintSet, ContactLaw, ContactParameters,
    Dissipation, FrictionLimit, Lagged, Limit, NEAR_RIGID_CONTACT, NEAR_RIGID_SIMILAR,
    NormalPrediction, ParticipantIdx, PdActuator, PdCommand, PdGains, RowKind, RowLaw, Rows, Sap,
    Similar,
};
use rand::RngExt;

use super::{
    Body, BodyKind, Extras, Models, PlainContact, PlainRow, Random, Recipe, Scene, Stiffness,
    TIME_STEP_S, twist_interpolation, unit_vector, vector,
};

/// Six rows of a twist of `body` at a random point, or three of one of its points.
fn random_rows(random: &mut Random, body: &Body, n_rows: usize, rows: &mut Rows) {
    let n = body.dynamics.n_dofs();
    rows.reset(n_rows);
    match body.kind {
        BodyKind::Rigid if n_rows == 6 => {
            let p = vector(random, 0.3);
            let b = rows.dense(0, 6, 0, 6);
            for i in 0..6 {
                b[i * 6 + i] = 1.0;
            }
            let s = -p.cross_matrix();
            for j in 0..3 {
                for i in 0..3 {
                    b[j * 6 + 3 + i] = s[(i, j)];
                }
            }
        }
        BodyKind::Vertices(count) => {
            for k in 0..n_rows / 3 {
                let vertex = random.random_range(0..count);
                rows.identity(3 * k, 3 * vertex, 3);
            }
        }
        _ => {
            for b in rows.dense(0, n_rows, 0, n) {
                *b = random.random_range(-1.0f64..1.0);
            }
        }
    }
}

/// Interpolation of the contacts of a basis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Twist,
    /// Three points, and a twist after them.
    Stencil,
    Dense,
}

/// Fills `set` with one basis without constraints and returns its M = B D⁻¹Bᵀ.
fn basis_inertia(
    parts: &[(usize, Rows, usize, f64)],
    n_rows: usize,
    factors: &mut BlockFactors,
) -> DMatrix<f64> {
    let mut set = ConstraintSet::default();
    let mut basis = set.basis(n_rows);
    for (participant, rows, first, scale) in parts {
        basis.rows(ParticipantIdx(*participant), rows, *first, *scale);
    }
    let mut m = Vec::new();
    basis.delassus(factors, &mut m);
    DMatrix::from_column_slice(n_rows, n_rows, &m)
}

/// B over all velocities.
fn dense_basis(parts: &[(usize, Rows, usize, f64)], n_rows: usize, scene: &Scene) -> DMatrix<f64> {
    let mut b = DMatrix::zeros(n_rows, scene.n_dofs());
    for (participant, rows, first, scale) in parts {
        let n = |body: &Body| body.dynamics.n_dofs();
        let first_dof: usize = scene.bodies[..*participant].iter().map(n).sum();
        let n = n(&scene.bodies[*participant]);
        for j in 0..n {
            let mut v = vec![0.0; n];
            let mut u = vec![0.0; rows.n_rows()];
            v[j] = 1.0;
            rows.apply(&v, &mut u);
            for (i, u) in u.iter().enumerate() {
                b[(first + i, first_dof + j)] += scale * u;
            }
        }
    }
    b
}

pub(super) fn add_contacts(
    random: &mut Random,
    recipe: &Recipe,
    scene: &mut Scene,
    factors: &mut BlockFactors,
) {
    let n = scene.bodies.len();
    let shape = match random.random_range(0..4) {
        0 | 1 => Shape::Twist,
        2 => Shape::Stencil,
        _ => Shape::Dense,
    };
    let n_rows = match shape {
        Shape::Twist => 6,
        Shape::Stencil => 15,
        Shape::Dense => 5,
    };
    // One to three participants, sometimes the same one twice.
    let mut parts: Vec<(usize, Rows, usize, f64)> = Vec::new();
    for k in 0..random.random_range(1..=3) {
        let participant = match parts.first() {
            Some(first) if random.random_range(0..6) == 0 => first.0,
            _ => random.random_range(0..n),
        };
        let scale = if k == 0 { 1.0 } else { -1.0 };
        let body = &scene.bodies[participant];
        let mut rows = Rows::default();
        if shape == Shape::Stencil {
            random_rows(random, body, 9, &mut rows);
            parts.push((participant, rows, 0, scale));
            let mut rows = Rows::default();
            random_rows(random, body, 6, &mut rows);
            parts.push((participant, rows, 9, scale));
        } else {
            random_rows(random, body, n_rows - n_rows % 3, &mut rows);
            parts.push((participant, rows, 0, scale));
        }
    }
    let m = basis_inertia(&parts, n_rows, factors);

    let b = dense_basis(&parts, n_rows, scene);
    let u0 = &b * DVector::from_column_slice(&scene.v0);

    let mut basis = scene.set.basis(n_rows);
    for (participant, rows, first, scale) in &parts {
        basis.rows(ParticipantIdx(*participant), rows, *first, *scale);
    }
    let count = random.random_range(1..=recipe.contacts_per_basis);
    let normal = unit_vector(random);
    let center = vector(random, 0.3);
    for k in 0..count {
        // Points of a patch share a normal; sometimes another opposes it, or repeats a point.
        let n_W = match random.random_range(0..8) {
            0 => -normal,
            1 => unit_vector(random),
            _ => normal,
        };
        let p = center + vector(random, if k % 3 == 2 { 0.0 } else { 0.1 });
        let weights: Vec<f64> = (0..3).map(|_| random.random_range(0.0f64..0.5)).collect();
        let dense: Vec<f64> = (0..3 * n_rows)
            .map(|_| random.random_range(-1.0f64..1.0))
            .collect();
        let with_twist = random.random_range(0..2) == 0;
        let phi = match shape {
            Shape::Twist => twist_interpolation(&p),
            Shape::Stencil => {
                let mut phi = DMatrix::zeros(3, n_rows);
                for (k, w) in weights.iter().enumerate() {
                    phi.view_mut((0, 3 * k), (3, 3))
                        .copy_from(&(Matrix3::identity() * *w));
                }
                if with_twist {
                    phi.view_mut((0, 9), (3, 6))
                        .copy_from(&twist_interpolation(&p));
                }
                phi
            }
            Shape::Dense => DMatrix::from_column_slice(3, n_rows, &dense),
        };
        let w = (&phi * &m * phi.transpose()).norm() / 3.0;
        if w <= 1e-12 * m.norm() {
            continue;
        }
        let v_c0 = &phi * &u0;
        let v_n0 = n_W.dot(&Vector3::new(v_c0[0], v_c0[1], v_c0[2]));
        let (law, parameters, n0) = random_law(random, recipe, n_W, v_n0, w);
        let bias = if random.random_range(0..5) == 0 {
            vector(random, 1.0)
        } else {
            Vector3::zeros()
        };
        scene.contacts.push(PlainContact {
            j: &phi * &b,
            bias,
            law: law.clone(),
            normal: n_W,
            parameters,
            n0,
        });
        match shape {
            Shape::Twist => basis.twist_contact(p, bias, law),
            Shape::Stencil => {
                let p = if with_twist { Some(p) } else { None };
                basis.stencil_contact(weights, p, bias, law)
            }
            Shape::Dense => basis.dense_contact(&dense, bias, law),
        };
    }
}

fn random_law(
    random: &mut Random,
    recipe: &Recipe,
    normal_W: Vector3<f64>,
    v_n0: f64,
    w: f64,
) -> (ContactLaw, ContactParameters, f64) {
    let soft = matches!(recipe.stiffness, Stiffness::Relative(..));
    let stiffness = match recipe.stiffness {
        Stiffness::Absolute(low, high) => 10f64.powf(random.random_range(low..=high)),
        Stiffness::Relative(low, high) => {
            10f64.powf(random.random_range(low..=high)) / (TIME_STEP_S * TIME_STEP_S * w)
        }
    };
    // Large τ and d make a contact stiffer than its k.
    let (tau_max, d_max) = if soft { (-2.0, 0.0) } else { (0.0, 3.0) };
    let friction_max = if soft { 1.0 } else { 10.0 };
    let mut p = ContactParameters {
        time_step: TIME_STEP_S.into(),
        signed_distance: random.random_range(-1e-3..3e-4),
        start_velocity: v_n0,
        stiffness,
        dissipation: match (recipe.extras, random.random_range(0..3)) {
            (Extras::None, _) => Dissipation::RelaxationTime(0.0),
            (_, 0) => Dissipation::HuntCrossley(10f64.powf(random.random_range(-1.0..=d_max))),
            (_, 1) => Dissipation::RelaxationTime(10f64.powf(random.random_range(-4.0..=tau_max))),
            _ => Dissipation::HuntCrossley(0.0),
        },
        friction: match random.random_range(0..4) {
            0 => 0.0,
            1 => random.random_range(0.0f64..friction_max),
            _ => random.random_range(0.0f64..1.0),
        },
        stiction_speed: 1e-4,
        inverse_inertia: w,
        near_rigid: NEAR_RIGID_CONTACT,
    };
    let model = match recipe.models {
        Models::Any => [Models::Lagged, Models::Similar, Models::Sap][random.random_range(0..3)],
        model => model,
    };
    if model == Models::Similar {
        p.near_rigid = NEAR_RIGID_SIMILAR;
    }
    p.validate(|| "random contact".to_owned())
        .expect("in range");
    let predicted = NormalPrediction {
        free: v_n0 - 0.1,
        constrained: None,
        row_sum: w * 2.0,
    };
    let n0 = p.friction_limit(FrictionLimit::LocalImplicit, &predicted);
    if soft {
        p.stiction_speed = p.stiction_speed.max(p.friction * n0 * w);
    }
    let law = match model {
        Models::Sap if soft => ContactLaw::Lagged(Lagged::new(&p, normal_W, n0)),
        Models::Similar => ContactLaw::Similar(Similar::new(&p, normal_W, n0)),
        Models::Sap => ContactLaw::Sap(Sap::new(&p, normal_W)),
        Models::Lagged | Models::Any => ContactLaw::Lagged(Lagged::new(&p, normal_W, n0)),
    };
    (law, p, n0)
}

pub(super) fn add_row(random: &mut Random, scene: &mut Scene, factors: &mut BlockFactors) {
    let n = scene.bodies.len();
    let (a, b) = (random.random_range(0..n), random.random_range(0..n));
    let mut parts = Vec::new();
    for (k, participant) in [a, b].into_iter().enumerate() {
        let mut rows = Rows::default();
        rows.reset(2);
        let m = scene.bodies[participant].dynamics.n_dofs();
        let (i, j) = (random.random_range(0..m), random.random_range(0..m));
        rows.identity(0, i, 1);
        rows.dense(1, 1, j, 1)[0] = random.random_range(-2.0f64..2.0);
        parts.push((participant, rows, 0, if k == 0 { 1.0 } else { -1.0 }));
        if random.random_range(0..2) == 0 {
            break;
        }
    }
    let m = basis_inertia(&parts, 2, factors);
    let phi = [random.random_range(-1.0f64..1.0), 1.0];
    let dense = random.random_range(0..2) == 0;
    let w = if dense {
        (0..4)
            .map(|k| phi[k / 2] * phi[k % 2] * m[(k / 2, k % 2)])
            .sum()
    } else {
        m[(0, 0)]
    };
    if w <= 1e-12 * m.norm() {
        return;
    }
    let dt = TIME_STEP_S;
    let error = random.random_range(-1e-3f64..1e-3);
    let stiffness = 10f64.powf(random.random_range(2.0..14.0));
    let law = match random.random_range(0..5) {
        0 => RowLaw::Limit(Limit::near_rigid(dt, error, w)),
        1 => RowLaw::Bilateral(Bilateral::near_rigid(dt, error, w)),
        2 => RowLaw::Bilateral(Bilateral::spring(dt, error, stiffness, 0.01, w)),
        3 => RowLaw::Bilateral(Bilateral::dry_friction(0.1 / w, 1e-3 * w)),
        _ => {
            let gains = PdGains {
                proportional: stiffness,
                derivative: 0.1 * stiffness,
                effort_limit: if random.random_range(0..2) == 0 {
                    0.1 / (w * dt)
                } else {
                    f64::INFINITY
                },
            };
            let command = PdCommand {
                position_error: error,
                velocity: 0.1,
                feed_forward: 0.0,
            };
            RowLaw::PdActuator(PdActuator::new(dt, gains, command, w))
        }
    };
    let label = ConstraintLabel {
        kind: RowKind::Other,
        index: 0,
    };
    let b = dense_basis(&parts, 2, scene);
    let interpolation = if dense {
        DMatrix::from_row_slice(1, 2, &phi)
    } else {
        DMatrix::from_row_slice(1, 2, &[1.0, 0.0])
    };
    scene.rows.push(PlainRow {
        j: interpolation * b,
        law: law.clone(),
    });
    let mut basis = scene.set.basis(2);
    for (participant, rows, first, scale) in &parts {
        basis.rows(ParticipantIdx(*participant), rows, *first, *scale);
    }
    if dense {
        basis.dense_row(&phi, law, label);
    } else {
        basis.coordinate(0, law, label);
    }
}
