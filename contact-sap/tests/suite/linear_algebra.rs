//! All linear algebras find the same minimiser, and the automatic choice suits the body.

use crate::support::{Extras, Recipe, Stiffness, TIME_STEP_S, random_scene, with_problem};
use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{
    Assembled, BlockDiagonal, ConstraintSet, ContactLaw, ContactParameters, ContactProblem,
    ConvexContactSolver, DenseDynamics, Dissipation, Dynamics, Lagged, LinearAlgebra,
    NEAR_RIGID_CONTACT, Newton, NewtonSettings, ParticipantIdx, Rows, Solution, SolveMode,
    SolveReport, StopCriteria,
};

const TIGHT: StopCriteria = StopCriteria {
    absolute_tolerance: 1e-14,
    relative_tolerance: 1e-10,
    iterations_max: 300,
};

fn newton(linear_algebra: LinearAlgebra) -> Newton {
    Newton::new(NewtonSettings {
        stop: TIGHT,
        linear_algebra,
        ..NewtonSettings::default()
    })
}

/// Largest difference of two velocities, relative to the largest velocity.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max) / size.max(1e-300)
}

#[test]
fn all_linear_algebras_find_the_minimiser_of_random_problems() {
    let soft = |recipe: Recipe| Recipe {
        stiffness: Stiffness::Relative(-4.0, 2.0),
        extras: Extras::Contacts,
        ..recipe
    };
    for (recipe, count) in [(soft(Recipe::SMALL), 400), (soft(Recipe::LARGE), 20)] {
        for seed in 0..count {
            let scene = random_scene(seed, &recipe);
            let solve = |choice: LinearAlgebra| {
                let mut out = Solution::default();
                let report = with_problem(&scene, |p| newton(choice).solve(p, &scene.v0, &mut out));
                let report =
                    report.unwrap_or_else(|error| panic!("{choice}, seed {seed}: {error}"));
                assert!(report.is_trusted(), "{choice}, seed {seed}: {report:?}");
                (out, report)
            };
            let (expected, direct) = solve(LinearAlgebra::Direct);
            for choice in LinearAlgebra::ALL {
                let (found, report) = solve(choice);
                let size = direct.cost.abs().max(report.cost.abs());
                assert!(
                    (report.cost - direct.cost).abs() <= 1e-8 * size,
                    "{choice}, seed {seed}: cost {} in place of {}",
                    report.cost,
                    direct.cost
                );
                let error = difference(&expected.velocity, &found.velocity);
                assert!(error < 1e-4, "{choice}, seed {seed}: {error:e}");
            }
        }
    }
}

/// A block of point masses on a lattice with springs along axes and face diagonals: A = M + δt²K.
struct Lattice {
    cells: [usize; 3],
    matrix: sprs::CsMatI<f64, u32>,
    blocks: Vec<f64>,
    right_hand_side: Vec<f64>,
    positions: Vec<Vector3<f64>>,
}

const SPACING: f64 = 0.02;
const GRAVITY: f64 = 9.81;

impl Lattice {
    fn new(cells: [usize; 3], mass: f64, stiffness: f64) -> Self {
        let [a, b, c] = cells;
        let n = a * b * c;
        let index = |[i, j, k]: [usize; 3]| (i * b + j) * c + k;
        let mut positions = Vec::new();
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        let mut add = |p: usize, q: usize, block: &Matrix3<f64>| {
            for col in 0..3 {
                for row in 0..3 {
                    let value = block[(row, col)];
                    entries.push(((3 * q + col) as u32, (3 * p + row) as u32, value));
                }
            }
        };
        for i in 0..a {
            for j in 0..b {
                for k in 0..c {
                    let here = index([i, j, k]);
                    positions.push(Vector3::new(i as f64, j as f64, k as f64) * SPACING);
                    add(here, here, &(Matrix3::identity() * (mass / n as f64)));
                    for d in [
                        [1, 0, 0],
                        [0, 1, 0],
                        [0, 0, 1],
                        [1, 1, 0],
                        [1, 0, 1],
                        [0, 1, 1],
                        [1, -1, 0],
                        [1, 0, -1],
                        [0, 1, -1_isize],
                    ] {
                        let to = [i, j, k]
                            .into_iter()
                            .zip(d)
                            .map(|(x, d)| x.checked_add_signed(d));
                        let to: Option<Vec<usize>> = to.collect();
                        let Some(to) = to.filter(|to| to.iter().zip(cells).all(|(x, n)| *x < n))
                        else {
                            continue;
                        };
                        let there = index([to[0], to[1], to[2]]);
                        let along = Vector3::new(d[0] as f64, d[1] as f64, d[2] as f64).normalize();
                        let spring = along * along.transpose() * (TIME_STEP_S.powi(2) * stiffness);
                        add(here, here, &spring);
                        add(there, there, &spring);
                        add(here, there, &-spring);
                        add(there, here, &-spring);
                    }
                }
            }
        }
        entries.sort_unstable_by_key(|(column, row, _)| (*column, *row));
        let (mut starts, mut rows, mut values) = (vec![0_u32], Vec::new(), Vec::new());
        let mut column = 0;
        let mut last = None;
        for (j, i, value) in entries {
            if last == Some((j, i)) {
                *values.last_mut().expect("not empty") += value;
                continue;
            }
            while column < j {
                starts.push(rows.len() as u32);
                column += 1;
            }
            rows.push(i);
            values.push(value);
            last = Some((j, i));
        }
        starts.push(rows.len() as u32);
        let matrix: sprs::CsMatI<f64, u32> =
            sprs::CsMatI::new_csc((3 * n, 3 * n), starts, rows, values);
        let mut blocks = Vec::new();
        for vertex in 0..n {
            for col in 0..3 {
                for row in 0..3 {
                    let value = matrix.get(3 * vertex + row, 3 * vertex + col);
                    blocks.push(value.copied().unwrap_or(0.0));
                }
            }
        }
        let fall = -GRAVITY * TIME_STEP_S * mass / n as f64;
        let right_hand_side = [0.0, 0.0, fall].repeat(n);
        Self {
            cells,
            matrix,
            blocks,
            right_hand_side,
            positions,
        }
    }

    /// Vertices with the given index along z.
    fn layer(&self, k: usize) -> Vec<usize> {
        let [a, b, c] = self.cells;
        (0..a * b).map(|ij| ij * c + k).collect()
    }
}

impl Dynamics for Lattice {
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

fn contact_law(normal: Vector3<f64>, load: f64, w: f64) -> ContactLaw {
    let parameters = ContactParameters {
        time_step: TIME_STEP_S.into(),
        signed_distance: -1e-4,
        start_velocity: 0.0,
        stiffness: 1e5,
        dissipation: Dissipation::HuntCrossley(10.0),
        friction: 0.5,
        stiction_speed: 1e-4,
        inverse_inertia: w,
        near_rigid: NEAR_RIGID_CONTACT,
    };
    ContactLaw::Lagged(Lagged::new(&parameters, normal, load))
}

/// The lattice on a floor, a rigid plate on top of it, contacts at all vertices of both layers.
fn loaded(lattice: &Lattice) -> (DenseDynamics, ConstraintSet) {
    let mut a = vec![0.0; 36];
    for k in 0..6 {
        a[7 * k] = if k < 3 { 1e-3 } else { 0.5 };
    }
    let mut b = vec![0.0; 6];
    (b[3], b[5]) = (0.05, -0.5 * GRAVITY * TIME_STEP_S - 0.1);
    let plate = DenseDynamics::new(a, b);
    let mut set = ConstraintSet::default();
    let mut rows = Rows::default();
    for vertex in lattice.layer(0) {
        rows.reset(3);
        rows.identity(0, 3 * vertex, 3);
        let mut basis = set.basis(3);
        basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
        basis.stencil_contact(
            [1.0],
            None,
            Vector3::zeros(),
            contact_law(Vector3::z(), 1e-4, 1e3),
        );
    }
    let mut twist = Rows::default();
    twist.reset(6);
    twist.identity(0, 0, 6);
    let top = lattice.layer(lattice.cells[2] - 1);
    for pair in top.windows(2) {
        rows.reset(6);
        for (k, vertex) in pair.iter().enumerate() {
            rows.identity(3 * k, 3 * vertex, 3);
        }
        let mut basis = set.basis(12);
        basis.rows(ParticipantIdx(0), &rows, 0, -1.0);
        basis.rows(ParticipantIdx(1), &twist, 6, 1.0);
        let p_WQ = 0.5 * (lattice.positions[pair[0]] + lattice.positions[pair[1]]);
        let law = contact_law(Vector3::z(), 1e-4, 1e3);
        basis.stencil_contact([0.5, 0.5], Some(p_WQ), Vector3::zeros(), law);
    }
    (plate, set)
}

fn solve(choice: LinearAlgebra, lattice: &Lattice) -> (Solution, SolveReport) {
    let (plate, set) = loaded(lattice);
    let dynamics: [&dyn Dynamics; 2] = [lattice, &plate];
    let problem = ContactProblem {
        dynamics: &dynamics,
        constraints: &set,
    };
    let mut out = Solution::default();
    let guess = vec![0.0; problem.n_dofs()];
    let report = newton(choice).solve(&problem, &guess, &mut out);
    (out, report.expect("a valid problem"))
}

#[test]
fn a_single_precision_factor_is_reused_over_newton_steps() {
    let lattice = Lattice::new([12, 8, 6], 2.0, 5e4);
    let (expected, direct) = solve(LinearAlgebra::Direct, &lattice);
    let (found, report) = solve(LinearAlgebra::Mixed, &lattice);
    assert!(direct.is_trusted() && report.is_trusted());
    assert_eq!(report.systems.mixed, report.iterations, "{report:?}");
    assert!(report.factorisations < report.iterations, "{report:?}");
    let error = difference(&expected.velocity, &found.velocity);
    assert!(error < 1e-6, "{error:e}");
    // A fresh solver gives the same bits.
    assert!(solve(LinearAlgebra::Mixed, &lattice).0 == found);
}

#[test]
fn one_large_island_has_the_same_bits_for_any_number_of_threads() {
    let lattice = Lattice::new([9, 9, 9], 2.0, 5e4);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        pool.install(|| LinearAlgebra::ALL.map(|choice| solve(choice, &lattice).0))
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn a_thin_body_is_factored() {
    let lattice = Lattice::new([180, 2, 2], 2.0, 5e4);
    let (_, report) = solve(LinearAlgebra::Automatic, &lattice);
    assert!(report.is_trusted());
    assert_eq!(report.systems.sparse, report.iterations, "{report:?}");
    assert_eq!(
        report.systems.to_string(),
        format!("{} sparse", report.iterations)
    );
}

#[test]
fn solving_again_for_impulses_skips_the_other_velocities() {
    let lattice = Lattice::new([180, 2, 2], 2.0, 5e4);
    let (plate, full) = loaded(&lattice);
    let dynamics: [&dyn Dynamics; 2] = [&lattice, &plate];
    // Few vertices in contact, so that most are eliminated.
    let mut set = ConstraintSet::default();
    let mut rows = Rows::default();
    for vertex in lattice.layer(0).into_iter().take(6) {
        rows.reset(3);
        rows.identity(0, 3 * vertex, 3);
        let mut basis = set.basis(3);
        basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
        let law = contact_law(Vector3::z(), 1e-4, 1e3);
        basis.stencil_contact([1.0], None, Vector3::zeros(), law);
    }
    let problem = |constraints| ContactProblem {
        dynamics: &dynamics,
        constraints,
    };
    let guess = vec![0.0; problem(&set).n_dofs()];
    for choice in [LinearAlgebra::Schur, LinearAlgebra::Direct] {
        let mut solver = newton(choice);
        let mut out = Solution::default();
        // First another problem with the same dynamics.
        let first = solver.solve(&problem(&full), &guess, &mut out);
        assert!(first.expect("a valid problem").is_trusted());
        let impulses =
            solver.solve_again(&problem(&set), &guess, SolveMode::ImpulsesOnly, &mut out);
        let impulses = impulses.expect("a valid problem");
        assert!(impulses.is_trusted());
        let eliminated = match choice {
            LinearAlgebra::Schur => 3 * (lattice.positions.len() - 6),
            _ => 0,
        };
        assert_eq!(impulses.unsolved_velocities, eliminated, "{choice}");
        let (loaded_impulses, start) = (out.contact_impulse.clone(), out.velocity.clone());
        let rest = solver.solve_again(&problem(&set), &start, SolveMode::Full, &mut out);
        let rest = rest.expect("a valid problem");
        // The tolerance is now that of the full problem, so one more step may be necessary.
        assert_eq!(rest.unsolved_velocities, 0, "{choice}: {rest:?}");
        assert!(rest.iterations <= 1, "{choice}: {rest:?}");

        let mut expected = Solution::default();
        let anew = newton(choice).solve(&problem(&set), &guess, &mut expected);
        assert!(anew.expect("a valid problem").is_trusted());
        assert!(
            difference(&expected.velocity, &out.velocity) < 1e-6,
            "{choice}"
        );
        assert!(
            difference(&expected.contact_impulse, &loaded_impulses) < 1e-6,
            "{choice}"
        );
    }
}

#[test]
fn an_inexact_solve_takes_fewer_iterations_and_a_full_one_after_it_converges() {
    let lattice = Lattice::new([60, 3, 3], 2.0, 5e4);
    let (plate, set) = loaded(&lattice);
    let dynamics: [&dyn Dynamics; 2] = [&lattice, &plate];
    let problem = ContactProblem {
        dynamics: &dynamics,
        constraints: &set,
    };
    let guess = vec![0.0; problem.n_dofs()];
    for choice in LinearAlgebra::ALL {
        let (mut exact, mut out) = (Solution::default(), Solution::default());
        let anew = newton(choice).solve(&problem, &guess, &mut exact);
        let anew = anew.expect("a valid problem");
        let mut solver = newton(choice);
        let inexact = solver.solve_for(&problem, &guess, SolveMode::Inexact, &mut out);
        let inexact = inexact.expect("a valid problem");
        assert!(
            inexact.iterations < anew.iterations,
            "{choice}: {inexact:?}"
        );
        let loaded_impulses = difference(&exact.contact_impulse, &out.contact_impulse);
        assert!(loaded_impulses < 0.1, "{choice}: {loaded_impulses}");
        let start = out.velocity.clone();
        let rest = solver.solve_again(&problem, &start, SolveMode::Full, &mut out);
        let rest = rest.expect("a valid problem");
        assert!(
            rest.is_trusted() && rest.unsolved_velocities == 0,
            "{choice}: {rest:?}"
        );
        let error = difference(&exact.velocity, &out.velocity);
        assert!(error < 1e-4, "{choice}: {error}");
    }
}
