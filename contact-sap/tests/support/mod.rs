//! Random contact problems: bodies of very different masses in redundant and contradictory constraints.
#![allow(
    dead_code,
    non_snake_case,
    reason = "each test file uses a part; monogram names"
)]

use std::f64::consts::TAU;

use nalgebra::{DMatrix, Matrix3, Vector3};
use pliant_contact_sap::{
    Assembled, Bilateral, BlockDiagonal, BlockFactors, ConstraintKind, ConstraintLabel,
    ConstraintSet, ContactLaw, ContactParameters, ContactProblem, DenseDynamics, Dissipation,
    Dynamics, FrictionLimit, Lagged, Limit, NormalPrediction, ParticipantIdx, PdActuator,
    PdCommand, PdGains, RowLaw, Rows, Sap, Similar,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) type Random = ChaCha8Rng;

pub(crate) const TIME_STEP_S: f64 = 0.01;

/// Which laws a problem uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Models {
    Any,
    Lagged,
    Similar,
    Sap,
}

/// What a random problem looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub participants: (usize, usize),
    pub bases_per_participant: f64,
    pub contacts_per_basis: usize,
    /// log10 of mass, uniform.
    pub mass_exponent: (f64, f64),
    /// log10 of stiffness, uniform.
    pub stiffness_exponent: (f64, f64),
    pub models: Models,
    /// Whether dissipation, limits, ties and actuators take part.
    pub extras: Extras,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extras {
    /// Everything.
    All,
    /// Contacts without dissipation and nothing else.
    None,
}

impl Recipe {
    pub(crate) const SMALL: Recipe = Recipe {
        participants: (1, 5),
        bases_per_participant: 1.3,
        contacts_per_basis: 4,
        mass_exponent: (-6.0, 6.0),
        stiffness_exponent: (2.0, 14.0),
        models: Models::Any,
        extras: Extras::All,
    };
    pub(crate) const LARGE: Recipe = Recipe {
        participants: (30, 60),
        bases_per_participant: 2.0,
        ..Recipe::SMALL
    };
}

/// A sparse participant: vertices in a chain of springs, A = M + δt²K.
pub(crate) struct SparseBody {
    matrix: sprs::CsMatI<f64, u32>,
    blocks: Vec<f64>,
    right_hand_side: Vec<f64>,
}

impl SparseBody {
    pub(crate) fn chain(n_vertices: usize, mass: f64, stiffness: f64, v_star: &[f64]) -> Self {
        let n = 3 * n_vertices;
        let mut dense = DMatrix::<f64>::identity(n, n) * (mass / n_vertices as f64);
        for a in 1..n_vertices {
            let k = TIME_STEP_S * TIME_STEP_S * stiffness;
            for i in 0..3 {
                // Not a multiple of the identity, so that blocks are full.
                for j in 0..3 {
                    let k = if i == j { k } else { 0.25 * k };
                    let (p, q) = (3 * a - 3, 3 * a);
                    dense[(p + i, p + j)] += k;
                    dense[(q + i, q + j)] += k;
                    dense[(p + i, q + j)] -= k;
                    dense[(q + i, p + j)] -= k;
                }
            }
        }
        let b = &dense * nalgebra::DVector::from_column_slice(v_star);
        let (mut starts, mut indices, mut values) = (vec![0u32], Vec::new(), Vec::new());
        for j in 0..n {
            for i in 0..n {
                if dense[(i, j)] != 0.0 {
                    indices.push(i as u32);
                    values.push(dense[(i, j)]);
                }
            }
            starts.push(indices.len() as u32);
        }
        let mut blocks = Vec::new();
        for a in 0..n_vertices {
            blocks.extend(dense.view((3 * a, 3 * a), (3, 3)).iter());
        }
        Self {
            matrix: sprs::CsMatI::new_csc((n, n), starts, indices, values),
            blocks,
            right_hand_side: b.as_slice().to_vec(),
        }
    }
}

impl Dynamics for SparseBody {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (column, x) in self.matrix.outer_iterator().zip(x) {
            for (i, a) in column.iter() {
                y[i] += a * x;
            }
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Vertices(&self.blocks)
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Sparse(self.matrix.view()))
    }
}

/// A problem that owns its parts.
pub(crate) struct Scene {
    pub bodies: Vec<Body>,
    pub set: ConstraintSet,
    /// Velocities at the start of the step, all participants.
    pub v0: Vec<f64>,
    /// max over contacts and rows of δt²·k·w, a measure of stiffness.
    pub stiffness_max: f64,
}

pub(crate) struct Body {
    pub dynamics: Box<dyn Dynamics>,
    pub kind: BodyKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// Velocities are a twist (ω, v) of the body at this point.
    Rigid,
    Tree,
    Vertices(usize),
}

impl Scene {
    pub(crate) fn dynamics(&self) -> Vec<&dyn Dynamics> {
        self.bodies.iter().map(|b| b.dynamics.as_ref()).collect()
    }

    pub(crate) fn n_dofs(&self) -> usize {
        self.v0.len()
    }

    /// A as one dense matrix, and b.
    pub(crate) fn dense(&self) -> (DMatrix<f64>, Vec<f64>) {
        let n = self.n_dofs();
        let mut a = DMatrix::zeros(n, n);
        let mut b = Vec::new();
        let mut first = 0;
        for body in &self.bodies {
            let m = body.dynamics.n_dofs();
            for j in 0..m {
                let mut x = vec![0.0; m];
                let mut y = vec![0.0; m];
                x[j] = 1.0;
                body.dynamics.apply(&x, &mut y);
                for (i, y) in y.iter().enumerate() {
                    a[(first + i, first + j)] = *y;
                }
            }
            b.extend_from_slice(body.dynamics.right_hand_side());
            first += m;
        }
        (a, b)
    }
}

/// Runs `check` with the scene as a [`ContactProblem`].
pub(crate) fn with_problem<R>(scene: &Scene, check: impl FnOnce(&ContactProblem<'_>) -> R) -> R {
    let dynamics = scene.dynamics();
    check(&ContactProblem {
        dynamics: &dynamics,
        constraints: &scene.set,
    })
}

pub(crate) fn unit_vector(random: &mut Random) -> Vector3<f64> {
    let z: f64 = random.random_range(-1.0..1.0);
    let angle: f64 = random.random_range(0.0..TAU);
    let r = (1.0 - z * z).sqrt();
    Vector3::new(r * angle.cos(), r * angle.sin(), z)
}

pub(crate) fn vector(random: &mut Random, size: f64) -> Vector3<f64> {
    unit_vector(random) * size * random.random_range(0.0f64..1.0)
}

/// A symmetric matrix with eigenvalues about `scale`, condition up to 100.
fn spd(random: &mut Random, n: usize, scale: f64) -> DMatrix<f64> {
    let root = DMatrix::from_fn(n, n, |_, _| random.random_range(-1.0f64..1.0));
    let a = &root * root.transpose() / n as f64 + DMatrix::identity(n, n) * 0.05;
    a * scale
}

fn random_body(random: &mut Random, recipe: &Recipe, v0: &mut Vec<f64>) -> Body {
    let (low, high) = recipe.mass_exponent;
    let mass = 10f64.powf(random.random_range(low..=high));
    let kind = match random.random_range(0..10) {
        0..6 => BodyKind::Rigid,
        6..8 => BodyKind::Tree,
        _ => BodyKind::Vertices(random.random_range(1..6)),
    };
    let n = match kind {
        BodyKind::Rigid => 6,
        BodyKind::Tree => random.random_range(1..9),
        BodyKind::Vertices(n) => 3 * n,
    };
    let speed = if random.random_range(0..4) == 0 {
        0.0
    } else {
        1.0
    };
    let start: Vec<f64> = (0..n)
        .map(|_| speed * random.random_range(-1.0f64..1.0))
        .collect();
    let mut v_star = start.clone();
    for x in v_star
        .iter_mut()
        .skip(if n == 6 { 3 } else { 0 })
        .skip(2)
        .step_by(3)
    {
        *x -= 9.81 * TIME_STEP_S;
    }
    v0.extend_from_slice(&start);
    let dense = |a: DMatrix<f64>| {
        let b = &a * nalgebra::DVector::from_column_slice(&v_star);
        Box::new(DenseDynamics::new(
            a.as_slice().to_vec(),
            b.as_slice().to_vec(),
        )) as Box<dyn Dynamics>
    };
    let dynamics = match kind {
        BodyKind::Rigid => {
            let mut a = DMatrix::zeros(6, 6);
            let size: f64 = 10f64.powf(random.random_range(-1.5..0.0));
            let inertia = spd(random, 3, mass * size * size);
            a.view_mut((0, 0), (3, 3)).copy_from(&inertia);
            for i in 3..6 {
                a[(i, i)] = mass;
            }
            dense(a)
        }
        BodyKind::Tree => dense(spd(random, n, mass)),
        BodyKind::Vertices(n) => {
            // δt²k/m from soft to stiff.
            let ratio = 10f64.powf(random.random_range(-2.0..3.0));
            let k = ratio * mass / (TIME_STEP_S * TIME_STEP_S);
            Box::new(SparseBody::chain(n, mass, k, &v_star))
        }
    };
    Body { dynamics, kind }
}

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

/// How the contacts of a basis reach it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Twist,
    /// Three points, and a twist after them.
    Stencil,
    Dense,
}

pub(crate) fn random_scene(seed: u64, recipe: &Recipe) -> Scene {
    let random = &mut Random::seed_from_u64(seed);
    let (low, high) = recipe.participants;
    let n = random.random_range(low..=high);
    let mut v0 = Vec::new();
    let bodies: Vec<Body> = (0..n)
        .map(|_| random_body(random, recipe, &mut v0))
        .collect();
    let mut scene = Scene {
        bodies,
        set: ConstraintSet::default(),
        v0,
        stiffness_max: 0.0,
    };
    let mut factors = BlockFactors::default();
    factors.factor(&scene.dynamics()).expect("every A is SPD");
    let n_bases = (n as f64 * recipe.bases_per_participant).ceil() as usize;
    for _ in 0..n_bases {
        add_contacts(random, recipe, &mut scene, &mut factors);
        if recipe.extras == Extras::All && random.random_range(0..3) == 0 {
            add_row(random, &mut scene, &mut factors);
        }
    }
    scene
}

/// Fills `set` with one basis and returns M = B D⁻¹Bᵀ of it; the constraints are to follow.
fn basis_inertia(
    parts: &[(usize, Rows, usize, f64)],
    n_rows: usize,
    factors: &mut BlockFactors,
) -> DMatrix<f64> {
    let mut set = ConstraintSet::default();
    let mut basis = set.basis(n_rows);
    let id = basis.id();
    for (participant, rows, first, scale) in parts {
        basis.rows(ParticipantIdx(*participant), rows, *first, *scale);
    }
    let mut m = Vec::new();
    factors.delassus(&set, id, &mut m);
    DMatrix::from_column_slice(n_rows, n_rows, &m)
}

fn add_contacts(
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
    // One to three participants, now and then the same one twice.
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

    let mut first_dof = vec![0];
    for body in &scene.bodies {
        first_dof.push(first_dof[first_dof.len() - 1] + body.dynamics.n_dofs());
    }
    let mut u0 = vec![0.0; n_rows];
    for (participant, rows, first, scale) in &parts {
        let mut u = vec![0.0; rows.n_rows()];
        let dofs = first_dof[*participant]..first_dof[participant + 1];
        rows.apply(&scene.v0[dofs], &mut u);
        for (u0, u) in u0[*first..].iter_mut().zip(u) {
            *u0 += scale * u;
        }
    }

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
            Shape::Twist => twist_lever(&p),
            Shape::Stencil => {
                let mut phi = DMatrix::zeros(3, n_rows);
                for (k, w) in weights.iter().enumerate() {
                    phi.view_mut((0, 3 * k), (3, 3))
                        .copy_from(&(Matrix3::identity() * *w));
                }
                if with_twist {
                    phi.view_mut((0, 9), (3, 6)).copy_from(&twist_lever(&p));
                }
                phi
            }
            Shape::Dense => DMatrix::from_column_slice(3, n_rows, &dense),
        };
        let w = (&phi * &m * phi.transpose()).norm() / 3.0;
        if w <= 1e-12 * m.norm() {
            continue;
        }
        let v_c0 = &phi * nalgebra::DVector::from_column_slice(&u0);
        let v_n0 = n_W.dot(&Vector3::new(v_c0[0], v_c0[1], v_c0[2]));
        let (law, stiffness) = random_law(random, recipe, n_W, v_n0, w);
        scene.stiffness_max = scene.stiffness_max.max(stiffness);
        let bias = if random.random_range(0..5) == 0 {
            vector(random, 1.0)
        } else {
            Vector3::zeros()
        };
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

fn twist_lever(p: &Vector3<f64>) -> DMatrix<f64> {
    let mut phi = DMatrix::zeros(3, 6);
    phi.view_mut((0, 0), (3, 3)).copy_from(&-p.cross_matrix());
    phi.view_mut((0, 3), (3, 3)).copy_from(&Matrix3::identity());
    phi
}

fn random_law(
    random: &mut Random,
    recipe: &Recipe,
    normal_W: Vector3<f64>,
    v_n0: f64,
    w: f64,
) -> (ContactLaw, f64) {
    let (low, high) = recipe.stiffness_exponent;
    let p = ContactParameters {
        time_step_s: TIME_STEP_S,
        signed_distance: random.random_range(-1e-3..3e-4),
        stiffness: 10f64.powf(random.random_range(low..=high)),
        dissipation: match (recipe.extras, random.random_range(0..3)) {
            (Extras::None, _) => Dissipation::RelaxationTime(0.0),
            (Extras::All, 0) => {
                Dissipation::HuntCrossley(10f64.powf(random.random_range(-1.0..3.0)))
            }
            (Extras::All, 1) => {
                Dissipation::RelaxationTime(10f64.powf(random.random_range(-4.0..0.0)))
            }
            (Extras::All, _) => Dissipation::HuntCrossley(0.0),
        },
        friction: match random.random_range(0..4) {
            0 => 0.0,
            1 => random.random_range(0.0f64..10.0),
            _ => random.random_range(0.0f64..1.0),
        },
        stiction_speed: 1e-4,
        inverse_inertia: w,
    };
    p.validate(|| "random contact".to_owned())
        .expect("in range");
    let predicted = NormalPrediction {
        start: v_n0,
        free: v_n0 - 0.1,
        constrained: None,
        row_sum: w * 2.0,
    };
    let n0 = p.friction_limit(FrictionLimit::LocalImplicit, &predicted);
    let model = match recipe.models {
        Models::Any => [Models::Lagged, Models::Similar, Models::Sap][random.random_range(0..3)],
        model => model,
    };
    let law = match model {
        Models::Similar => ContactLaw::Similar(Similar::new(&p, normal_W, n0)),
        Models::Sap => ContactLaw::Sap(Sap::new(&p, normal_W)),
        Models::Lagged | Models::Any => ContactLaw::Lagged(Lagged::new(&p, normal_W, n0)),
    };
    (law, TIME_STEP_S * TIME_STEP_S * p.stiffness * w)
}

fn add_row(random: &mut Random, scene: &mut Scene, factors: &mut BlockFactors) {
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
        kind: ConstraintKind::Other,
        index: 0,
    };
    let mut basis = scene.set.basis(2);
    for (participant, rows, first, scale) in &parts {
        basis.rows(ParticipantIdx(*participant), rows, *first, *scale);
    }
    if dense {
        basis.dense_row(&phi, law, label);
    } else {
        basis.coordinate(0, law, label);
    }
    // Near-rigid rows are 4π²/β² = 4000 times stiffer than their inertia.
    scene.stiffness_max = scene.stiffness_max.max(4000.0);
}
