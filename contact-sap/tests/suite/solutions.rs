//! Properties of solutions: fixed points, symmetries, islands, threads, derivatives.

use crate::support::clutter::clutter;
use crate::support::{
    Extras, Models, Recipe, Scene, Stiffness, TIME_STEP_S, random_scene, with_problem,
};
use nalgebra::{DMatrix, DVector, Vector3};
use pliant_contact_sap::{
    Bilateral, ConstraintLabel, ConstraintSet, ContactLaw, ContactParameters, ConvexContactSolver,
    DenseDynamics, Dissipation, Dynamics, FrictionTangent, NEAR_RIGID_CONTACT, Newton,
    NewtonSettings, ParticipantIdx, RowKind, RowLaw, Rows, Sap, Solution, SolveReport, SolverKind,
    StopCriteria, StopReason,
};

const TIGHT: StopCriteria = StopCriteria {
    absolute_tolerance: 1e-14,
    relative_tolerance: 1e-12,
    iterations_max: 200,
};

fn solve_from(
    solver: &mut dyn ConvexContactSolver,
    scene: &Scene,
    guess: &[f64],
) -> (Solution, SolveReport) {
    let mut out = Solution::default();
    let report = with_problem(scene, |p| solver.solve(p, guess, &mut out))
        .unwrap_or_else(|error| panic!("{error}"));
    (out, report)
}

fn newton(stop: StopCriteria, friction: FrictionTangent) -> Newton {
    Newton::new(NewtonSettings {
        stop,
        friction,
        ..NewtonSettings::default()
    })
}

/// Largest difference of two velocities, relative to the largest velocity.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max) / size.max(1e-300)
}

const SOFT: Recipe = Recipe {
    stiffness: Stiffness::Relative(-4.0, 0.0),
    extras: Extras::Contacts,
    ..Recipe::SMALL
};

#[test]
fn a_guess_that_is_the_solution_costs_no_iteration() {
    for kind in SolverKind::ALL {
        let mut solver = kind.build(StopCriteria::default());
        for seed in 0..50 {
            let scene = random_scene(seed, &SOFT);
            let (solution, _) = solve_from(solver.as_mut(), &scene, &scene.v0);
            let (again, report) = solve_from(solver.as_mut(), &scene, &solution.velocity);
            assert_eq!(
                (report.iterations, report.factorisations),
                (0, 0),
                "{kind}, seed {seed}"
            );
            assert_eq!(again.velocity, solution.velocity);
            assert_eq!(report.stop, StopReason::Converged);
        }
    }
}

/// A box of 1 kg on the floor, at rest but for gravity, contacts at its corners.
fn resting_box(law: impl Fn(f64) -> ContactLaw) -> (DenseDynamics, ConstraintSet) {
    let mut a = DMatrix::<f64>::identity(6, 6);
    for i in 0..3 {
        a[(i, i)] = 1.0 / 600.0;
    }
    let v_star = DVector::from_column_slice(&[0.0, 0.0, 0.0, 1e-4, 0.0, -9.81 * TIME_STEP_S]);
    let b = &a * v_star;
    let dynamics = DenseDynamics::new(a.as_slice().to_vec(), b.as_slice().to_vec());
    let mut rows = Rows::default();
    rows.reset(6);
    rows.identity(0, 0, 6);
    let mut set = ConstraintSet::default();
    let mut basis = set.basis(6);
    basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
    for (x, y) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        let corner = Vector3::new(0.05 * x, 0.05 * y, -0.05);
        // w = ‖W‖/3 of a corner of a cube of 1 kg and 10 cm: 1 + 600 ((p²)I − ppᵀ).
        let w = 2.9;
        basis.twist_contact(corner, Vector3::zeros(), law(w));
    }
    (dynamics, set)
}

fn parameters(w: f64) -> ContactParameters {
    ContactParameters {
        time_step: TIME_STEP_S.into(),
        signed_distance: -1e-4,
        start_velocity: 0.0,
        stiffness: 1e5,
        dissipation: Dissipation::RelaxationTime(0.01),
        friction: 0.5,
        stiction_speed: 1e-4,
        inverse_inertia: w,
        near_rigid: NEAR_RIGID_CONTACT,
    }
}

#[test]
fn newton_takes_one_iteration_on_a_quadratic_cost() {
    let (dynamics, set) = resting_box(|w| ContactLaw::Sap(Sap::new(&parameters(w), Vector3::z())));
    let dynamics: [&dyn Dynamics; 1] = [&dynamics];
    let problem = pliant_contact_sap::ContactProblem {
        dynamics: &dynamics,
        constraints: &set,
    };
    let mut out = Solution::default();
    for kind in [SolverKind::Newton, SolverKind::QuasiNewton] {
        let mut solver = kind.build(StopCriteria::default());
        let report = solver
            .solve(&problem, &[0.0; 6], &mut out)
            .expect("a valid problem");
        assert_eq!(report.iterations, 1, "{kind}: all four corners stick");
        assert_eq!(report.line_search_evaluations, 1);
        assert!(out.contact_impulse.chunks_exact(3).all(|g| g[2] > 0.0));
    }
}

#[test]
fn a_free_body_moves_as_if_alone_and_exactly() {
    let (dynamics, _) = resting_box(|w| ContactLaw::Sap(Sap::new(&parameters(w), Vector3::z())));
    let dynamics: [&dyn Dynamics; 1] = [&dynamics];
    let set = ConstraintSet::default();
    let problem = pliant_contact_sap::ContactProblem {
        dynamics: &dynamics,
        constraints: &set,
    };
    for kind in SolverKind::ALL {
        let mut out = Solution::default();
        let mut solver = kind.build(TIGHT);
        let report = solver
            .solve(&problem, &[0.3; 6], &mut out)
            .expect("a valid problem");
        let expected = [0.0, 0.0, 0.0, 1e-4, 0.0, -9.81 * TIME_STEP_S];
        assert!(difference(&expected, &out.velocity) < 1e-13, "{kind}");
        assert!(report.iterations <= 2, "{kind}: {report:?}");
    }
}

/// The scene with its participants in reverse order, and the permutation of velocities.
fn reversed(seed: u64, recipe: &Recipe) -> (Scene, Scene, Vec<usize>) {
    let scene = random_scene(seed, recipe);
    let mut other = random_scene(seed, recipe);
    let sizes: Vec<usize> = other.bodies.iter().map(|b| b.dynamics.n_dofs()).collect();
    let n = sizes.len();
    other.bodies.reverse();
    let first = |i: usize| sizes[..i].iter().sum::<usize>();
    let total: usize = sizes.iter().sum();
    let mut from = Vec::new();
    for i in (0..n).rev() {
        from.extend(first(i)..first(i) + sizes[i]);
    }
    assert_eq!(from.len(), total);
    other.v0 = from.iter().map(|&k| scene.v0[k]).collect();
    other.set = scene.set_with(|p| ParticipantIdx(n - 1 - p.0));
    (scene, other, from)
}

#[test]
fn the_order_of_participants_does_not_matter() {
    let mut solver = newton(TIGHT, FrictionTangent::PrimalDual);
    let recipe = Recipe {
        mass_exponent: (-1.0, 1.0),
        ..SOFT
    };
    for seed in 0..100 {
        let (scene, other, from) = reversed(seed, &recipe);
        let (a, _) = solve_from(&mut solver, &scene, &scene.v0);
        let (b, _) = solve_from(&mut solver, &other, &other.v0);
        let permuted: Vec<f64> = from.iter().map(|&k| a.velocity[k]).collect();
        assert!(difference(&permuted, &b.velocity) < 1e-11, "seed {seed}");
    }
}

/// Couples neighbours by rows without force, which makes one island.
fn constraint_without_force(scene: &mut Scene) {
    let label = ConstraintLabel {
        kind: RowKind::Other,
        index: 0,
    };
    for i in 1..scene.bodies.len() {
        let mut rows = Rows::default();
        rows.reset(1);
        rows.identity(0, 0, 1);
        let mut basis = scene.set.basis(1);
        basis.rows(ParticipantIdx(i - 1), &rows, 0, 1.0);
        basis.rows(ParticipantIdx(i), &rows, 0, -1.0);
        let slack = Bilateral::dry_friction(0.0, 1.0);
        basis.coordinate(0, RowLaw::Bilateral(slack), label);
    }
}

#[test]
fn islands_solved_separately_give_the_solution_of_the_whole() {
    let mut solver = newton(TIGHT, FrictionTangent::PrimalDual);
    let recipe = Recipe {
        bases_per_participant: 0.5,
        mass_exponent: (-1.0, 1.0),
        ..SOFT
    };
    let mut error = 0;
    for seed in 0..100 {
        let mut scene = random_scene(seed, &recipe);
        let (a, report) = solve_from(&mut solver, &scene, &scene.v0);
        error += report.islands;
        constraint_without_force(&mut scene);
        let (b, whole) = solve_from(&mut solver, &scene, &scene.v0);
        assert_eq!(whole.islands, 1);
        let error = difference(&a.velocity, &b.velocity);
        // The tolerance of the whole is relative to the island with the largest momentum.
        assert!(error < 1e-9, "seed {seed}: {error:e}");
    }
    assert!(error > 200, "there are several islands");
}

#[test]
fn one_two_and_eight_threads_give_the_same_bits() {
    let scenes: Vec<Scene> = (0..6)
        .map(|seed| {
            let recipe = Recipe {
                bases_per_participant: 0.4,
                ..Recipe::LARGE
            };
            random_scene(seed, &recipe)
        })
        .collect();
    let run = |threads: usize| -> Vec<Solution> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        pool.install(|| {
            let mut all = Vec::new();
            for kind in SolverKind::ALL {
                let stop = StopCriteria {
                    iterations_max: 30,
                    ..StopCriteria::default()
                };
                let mut solver = kind.build(stop);
                for scene in &scenes {
                    let (solution, report) = solve_from(solver.as_mut(), scene, &scene.v0);
                    assert!(report.islands > 3);
                    all.push(solution);
                }
            }
            all
        })
    };
    let one = run(1);
    for threads in [2, 8] {
        let many = run(threads);
        for (a, b) in one.iter().zip(&many) {
            let bits = |s: &Solution| -> Vec<u64> {
                let all = s.velocity.iter().chain(&s.contact_impulse);
                all.chain(&s.row_impulse).map(|x| x.to_bits()).collect()
            };
            assert_eq!(bits(a), bits(b), "{threads} threads");
        }
    }
}

#[test]
fn earlier_solves_do_not_change_the_solution() {
    for kind in SolverKind::ALL {
        let stop = StopCriteria {
            iterations_max: 30,
            ..StopCriteria::default()
        };
        let mut used = kind.build(stop);
        for seed in 0..20 {
            let scene = random_scene(seed, &Recipe::SMALL);
            let (a, _) = solve_from(used.as_mut(), &scene, &scene.v0);
            let (b, _) = solve_from(kind.build(stop).as_mut(), &scene, &scene.v0);
            assert_eq!(a, b, "{kind}, seed {seed}");
        }
    }
}

#[test]
fn hessian_solve_gives_the_derivative_of_the_step() {
    // ∂v/∂v* = H⁻¹A, column by column, against central differences of whole solves.
    let recipe = Recipe {
        mass_exponent: (-1.0, 1.0),
        stiffness: Stiffness::Absolute(3.0, 6.0),
        ..Recipe::SMALL
    };
    let mut reference = newton(TIGHT, FrictionTangent::PrimalDual);
    let mut checked = 0;
    for seed in 0..40 {
        let scene = random_scene(seed, &recipe);
        let n = scene.n_dofs();
        let (a, b) = scene.dense();
        let j = seed as usize % n;
        let mut solve = |h: f64| {
            let b: Vec<f64> = (0..n).map(|i| b[i] + h * a[(i, j)]).collect();
            let scene = scene.with_right_hand_side(&b);
            solve_from(&mut reference, &scene, &scene.v0).0
        };
        let mut quotient = |h: f64| -> Vec<f64> {
            let (plus, minus) = (solve(h).velocity, solve(-h).velocity);
            let rise = plus.iter().zip(minus).map(|(p, m)| p - m);
            rise.map(|rise| rise / (2.0 * h)).collect()
        };
        let (coarse, fine) = (quotient(2e-5), quotient(1e-5));
        if difference(&fine, &coarse) > 1e-4 {
            // The step crosses a boundary of a law, where there is no derivative.
            continue;
        }
        let at = solve(0.0);
        for kind in SolverKind::ALL {
            let mut solver = kind.build(StopCriteria::default());
            let mut x: Vec<f64> = a.column(j).iter().copied().collect();
            with_problem(&scene, |p| solver.hessian_solve(p, &at, &mut x)).expect("solvable");
            let error = difference(&fine, &x);
            assert!(error < 1e-3, "{kind}, seed {seed}: {error:e}");
        }
        checked += 1;
    }
    assert!(checked > 25, "{checked}");
}

#[test]
fn reports_count_iterations_evaluations_and_factorisations() {
    let scene = clutter(1, (3, 3, 2), Models::Lagged);
    for kind in SolverKind::ALL {
        let mut solver = kind.build(StopCriteria {
            iterations_max: 500,
            ..StopCriteria::default()
        });
        let (solution, report) = solve_from(solver.as_mut(), &scene, &scene.v0);
        match kind {
            SolverKind::Newton | SolverKind::NewtonCg => {
                assert_eq!(report.stop, StopReason::Converged, "{kind}");
            }
            SolverKind::QuasiNewton | SolverKind::GaussSeidel => {
                let ended = report.stop != StopReason::IterationLimit;
                assert_eq!(report.is_trusted(), ended, "{kind}");
                assert!(ended || report.iterations == 500, "{kind}");
            }
        }
        assert_eq!(report.islands, 1, "{kind}");
        // One residual before each iteration, and the last.
        let history = &solution.residual_history;
        assert_eq!(history.len(), report.iterations + 1, "{kind}");
        assert_eq!(history.last(), Some(&report.residual), "{kind}");
        let mut idle = kind.build(StopCriteria {
            iterations_max: 0,
            ..StopCriteria::default()
        });
        let (_, untouched) = solve_from(idle.as_mut(), &scene, &scene.v0);
        assert_eq!(untouched.stop, StopReason::IterationLimit, "{kind}");
        assert_eq!(history[0], untouched.residual, "{kind}");
        assert!(report.residual < untouched.residual, "{kind}");
        assert!(report.cost < untouched.cost, "{kind}");
        assert_eq!(report.iterations_total, report.iterations, "{kind}");
        assert!(report.line_search_evaluations > 0, "{kind}");
        let inner = report.inner_iterations > 0;
        assert_eq!(inner, kind == SolverKind::NewtonCg, "{kind}");
        // Newton factors H in each iteration, Gauss-Seidel A once.
        let factorisations = match kind {
            SolverKind::GaussSeidel => 1,
            _ => report.iterations,
        };
        assert_eq!(report.factorisations, factorisations, "{kind}");
    }
}

#[test]
fn a_tolerance_below_round_off_stops_at_round_off() {
    let stop = StopCriteria {
        absolute_tolerance: 0.0,
        relative_tolerance: 0.0,
        ..StopCriteria::default()
    };
    for kind in [SolverKind::Newton, SolverKind::NewtonCg] {
        let mut solver = kind.build(stop);
        for seed in 0..5 {
            let scene = clutter(seed, (2, 2, 2), Models::Lagged);
            let (_, report) = solve_from(solver.as_mut(), &scene, &scene.v0);
            assert_eq!(report.stop, StopReason::CostStalledAtRoundOff, "{kind}");
            let mut usual = kind.build(StopCriteria::default());
            let (_, usual) = solve_from(usual.as_mut(), &scene, &scene.v0);
            assert!(report.residual < usual.residual, "{kind}, seed {seed}");
            assert!(report.cost <= usual.cost + 1e-12 * usual.cost.abs());
        }
    }
}

#[test]
fn the_primal_dual_tangent_takes_fewer_iterations() {
    for models in [Models::Lagged, Models::Similar] {
        let mut totals = [0, 0];
        for seed in 0..10 {
            let scene = clutter(seed, (4, 4, 2), models);
            let tangents = [FrictionTangent::PrimalDual, FrictionTangent::Plain];
            let mut costs = [0.0; 2];
            for (k, friction) in tangents.into_iter().enumerate() {
                let mut solver = newton(StopCriteria::default(), friction);
                let (_, report) = solve_from(&mut solver, &scene, &scene.v0);
                assert_eq!(report.stop, StopReason::Converged);
                totals[k] += report.iterations;
                costs[k] = report.cost;
            }
            assert!((costs[0] - costs[1]).abs() <= 1e-9 * costs[0].abs());
        }
        eprintln!(
            "{models:?}: primal-dual {} iterations, plain {}, ten piles",
            totals[0], totals[1]
        );
        assert!(totals[0] < totals[1]);
    }
}

#[test]
fn from_the_last_steps_velocities_a_pile_takes_few_iterations() {
    let mut solver = Newton::default();
    for (change, most) in [(1e-4, 1.0), (1e-2, 2.5), (1e-1, 4.0)] {
        let mut iterations = 0;
        for seed in 0..10 {
            let mut scene = clutter(seed, (4, 4, 2), Models::Lagged);
            let (last, _) = solve_from(&mut solver, &scene, &scene.v0);
            let (_, b) = scene.dense();
            let b: Vec<f64> = b
                .iter()
                .enumerate()
                .map(|(i, b)| b * (1.0 + change * (i as f64 + seed as f64).sin()))
                .collect();
            scene = scene.with_right_hand_side(&b);
            let (_, report) = solve_from(&mut solver, &scene, &last.velocity);
            iterations += report.iterations;
        }
        let mean = f64::from(iterations as u32) / 10.0;
        eprintln!("b changed by {change}: {mean} iterations");
        assert!(mean <= most, "{mean} iterations after a change by {change}");
    }
}
