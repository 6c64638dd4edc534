//! A repeated solve allocates no memory.

#[path = "suite/support/mod.rs"]
mod support;

use allocation_counter::measure;
use pliant_contact_sap::{Solution, SolverKind, StopCriteria};
use support::clutter::clutter;
use support::{Models, Recipe, random_scene, with_problem};

#[test]
fn a_repeated_solve_allocates_nothing() {
    // One thread, as rayon allocates for tasks.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("one thread");
    pool.install(|| {
        let scenes = [
            ("random", random_scene(3, &Recipe::SMALL)),
            ("many islands", random_scene(5, &Recipe::LARGE)),
            ("dense", clutter(1, (3, 3, 1), Models::Lagged)),
            ("sparse", clutter(1, (8, 8, 2), Models::Lagged)),
        ];
        for kind in SolverKind::ALL {
            let stop = StopCriteria {
                iterations_max: 20,
                ..StopCriteria::default()
            };
            for (name, scene) in &scenes {
                let mut solver = kind.build(stop);
                let mut out = Solution::default();
                let dynamics = scene.dynamics();
                let problem = pliant_contact_sap::ContactProblem {
                    dynamics: &dynamics,
                    constraints: &scene.set,
                };
                for repetition in 0..3 {
                    let allocations = measure(|| {
                        let report = solver.solve(&problem, &scene.v0, &mut out);
                        assert!(report.is_ok_and(|report| report.iterations > 0));
                    })
                    .count_total;
                    if repetition > 0 {
                        assert_eq!(allocations, 0, "{kind}, {name}, solve {repetition}");
                    } else {
                        assert!(
                            allocations > 0,
                            "{kind}, {name}: allocations are not counted"
                        );
                    }
                }
            }
        }
    });
}

#[test]
fn a_repeated_hessian_solve_allocates_nothing() {
    with_problem(&clutter(2, (3, 3, 2), Models::Sap), |problem| {
        for kind in SolverKind::ALL {
            let mut solver = kind.build(StopCriteria::default());
            let mut out = Solution::default();
            let guess = vec![0.0; problem.n_dofs()];
            let _ = solver.solve(problem, &guess, &mut out);
            let mut x = vec![1.0; problem.n_dofs()];
            solver
                .hessian_solve(problem, &out, &mut x)
                .expect("solvable");
            let again = measure(|| {
                solver
                    .hessian_solve(problem, &out, &mut x)
                    .expect("solvable");
            });
            assert_eq!(again.count_total, 0, "{kind}");
        }
    });
}
