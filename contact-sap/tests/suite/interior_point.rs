//! Comparison with a general interior-point solver.
//!
//! Each model without dissipation is a second-order cone programme: the friction norm, its softening and the friction cone
//! are cones, the normal law is a quadratic with an inequality.

use crate::support::{
    Extras, Models, PlainContact, Recipe, Scene, Stiffness, TIME_STEP_S, random_scene, with_problem,
};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT,
    SolverStatus, SupportedConeT,
};
use nalgebra::{DMatrix, RowDVector, Vector3};
use pliant_contact_sap::{
    ConvexContactSolver, Newton, NewtonSettings, Solution, StopCriteria, near_rigid_regularisation,
};

/// min ½xᵀPx + qᵀx subject to rows·x + offset in a product of cones; x = (v, auxiliary variables of contacts).
struct Programme {
    n_v: usize,
    p: Vec<(usize, usize, f64)>,
    q: Vec<f64>,
    /// Coefficients and offset of each row.
    rows: Vec<(Vec<(usize, f64)>, f64)>,
    cones: Vec<SupportedConeT<f64>>,
    /// Constant term of the cost, not in the programme.
    constant: f64,
}

impl Programme {
    fn new(scene: &Scene) -> Self {
        let (a, b) = scene.dense();
        let n = b.len();
        let upper = (0..n).flat_map(|j| (0..=j).map(move |i| (i, j)));
        Self {
            n_v: n,
            p: upper.map(|(i, j)| (i, j, a[(i, j)])).collect(),
            q: b.iter().map(|b| -b).collect(),
            rows: Vec::new(),
            cones: Vec::new(),
            constant: 0.0,
        }
    }

    /// A new variable with cost ½ curvature x² + slope x.
    fn variable(&mut self, curvature: f64, slope: f64) -> usize {
        let i = self.q.len();
        self.q.push(slope);
        self.p.push((i, i, curvature));
        i
    }

    /// Row Σ j v + Σ coefficient x + offset.
    fn row(&mut self, j: &RowDVector<f64>, more: &[(usize, f64)], offset: f64) {
        let mut entries: Vec<(usize, f64)> = j.iter().copied().enumerate().collect();
        entries.extend_from_slice(more);
        self.rows.push((entries, offset));
    }

    fn constant_row(&mut self, offset: f64) {
        self.rows.push((Vec::new(), offset));
    }

    /// v and the cost.
    fn solve(&self) -> (Vec<f64>, f64) {
        let n = self.q.len();
        let csc = |rows: usize, entries: &mut Vec<(usize, usize, f64)>| {
            entries.retain(|e| e.2 != 0.0);
            entries.sort_by_key(|&(i, j, _)| (j, i));
            let mut starts = vec![0; n + 1];
            for &(_, j, _) in entries.iter() {
                starts[j + 1] += 1;
            }
            for j in 0..n {
                starts[j + 1] += starts[j];
            }
            let indices = entries.iter().map(|e| e.0).collect();
            let values = entries.iter().map(|e| e.2).collect();
            CscMatrix::new(rows, n, starts, indices, values)
        };
        let p = csc(n, &mut self.p.clone());
        // Clarabel's A x + s = b, s in the cones.
        let mut entries = Vec::new();
        for (i, (row, _)) in self.rows.iter().enumerate() {
            entries.extend(row.iter().map(|&(j, x)| (i, j, -x)));
        }
        let a = csc(self.rows.len(), &mut entries);
        let b: Vec<f64> = self.rows.iter().map(|row| row.1).collect();
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(1e-10)
            .tol_gap_rel(1e-10)
            .tol_feas(1e-10)
            .reduced_tol_gap_abs(1e-7)
            .reduced_tol_gap_rel(1e-7)
            .reduced_tol_feas(1e-7)
            .build()
            .expect("settings");
        let mut solver =
            DefaultSolver::new(&p, &self.q, &a, &b, &self.cones, settings).expect("a programme");
        solver.solve();
        let status = solver.solution.status;
        assert!(
            matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved),
            "{status:?}"
        );
        let v = solver.solution.x[..self.n_v].to_vec();
        (v, solver.solution.obj_val + self.constant)
    }
}

/// Normal and two tangents as rows over v, and the bias of each.
fn frame(c: &PlainContact) -> [(RowDVector<f64>, f64); 3] {
    let n = c.normal;
    let helper = if n.x.abs() < 0.5 {
        Vector3::x()
    } else {
        Vector3::y()
    };
    let t = n.cross(&helper).normalize();
    [n, t, n.cross(&t)].map(|axis| {
        let row = DMatrix::from_row_slice(1, 3, axis.as_slice()) * &c.j;
        (row.row(0).clone_owned(), axis.dot(&c.bias))
    })
}

/// SAP: min ½σᵀRσ with v_c − v̂ + Rσ in the dual of the friction cone (Castro, Permenter, Han 2022, section III).
fn add_sap(programme: &mut Programme, c: &PlainContact) {
    let p = &c.parameters;
    let dt = TIME_STEP_S;
    let near_rigid = near_rigid_regularisation(p.near_rigid, p.inverse_inertia);
    let r_n = near_rigid.max(1.0 / (dt * p.stiffness * dt));
    let r_t = 1e-3 * p.inverse_inertia;
    let v_hat = -p.signed_distance / dt;
    let [(n, bias_n), tangents @ ..] = frame(c);
    let sigma = programme.variable(r_n, 0.0);
    programme.row(&n, &[(sigma, r_n)], bias_n - v_hat);
    for (t, bias) in tangents {
        let sigma = programme.variable(r_t, 0.0);
        let mu = p.friction;
        programme.row(&(t * mu), &[(sigma, mu * r_t)], mu * bias);
    }
    programme.cones.push(SecondOrderConeT(3));
}

/// Lagged and similar: ½δt²k x², x ≥ v̂ − z, x ≥ 0, and s ≥ ‖(v_t, ε)‖.
fn add_softened(programme: &mut Programme, c: &PlainContact, model: Models) {
    let p = &c.parameters;
    let dt = TIME_STEP_S;
    let (mu, n0, epsilon) = (p.friction, c.n0, p.slip_softening(c.n0));
    let v_hat = -p.signed_distance / dt;
    let [(n, bias_n), tangents @ ..] = frame(c);
    let x = programme.variable(dt * dt * p.capped_stiffness(), 0.0);
    let (s, coupling) = match model {
        // Friction with a fixed bound.
        Models::Lagged => {
            programme.constant -= mu * n0 * epsilon;
            (programme.variable(0.0, mu * n0), 0.0)
        }
        // z = v_n − μ(s − ε).
        _ => (programme.variable(0.0, 0.0), mu),
    };
    let none = RowDVector::zeros(programme.n_v);
    programme.row(&none, &[(x, 1.0)], 0.0);
    programme.row(
        &n,
        &[(x, 1.0), (s, -coupling)],
        bias_n + coupling * epsilon - v_hat,
    );
    programme.cones.push(NonnegativeConeT(2));
    programme.row(&none, &[(s, 1.0)], 0.0);
    for (t, bias) in tangents {
        programme.row(&t, &[], bias);
    }
    programme.constant_row(epsilon);
    programme.cones.push(SecondOrderConeT(4));
}

#[track_caller]
fn check(models: Models) {
    let recipe = Recipe {
        participants: (1, 4),
        mass_exponent: (-1.0, 1.0),
        stiffness: Stiffness::Absolute(2.0, 8.0),
        extras: Extras::None,
        models,
        ..Recipe::SMALL
    };
    let mut newton = Newton::new(NewtonSettings {
        stop: StopCriteria {
            relative_tolerance: 1e-10,
            ..StopCriteria::default()
        },
        ..NewtonSettings::default()
    });
    let mut evaluator = Newton::new(NewtonSettings {
        stop: StopCriteria {
            iterations_max: 0,
            ..StopCriteria::default()
        },
        ..NewtonSettings::default()
    });
    let mut out = Solution::default();
    let mut at_reference = Solution::default();
    let (mut loaded, mut worst) = (0, 0.0f64);
    for seed in 0..150 {
        let scene = random_scene(seed, &recipe);
        let mut programme = Programme::new(&scene);
        for contact in &scene.contacts {
            match models {
                Models::Sap => add_sap(&mut programme, contact),
                model => add_softened(&mut programme, contact, model),
            }
        }
        let (v, cost) = programme.solve();
        let report = with_problem(&scene, |p| newton.solve(p, &scene.v0, &mut out))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        // The value of the programme may be below the minimum by its feasibility tolerance: the cost is evaluated at its velocities.
        let reference = with_problem(&scene, |p| evaluator.solve(p, &v, &mut at_reference))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let scale = report.cost.abs().max(1e-3);
        let gap = (reference.cost - report.cost) / scale;
        assert!(
            (-1e-12..1e-7).contains(&gap),
            "seed {seed}: {} against {}",
            reference.cost,
            report.cost
        );
        assert!(
            (cost - report.cost).abs() < 1e-5 * scale,
            "seed {seed}: the programme's value {cost} against {}",
            report.cost
        );
        // ½‖v − v*‖²_A is at most the gap in cost, so velocities agree to its root.
        let (a, _) = scene.dense();
        let difference = nalgebra::DVector::from_column_slice(&v)
            - nalgebra::DVector::from_column_slice(&out.velocity);
        let difference = difference.dot(&(&a * &difference)) / scale;
        assert!(difference <= 1e-7, "seed {seed}: {difference:e}");
        worst = worst.max(difference);
        loaded += usize::from(out.contact_impulse.iter().any(|g| g.abs() > 1e-6));
    }
    eprintln!(
        "{models:?}: 150 problems, {loaded} with load; ‖v − v'‖²_A at most {worst:e} of the cost"
    );
    assert!(loaded > 100);
}

#[test]
fn sap_contacts_agree_with_an_interior_point_method() {
    check(Models::Sap);
}

#[test]
fn lagged_contacts_agree_with_an_interior_point_method() {
    check(Models::Lagged);
}

#[test]
fn similar_contacts_agree_with_an_interior_point_method() {
    check(Models::Similar);
}
