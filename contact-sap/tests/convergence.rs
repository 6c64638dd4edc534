//! Both Newton solvers converge on every random problem; the others descend.

mod support;

use pliant_contact_sap::{ConvexContactSolver, FrictionTangent, Newton, NewtonSettings, Solution};
use support::{Recipe, random_scene, with_problem};

/// Solves every problem with both tangents; every report must be trusted.
fn check_newton(seeds: std::ops::Range<u64>, recipe: &Recipe) {
    let mut solvers = [FrictionTangent::PrimalDual, FrictionTangent::Plain].map(|friction| {
        Newton::new(NewtonSettings {
            friction,
            ..NewtonSettings::default()
        })
    });
    let mut out = Solution::default();
    let mut reasons = [[0usize; 3]; 2];
    let mut iterations = [0; 2];
    let mut most = [0; 2];
    for seed in seeds {
        let scene = random_scene(seed, recipe);
        for (s, solver) in solvers.iter_mut().enumerate() {
            let report = with_problem(&scene, |p| solver.solve(p, &scene.v0, &mut out))
                .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert!(report.is_trusted(), "seed {seed}, solver {s}: {report:?}");
            reasons[s][report.stop as usize] += 1;
            iterations[s] += report.iterations;
            most[s] = most[s].max(report.iterations);
        }
    }
    eprintln!(
        "[converged, stalled, limit] {reasons:?}; iterations {iterations:?}, at most {most:?}"
    );
}

#[test]
fn newton_converges_on_ten_thousand_small_problems() {
    check_newton(0..10_000, &Recipe::SMALL);
}

#[test]
fn newton_converges_on_two_hundred_large_problems() {
    check_newton(0..200, &Recipe::LARGE);
}
