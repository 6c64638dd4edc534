//! Random contact problems: bodies of very different masses in redundant and contradictory constraints.
#![allow(
    dead_code,
    non_snake_case,
    reason = "each test file uses a part; monogram names"
)]

pub(crate) mod clutter;

use std::f64::consts::TAU;

use nalgebra::{DMatrix, DVector, Matrix3, Vector1, Vector3};
use pliant_contact_sap::{
    Assembled, Bilateral, BlockDiagonal, BlockFactors, ConstraintKind, ConstraintLabel,
    ConstraintSet, ContactLaw, ContactParameters, ContactProblem, DenseDynamics, Dissipation,
    Dynamics, FrictionLimit, Lagged, Limit, NEAR_RIGID_CONTACT, NEAR_RIGID_SIMILAR,
    NormalPrediction, ParticipantIdx, PdActuator, PdCommand, PdGains, Potential, RowLaw, Rows, Sap,
    Similar,
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
    pub(crate) participants: (usize, usize),
    pub(crate) bases_per_participant: f64,
    pub(crate) contacts_per_basis: usize,
    /// log10 of mass, uniform.
    pub(crate) mass_exponent: (f64, f64),
    pub(crate) stiffness: Stiffness,
    pub(crate) models: Models,
    /// Whether dissipation, limits, ties and actuators take part.
    pub(crate) extras: Extras,
}

/// Range of log10 of the contact stiffness, uniform.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stiffness {
    /// Of k, N/m.
    Absolute(f64, f64),
    /// Of δt²·k·w, which says how stiff the contact is for the inertia behind it. Nothing else is stiffer: dissipation is
    /// mild, springs within a body too, μ ≤ 1, friction is softened until μ n0 w/ε ≤ 1, and contacts of the SAP model, whose stiction is always
    /// stiff, become lagged ones.
    Relative(f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extras {
    /// Everything.
    All,
    /// Contacts of every kind and nothing else.
    Contacts,
    /// Contacts without dissipation and nothing else.
    None,
}

impl Recipe {
    pub(crate) const SMALL: Recipe = Recipe {
        participants: (1, 5),
        bases_per_participant: 1.3,
        contacts_per_basis: 4,
        mass_exponent: (-6.0, 6.0),
        stiffness: Stiffness::Absolute(2.0, 14.0),
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
        let b = &dense * DVector::from_column_slice(v_star);
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
    pub(crate) bodies: Vec<Body>,
    pub(crate) set: ConstraintSet,
    /// Velocities at the start of the step, all participants.
    pub(crate) v0: Vec<f64>,
    /// The same constraints in the plainest form.
    pub(crate) contacts: Vec<PlainContact>,
    pub(crate) rows: Vec<PlainRow>,
}

/// v_c = J v + bias, J dense over all velocities.
pub(crate) struct PlainContact {
    pub(crate) j: DMatrix<f64>,
    pub(crate) bias: Vector3<f64>,
    pub(crate) law: ContactLaw,
    pub(crate) normal: Vector3<f64>,
    pub(crate) parameters: ContactParameters,
    /// n0 of the lagged and similar models.
    pub(crate) n0: f64,
}

/// v_c = J v.
pub(crate) struct PlainRow {
    pub(crate) j: DMatrix<f64>,
    pub(crate) law: RowLaw,
}

pub(crate) struct Body {
    pub(crate) dynamics: Box<dyn Dynamics>,
    pub(crate) kind: BodyKind,
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

    /// ℓ(v), term by term.
    pub(crate) fn cost(&self, v: &[f64]) -> f64 {
        let (a, b) = self.dense();
        let v = DVector::from_column_slice(v);
        let mut cost = 0.5 * v.dot(&(&a * &v)) - DVector::from_vec(b).dot(&v);
        for c in &self.contacts {
            let v_c = &c.j * &v;
            cost += c.law.cost(&(Vector3::new(v_c[0], v_c[1], v_c[2]) + c.bias));
        }
        for row in &self.rows {
            cost += row.law.cost(&Vector1::new((&row.j * &v)[0]));
        }
        cost
    }

    /// ‖D(Av − b − Jᵀγ)‖ and max(‖D A v‖, ‖D Jᵀγ‖), D = diag(A)^(−1/2).
    pub(crate) fn residual(&self, v: &[f64]) -> (f64, f64) {
        let (a, b) = self.dense();
        let v = DVector::from_column_slice(v);
        let a_v = &a * &v;
        let mut j_gamma = DVector::zeros(v.len());
        for c in &self.contacts {
            let v_c = &c.j * &v;
            let gamma = c
                .law
                .impulse(&(Vector3::new(v_c[0], v_c[1], v_c[2]) + c.bias));
            j_gamma += c.j.transpose() * gamma;
        }
        for row in &self.rows {
            let gamma = row.law.impulse(&Vector1::new((&row.j * &v)[0]));
            j_gamma += row.j.transpose() * gamma;
        }
        let scaled = |x: &DVector<f64>| {
            let scaled = x.iter().enumerate().map(|(i, x)| x / a[(i, i)].sqrt());
            scaled.map(|x| x * x).sum::<f64>().sqrt()
        };
        let gradient = &a_v - DVector::from_vec(b) - &j_gamma;
        (scaled(&gradient), scaled(&a_v).max(scaled(&j_gamma)))
    }

    /// The same constraints, each with a basis of its own, for participants that were renumbered by `to`.
    pub(crate) fn set_with(&self, to: impl Fn(ParticipantIdx) -> ParticipantIdx) -> ConstraintSet {
        let mut set = ConstraintSet::default();
        let parts = |j: &DMatrix<f64>| {
            let mut first = 0;
            let mut parts = Vec::new();
            for (p, body) in self.bodies.iter().enumerate() {
                let n = body.dynamics.n_dofs();
                let block = j.columns(first, n);
                if block.amax() > 0.0 {
                    let mut rows = Rows::default();
                    rows.reset(j.nrows());
                    let values = rows.dense(0, j.nrows(), 0, n);
                    values.copy_from_slice(block.clone_owned().as_slice());
                    parts.push((to(ParticipantIdx(p)), rows));
                }
                first += n;
            }
            parts
        };
        let eye = Matrix3::<f64>::identity();
        for c in &self.contacts {
            let mut basis = set.basis(3);
            for (participant, rows) in parts(&c.j) {
                basis.rows(participant, &rows, 0, 1.0);
            }
            basis.dense_contact(eye.as_slice(), c.bias, c.law.clone());
        }
        let label = ConstraintLabel {
            kind: ConstraintKind::Other,
            index: 0,
        };
        for row in &self.rows {
            let mut basis = set.basis(1);
            for (participant, rows) in parts(&row.j) {
                basis.rows(participant, &rows, 0, 1.0);
            }
            basis.coordinate(0, row.law.clone(), label);
        }
        set
    }

    /// The same scene with another b, all participants dense.
    pub(crate) fn with_right_hand_side(&self, b: &[f64]) -> Scene {
        let (a, _) = self.dense();
        let mut first = 0;
        let bodies = self.bodies.iter().map(|body| {
            let n = body.dynamics.n_dofs();
            let block = a.view((first, first), (n, n)).clone_owned();
            let b = b[first..first + n].to_vec();
            first += n;
            Body {
                dynamics: Box::new(DenseDynamics::new(block.as_slice().to_vec(), b)),
                kind: body.kind,
            }
        });
        Scene {
            bodies: bodies.collect(),
            set: self.set.clone(),
            v0: self.v0.clone(),
            contacts: Vec::new(),
            rows: Vec::new(),
        }
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
        let b = &a * DVector::from_column_slice(&v_star);
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
            let stiffest = match recipe.stiffness {
                Stiffness::Absolute(..) => 3.0,
                Stiffness::Relative(..) => 0.0,
            };
            let ratio = 10f64.powf(random.random_range(-2.0..stiffest));
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
        contacts: Vec::new(),
        rows: Vec::new(),
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
) -> (ContactLaw, ContactParameters, f64) {
    let soft = matches!(recipe.stiffness, Stiffness::Relative(..));
    let stiffness = match recipe.stiffness {
        Stiffness::Absolute(low, high) => 10f64.powf(random.random_range(low..=high)),
        Stiffness::Relative(low, high) => {
            10f64.powf(random.random_range(low..=high)) / (TIME_STEP_S * TIME_STEP_S * w)
        }
    };
    // Large τ and d stiffen a contact beyond its k.
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
    let b = dense_basis(&parts, 2, scene);
    let lever = if dense {
        DMatrix::from_row_slice(1, 2, &phi)
    } else {
        DMatrix::from_row_slice(1, 2, &[1.0, 0.0])
    };
    scene.rows.push(PlainRow {
        j: lever * b,
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
