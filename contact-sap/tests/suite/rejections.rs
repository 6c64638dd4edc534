//! Invalid problems are rejected with the quantity and its location.

use nalgebra::{Matrix1, Matrix3, Vector1, Vector3};
use pliant_contact_sap::{
    Assembled, BlockDiagonal, ConstraintLabel, ConstraintSet, ContactLaw, ContactParameters,
    ContactProblem, DenseDynamics, Dissipation, Dynamics, Lagged, Limit, NEAR_RIGID_CONTACT,
    ParticipantIdx, Potential, RowKind, RowLaw, Rows, Sap, Solution, SolveError, SolveReport,
    SolverKind, StopCriteria,
};

/// Two boxes of 1 kg, a contact between them and a limit on the first.
struct Case {
    matrices: [Vec<f64>; 2],
    b: Vec<f64>,
    guess: Vec<f64>,
    interpolation: Vector3<f64>,
    bias: Vector3<f64>,
    rows: Rows,
    rows_of: usize,
    law: ContactLaw,
    row_law: RowLaw,
}

fn parameters() -> ContactParameters {
    ContactParameters {
        time_step: 0.01.into(),
        signed_distance: -1e-3,
        start_velocity: 0.0,
        stiffness: 1e5,
        dissipation: Dissipation::HuntCrossley(1.0),
        friction: 0.5,
        stiction_speed: 1e-4,
        inverse_inertia: 1.0,
        near_rigid: NEAR_RIGID_CONTACT,
    }
}

impl Default for Case {
    fn default() -> Self {
        let identity = nalgebra::Matrix6::<f64>::identity().as_slice().to_vec();
        let mut rows = Rows::default();
        rows.reset(6);
        rows.identity(0, 0, 6);
        Self {
            matrices: [identity.clone(), identity],
            b: vec![0.0, 0.0, 0.0, 0.0, 0.0, -0.1],
            guess: vec![0.0; 12],
            interpolation: Vector3::new(0.1, 0.0, 0.0),
            bias: Vector3::zeros(),
            rows,
            rows_of: 1,
            law: ContactLaw::Lagged(Lagged::new(&parameters(), Vector3::z(), 0.1)),
            row_law: RowLaw::Limit(Limit::near_rigid(0.01, 0.0, 1.0)),
        }
    }
}

impl Case {
    fn solve(&self, kind: SolverKind) -> Result<(), SolveError> {
        let bodies = [
            DenseDynamics::new(self.matrices[0].clone(), self.b.clone()),
            DenseDynamics::new(self.matrices[1].clone(), vec![0.0; 6]),
        ];
        let mut set = ConstraintSet::default();
        let mut own = Rows::default();
        own.reset(6);
        own.identity(0, 0, 6);
        let mut basis = set.basis(6);
        basis.rows(ParticipantIdx(0), &own, 0, 1.0);
        basis.rows(ParticipantIdx(self.rows_of), &self.rows, 0, -1.0);
        basis.twist_contact(self.interpolation, self.bias, self.law.clone());
        let label = ConstraintLabel {
            kind: RowKind::LowerLimit,
            index: 0,
        };
        basis.coordinate(5, self.row_law.clone(), label);
        let dynamics: [&dyn Dynamics; 2] = [&bodies[0], &bodies[1]];
        let problem = ContactProblem {
            dynamics: &dynamics,
            constraints: &set,
        };
        let mut out = Solution::default();
        let mut solver = kind.build(StopCriteria::default());
        solver.solve(&problem, &self.guess, &mut out).map(|_| ())
    }
}

/// Every solver rejects the case with the same error, whose text contains all of `words`.
#[track_caller]
fn check_rejected(change: impl Fn(&mut Case), words: &[&str]) {
    let mut case = Case::default();
    change(&mut case);
    let errors = SolverKind::ALL.map(|kind| case.solve(kind).expect_err("rejected").to_string());
    for error in &errors {
        assert_eq!(error, &errors[0]);
        for word in words {
            assert!(error.contains(word), "`{word}` is missing in: {error}");
        }
    }
}

#[test]
fn the_unchanged_case_is_valid() {
    for kind in SolverKind::ALL {
        assert_eq!(Case::default().solve(kind), Ok(()));
    }
}

#[test]
fn numbers_that_are_not_finite_are_rejected_with_their_location() {
    check_rejected(
        |c| c.b[4] = f64::NAN,
        &["b of participant 0", "row 4", "NaN"],
    );
    check_rejected(
        |c| c.matrices[1][2] = f64::NAN,
        &["A of participant 1", "row 2, column 0", "NaN"],
    );
    check_rejected(
        |c| c.matrices[1][14] = f64::INFINITY,
        &["A of participant 1", "row 2", "inf"],
    );
    check_rejected(|c| c.guess[7] = f64::INFINITY, &["guess, entry 7", "inf"]);
    check_rejected(
        |c| c.interpolation.y = f64::NAN,
        &["interpolation", "contact 0", "NaN"],
    );
    check_rejected(
        |c| c.bias.z = f64::NAN,
        &["surface velocity of contact 0", "NaN"],
    );
    check_rejected(|c| c.rows.bias_mut()[1] = f64::NAN, &["bias of basis 0"]);
    check_rejected(
        |c| c.rows.dense(0, 1, 0, 1)[0] = f64::NAN,
        &["matrix of basis 0"],
    );
}

#[test]
fn matrices_that_are_not_positive_definite_are_rejected_with_their_row() {
    check_rejected(
        |c| c.matrices[0][21] = -1.0,
        &[
            "A of participant 0",
            "row 3",
            "not positive definite",
            "mass",
        ],
    );
    check_rejected(
        |c| c.matrices[1][1] = 0.5,
        &["A of participant 1", "not symmetric", "row 1, column 0"],
    );
}

#[test]
fn parameters_out_of_range_are_rejected_with_constraint_and_value() {
    check_rejected(
        |c| {
            let p = ContactParameters {
                friction: -0.3,
                ..parameters()
            };
            c.law = ContactLaw::Sap(Sap::new(&p, Vector3::z()));
        },
        &["contact 0", "friction", "-0.3"],
    );
    check_rejected(
        |c| {
            let p = ContactParameters {
                friction: -0.3,
                ..parameters()
            };
            c.law = ContactLaw::Lagged(Lagged::new(&p, Vector3::z(), 0.1));
        },
        &["contact 0", "friction", "-0.3"],
    );
    check_rejected(
        |c| {
            c.law = ContactLaw::Lagged(Lagged::new(&parameters(), Vector3::new(0.0, 0.0, 2.0), 0.1))
        },
        &["contact 0", "normal", "2"],
    );
    check_rejected(
        |c| c.row_law = RowLaw::Limit(Limit::new(-1.0, 0.0)),
        &["scalar row 0", "-1"],
    );
}

/// A law whose impulse is not a number.
struct Broken;

impl Potential<3> for Broken {
    fn cost(&self, _: &Vector3<f64>) -> f64 {
        0.0
    }
    fn impulse(&self, _: &Vector3<f64>) -> Vector3<f64> {
        Vector3::repeat(f64::NAN)
    }
    fn hessian(&self, _: &Vector3<f64>) -> Matrix3<f64> {
        Matrix3::zeros()
    }
}

impl Potential<1> for Broken {
    fn cost(&self, _: &Vector1<f64>) -> f64 {
        0.0
    }
    fn impulse(&self, _: &Vector1<f64>) -> Vector1<f64> {
        Vector1::repeat(f64::INFINITY)
    }
    fn hessian(&self, _: &Vector1<f64>) -> Matrix1<f64> {
        Matrix1::zeros()
    }
}

#[test]
fn an_invalid_custom_law_is_reported() {
    check_rejected(
        |c| c.law = ContactLaw::Custom(std::sync::Arc::new(Broken)),
        &["impulse of contact 0", "NaN"],
    );
    check_rejected(
        |c| c.row_law = RowLaw::Custom(std::sync::Arc::new(Broken)),
        &["impulse of scalar row 0", "inf"],
    );
}

#[test]
fn lengths_and_indices_that_do_not_match_are_rejected() {
    check_rejected(
        |c| c.guess.truncate(11),
        &["guess has length 11", "12 velocities"],
    );
    check_rejected(|c| c.rows_of = 2, &["participant 2", "0 of them"]);
    check_rejected(
        |c| c.rows.identity(0, 4, 3),
        &["velocity 6 of participant 1", "6 of them"],
    );
}

/// A body that only multiplies by A.
struct MatrixFree;

impl Dynamics for MatrixFree {
    fn right_hand_side(&self) -> &[f64] {
        &[0.0, 0.0, -0.1]
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }
    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Vertices(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    }
}

#[test]
fn only_conjugate_gradients_work_without_an_assembled_matrix() {
    let body = MatrixFree;
    let dynamics: [&dyn Dynamics; 1] = [&body];
    let mut set = ConstraintSet::default();
    let mut rows = Rows::default();
    rows.reset(3);
    rows.identity(0, 0, 3);
    let mut basis = set.basis(3);
    basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
    let law = ContactLaw::Lagged(Lagged::new(&parameters(), Vector3::z(), 0.1));
    basis.stencil_contact([1.0], None, Vector3::zeros(), law);
    let problem = ContactProblem {
        dynamics: &dynamics,
        constraints: &set,
    };
    for kind in SolverKind::ALL {
        let mut out = Solution::default();
        let mut solver = kind.build(StopCriteria::default());
        let result = solver.solve(&problem, &[0.0; 3], &mut out);
        match kind {
            SolverKind::Newton | SolverKind::GaussSeidel => {
                let error = result.expect_err("needs A").to_string();
                assert!(
                    error.contains("participant 0") && error.contains(kind.name()),
                    "{error}"
                );
            }
            SolverKind::NewtonCg | SolverKind::QuasiNewton => {
                assert!(result.is_ok_and(|report| report.is_trusted()), "{kind}");
            }
        }
    }
}

/// A = M + K of two vertices, each block [`Self::BLOCK`], coupled by `coupling` times the identity.
struct Spring {
    matrix: sprs::CsMatI<f64, u32>,
    blocks: Vec<f64>,
}

impl Spring {
    const BLOCK: [f64; 9] = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0];

    fn new(coupling: f64) -> Self {
        let starts = (0..=6).map(|j| 2 * j).collect();
        let rows = (0..6).flat_map(|j| [j % 3, j % 3 + 3]).collect();
        let values = (0..6).flat_map(|j| {
            if j < 3 {
                [2.0, coupling]
            } else {
                [coupling, 2.0]
            }
        });
        Self {
            matrix: sprs::CsMatI::new_csc((6, 6), starts, rows, values.collect()),
            blocks: [Self::BLOCK, Self::BLOCK].concat(),
        }
    }
}

impl Dynamics for Spring {
    fn right_hand_side(&self) -> &[f64] {
        &[0.0, 0.0, -0.1, 0.0, 0.0, -0.1]
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (a, (i, j)) in &self.matrix {
            y[i as usize] += a * x[j as usize];
        }
    }
    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Vertices(&self.blocks)
    }
    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Sparse(self.matrix.view()))
    }
}

fn solve_spring(kind: SolverKind, spring: &Spring) -> Result<SolveReport, SolveError> {
    let dynamics: [&dyn Dynamics; 1] = [spring];
    let problem = ContactProblem {
        dynamics: &dynamics,
        constraints: &ConstraintSet::default(),
    };
    let mut solver = kind.build(StopCriteria::default());
    solver.solve(&problem, &[0.0; 6], &mut Solution::default())
}

#[test]
fn sparse_matrices_are_rejected_with_the_location_of_the_bad_number() {
    for kind in SolverKind::ALL {
        assert!(solve_spring(kind, &Spring::new(-1.0)).is_ok_and(|report| report.is_trusted()));
        let mut spring = Spring::new(-1.0);
        spring.matrix.data_mut()[3] = f64::NAN;
        let error = solve_spring(kind, &spring)
            .expect_err("rejected")
            .to_string();
        for word in ["A of participant 0", "row 4, column 1", "NaN"] {
            assert!(
                error.contains(word),
                "{kind}: `{word}` is missing in: {error}"
            );
        }
        let mut spring = Spring::new(-1.0);
        spring.blocks[13] = -2.0;
        let error = solve_spring(kind, &spring)
            .expect_err("rejected")
            .to_string();
        for word in ["A of participant 0", "row 4", "not positive definite"] {
            assert!(
                error.contains(word),
                "{kind}: `{word}` is missing in: {error}"
            );
        }
    }
}

/// Five velocities, with parts of sizes that may not match.
struct Misfit {
    sizes: Vec<usize>,
    values: Vec<f64>,
    vertices: Option<Vec<f64>>,
    assembled: Option<Vec<f64>>,
}

impl Misfit {
    fn of_sizes(sizes: &[usize]) -> Self {
        let identity = |n: usize| (0..n * n).map(move |i| f64::from(u8::from(i % (n + 1) == 0)));
        Self {
            sizes: sizes.to_vec(),
            values: sizes.iter().flat_map(|&n| identity(n)).collect(),
            vertices: None,
            assembled: Some(identity(5).collect()),
        }
    }
}

impl Dynamics for Misfit {
    fn right_hand_side(&self) -> &[f64] {
        &[0.0; 5]
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }
    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        match &self.vertices {
            Some(values) => BlockDiagonal::Vertices(values),
            None => BlockDiagonal::Mixed {
                sizes: &self.sizes,
                values: &self.values,
            },
        }
    }
    fn assembled(&self) -> Option<Assembled<'_>> {
        self.assembled.as_deref().map(Assembled::Dense)
    }
}

#[test]
fn dynamics_with_inconsistent_sizes_are_rejected_with_the_part() {
    let solve = |kind: SolverKind, body: &Misfit| {
        let dynamics: [&dyn Dynamics; 1] = [body];
        let mut set = ConstraintSet::default();
        let mut rows = Rows::default();
        rows.reset(3);
        rows.identity(0, 2, 3);
        let mut basis = set.basis(3);
        basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
        let law = ContactLaw::Lagged(Lagged::new(&parameters(), Vector3::z(), 0.1));
        basis.stencil_contact([1.0], None, Vector3::zeros(), law);
        let problem = ContactProblem {
            dynamics: &dynamics,
            constraints: &set,
        };
        let mut solver = kind.build(StopCriteria::default());
        solver.solve(&problem, &[0.0; 5], &mut Solution::default())
    };
    for kind in SolverKind::ALL {
        let whole = solve(kind, &Misfit::of_sizes(&[2, 3])).expect("consistent sizes");
        assert!(whole.is_trusted(), "{kind}");
        let fits = || Misfit::of_sizes(&[2, 3]);
        let cases: [(Misfit, &str); 5] = [
            (
                Misfit::of_sizes(&[2, 2]),
                "4 rows in its diagonal blocks, expected 5",
            ),
            (
                Misfit::of_sizes(&[2, 4]),
                "6 rows in its diagonal blocks, expected 5",
            ),
            (
                Misfit {
                    values: vec![1.0; 4],
                    ..fits()
                },
                "4 values in its diagonal blocks, expected 13",
            ),
            (
                Misfit {
                    vertices: Some(vec![1.0; 9]),
                    ..fits()
                },
                "3 rows in its diagonal blocks, expected 5",
            ),
            (
                Misfit {
                    assembled: Some(vec![1.0; 24]),
                    ..fits()
                },
                "24 values in its dense A, expected 25",
            ),
        ];
        for (body, words) in cases {
            let error = solve(kind, &body).expect_err("rejected").to_string();
            assert!(
                error.contains("participant 0") && error.contains(words),
                "{kind}: {words} is missing in: {error}"
            );
        }
    }
}

#[test]
fn a_matrix_with_definite_blocks_that_is_indefinite_is_rejected() {
    // Blocks of 2 with −3 between them: eigenvalues 5 and −1.
    for kind in SolverKind::ALL {
        let error = solve_spring(kind, &Spring::new(-3.0))
            .expect_err("rejected")
            .to_string();
        for word in ["participant 0", "row", "not positive definite"] {
            assert!(
                error.contains(word),
                "{kind}: `{word}` is missing in: {error}"
            );
        }
    }
}

#[test]
fn solvers_are_found_by_name_and_unknown_names_are_rejected_with_the_choices() {
    for kind in SolverKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
    }
    let error = "newtn".parse::<SolverKind>().expect_err("no such solver");
    assert!(error.to_string().contains("newton-cg"), "{error}");
}
