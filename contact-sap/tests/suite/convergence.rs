//! Random problems: both Newton solvers converge on all of them, the others on those without stiff constraints, to the same
//! minimum. Counts are printed (`--nocapture`).

use std::ops::Range;

use crate::support::{Extras, Recipe, Scene, Stiffness, random_scene, with_problem};
use nalgebra::Vector3;
use pliant_contact_sap::{
    Acceleration, ConstraintSet, ContactLaw, ContactParameters, ContactProblem,
    ConvexContactSolver, DenseDynamics, Dissipation, Dynamics, FrictionTangent, GaussSeidel,
    GaussSeidelSettings, Lagged, Newton, NewtonSettings, ParticipantIdx, QuasiNewton,
    QuasiNewtonSettings, Rows, Solution, SolveReport, SolverKind, StopCriteria, StopReason,
};

type Solvers = Vec<(&'static str, Box<dyn ConvexContactSolver>)>;

fn newtons() -> Solvers {
    let stop = StopCriteria::default();
    let plain = NewtonSettings {
        stop,
        friction: FrictionTangent::Plain,
        ..NewtonSettings::default()
    };
    vec![
        ("newton", SolverKind::Newton.build(stop)),
        ("newton, plain tangent", Box::new(Newton::new(plain))),
        ("newton-cg", SolverKind::NewtonCg.build(stop)),
    ]
}

fn first_order(iterations_max: usize) -> Solvers {
    let stop = StopCriteria {
        iterations_max,
        ..StopCriteria::default()
    };
    let published = QuasiNewtonSettings {
        stop,
        acceleration: Acceleration::None,
        ..QuasiNewtonSettings::default()
    };
    vec![
        ("quasi-newton", SolverKind::QuasiNewton.build(stop)),
        (
            "quasi-newton, as published",
            Box::new(QuasiNewton::new(published)),
        ),
        (
            "gauss-seidel",
            Box::new(GaussSeidel::new(GaussSeidelSettings { stop })),
        ),
    ]
}

fn solve(solver: &mut dyn ConvexContactSolver, scene: &Scene, out: &mut Solution) -> SolveReport {
    with_problem(scene, |p| solver.solve(p, &scene.v0, out))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Every solver is trusted on every problem and finds the same cost as the first one.
fn check_all_converge(mut solvers: Solvers, seeds: Range<u64>, recipe: &Recipe) {
    let mut out = Solution::default();
    let mut reasons = vec![[0usize; 3]; solvers.len()];
    let mut iterations = vec![(0, 0); solvers.len()];
    for seed in seeds {
        let scene = random_scene(seed, recipe);
        let mut best: Option<SolveReport> = None;
        for (s, (name, solver)) in solvers.iter_mut().enumerate() {
            let report = solve(solver.as_mut(), &scene, &mut out);
            assert!(report.is_trusted(), "seed {seed}, {name}: {report:?}");
            reasons[s][report.stop as usize] += 1;
            iterations[s].0 += report.iterations;
            iterations[s].1 = report.iterations.max(iterations[s].1);
            let best = best.get_or_insert(report);
            // ℓ − ℓ* ≤ ½∇ℓᵀA⁻¹∇ℓ ≤ ½‖D∇ℓ‖²/λ_min(DAD); bodies here have λ_min above 1e-4.
            let gap = (report.cost - best.cost).abs();
            let residual = report.residual.max(best.residual) * scene.bodies.len() as f64;
            let allowed = 5e3 * residual * residual + 1e-12 * best.cost.abs();
            if gap > allowed {
                // Terms of the cost may cancel, so its round-off is that of the largest term.
                let (_, momentum) = scene.residual(&out.velocity);
                let allowed = allowed + 1e-12 * momentum * momentum;
                assert!(gap <= allowed, "seed {seed}, {name}: {gap:e} > {allowed:e}");
            }
        }
    }
    for ((name, _), (reasons, iterations)) in solvers.iter().zip(reasons.iter().zip(iterations)) {
        let (total, most) = iterations;
        eprintln!(
            "{name}: [converged, stalled, limit] = {reasons:?}, {total} iterations, at most {most}"
        );
    }
}

#[test]
fn newton_solvers_converge_on_ten_thousand_small_problems() {
    check_all_converge(newtons(), 0..10_000, &Recipe::SMALL);
}

#[test]
fn newton_solvers_converge_on_two_hundred_large_problems() {
    check_all_converge(newtons(), 0..200, &Recipe::LARGE);
}

const SOFT: Recipe = Recipe {
    stiffness: Stiffness::Relative(-4.0, 0.0),
    extras: Extras::Contacts,
    ..Recipe::SMALL
};

#[test]
fn all_solvers_converge_on_ten_thousand_small_soft_problems() {
    let mut solvers = newtons();
    solvers.extend(first_order(2_000));
    check_all_converge(solvers, 0..10_000, &SOFT);
}

#[test]
fn all_solvers_converge_on_large_soft_problems() {
    let mut solvers = newtons();
    solvers.extend(first_order(2_000));
    let recipe = Recipe {
        participants: Recipe::LARGE.participants,
        ..SOFT
    };
    check_all_converge(solvers, 0..50, &recipe);
}

/// On stiff problems the cost falls with the iteration limit, and an unconverged solve reports it.
fn check_descent(seeds: Range<u64>, recipe: &Recipe) {
    let limits = [0, 1, 2, 5, 15, 40];
    let mut newton = Newton::default();
    let mut out = Solution::default();
    let mut reasons = [[0usize; 3]; 3];
    for seed in seeds {
        let scene = random_scene(seed, recipe);
        let best = solve(&mut newton, &scene, &mut out);
        let mut last = [f64::INFINITY; 3];
        for limit in limits {
            for (s, (name, mut solver)) in first_order(limit).into_iter().enumerate() {
                let report = solve(solver.as_mut(), &scene, &mut out);
                let scale = 1e-12 * (last[s].abs().min(1e300) + best.cost.abs());
                assert!(
                    report.cost <= last[s] + scale,
                    "seed {seed}, {name}, {limit}: {} after {}",
                    report.cost,
                    last[s]
                );
                assert!(report.cost >= best.cost - scale.max(1e3 * best.residual.powi(2)));
                assert!(report.is_trusted() || report.iterations == limit);
                last[s] = report.cost;
                if limit == limits[5] {
                    reasons[s][report.stop as usize] += 1;
                }
            }
        }
    }
    eprintln!(
        "[converged, stalled, limit] after {} iterations: {reasons:?}",
        limits[5]
    );
    for reasons in reasons {
        assert!(reasons[StopReason::IterationLimit as usize] > 0);
    }
}

#[test]
fn first_order_solvers_descend_on_stiff_problems_and_report_the_iteration_limit() {
    check_descent(0..300, &Recipe::SMALL);
    check_descent(0..5, &Recipe::LARGE);
}

/// The report against a plain evaluation that shares only the laws with the solver.
#[test]
fn reports_agree_with_a_plain_evaluation_of_the_optimality_conditions() {
    let mut out = Solution::default();
    for kind in SolverKind::ALL {
        let mut solver = kind.build(StopCriteria::default());
        let mut converged = 0;
        for seed in 0..300 {
            let recipe = match kind {
                SolverKind::Newton | SolverKind::NewtonCg => Recipe::SMALL,
                SolverKind::QuasiNewton | SolverKind::GaussSeidel => SOFT,
            };
            let scene = random_scene(seed, &recipe);
            let report = solve(solver.as_mut(), &scene, &mut out);
            let (residual, reference) = scene.residual(&out.velocity);
            // The tolerance holds island by island, so at most √islands times for all.
            let tolerance = 1e-6 * reference * (report.islands as f64).sqrt() + 1e-13;
            if report.stop == StopReason::Converged {
                converged += 1;
                assert!(
                    residual <= 1.01 * tolerance,
                    "{kind}, seed {seed}: {residual:e}"
                );
            }
            let cost = scene.cost(&out.velocity);
            let scale = cost.abs().max(1e-6 * reference * reference);
            assert!(
                (cost - report.cost).abs() <= 1e-9 * scale,
                "{kind}, seed {seed}"
            );
        }
        assert!(converged > 250, "{kind}: {converged}");
    }
}

/// A chain of masses falls on a floor, each at another distance; the guess has all of them move upwards.
#[test]
fn contacts_that_close_do_not_cut_steps_short() {
    const N: usize = 40;
    let (mass, stiffness) = (1e-3, 0.05);
    let mut a = vec![0.0; 9 * N * N];
    let mut couple = |i: usize, j: usize, x: f64| a[3 * N * i + j] += x;
    for i in 0..3 * N {
        couple(i, i, mass);
        if i >= 3 {
            couple(i, i, stiffness);
            couple(i - 3, i - 3, stiffness);
            couple(i, i - 3, -stiffness);
            couple(i - 3, i, -stiffness);
        }
    }
    let b = (0..3 * N).map(|i| if i % 3 == 2 { -0.1 * mass } else { 0.0 });
    let body = DenseDynamics::new(a, b.collect());
    let mut set = ConstraintSet::default();
    let mut rows = Rows::default();
    for i in 0..N {
        rows.reset(3);
        rows.identity(0, 3 * i, 3);
        let parameters = ContactParameters {
            time_step: 0.01.into(),
            signed_distance: 1e-5 * ((7 * i % 11) as f64 - 5.0),
            start_velocity: 0.0,
            stiffness: 1e6,
            dissipation: Dissipation::HuntCrossley(1.0),
            friction: 0.0,
            stiction_speed: 1e-4,
            inverse_inertia: 1.0 / mass,
            near_rigid: 0.1,
        };
        let mut basis = set.basis(3);
        basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
        let law = ContactLaw::Lagged(Lagged::new(&parameters, Vector3::z(), 0.0));
        basis.stencil_contact([1.0], None, Vector3::zeros(), law);
    }
    let problem = ContactProblem {
        dynamics: &[&body as &dyn Dynamics],
        constraints: &set,
    };
    let iterations = |friction: FrictionTangent| {
        let mut newton = Newton::new(NewtonSettings {
            friction,
            ..NewtonSettings::default()
        });
        let mut out = Solution::default();
        let report = newton.solve(&problem, &[0.05; 3 * N], &mut out);
        let report = report.expect("a valid problem");
        assert_eq!(report.stop, StopReason::Converged);
        report.iterations
    };
    let plain = iterations(FrictionTangent::Plain);
    let primal_dual = iterations(FrictionTangent::PrimalDual);
    eprintln!("closing contacts: {primal_dual} iterations, {plain} by the Hessian itself");
    assert!(2 * primal_dual <= plain, "{primal_dual} for {plain}");
}
