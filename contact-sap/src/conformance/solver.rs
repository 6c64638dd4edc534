//! Does a solver find the minimiser, say so, and refuse what has none?

use nalgebra::{DVector, Vector3};

use super::probe::{Probe, distance, norm, same_bits};
use super::reference::DenseProblem;
use super::scenes::{Model, Scene, parameters};
use super::{Violation, promise};
use crate::law::ContactParameters;
use crate::problem::ContactProblem;
use crate::solver::{ConvexContactSolver, Solution, SolveMode, SolveReport};

/// Checks a [`ConvexContactSolver`] on a dozen built-in problems: masses on a floor, side by side and stacked, two bodies
/// that touch in many points, a body that touches itself, joints with limits, actuators, constraints and dry friction; all three
/// contact models; stiffness up to what a step resolves (δt²kw = 10).
///
/// Build the solver with [`StopCriteria::default`](crate::StopCriteria) or tighter ones, and as many iterations as it needs.
///
/// - The report is trusted, and its cost and residual are those of the solution.
/// - ‖D∇ℓ‖ ≤ 1e-5 max(‖DAv‖, ‖DJᵀγ‖): ten times the default tolerance, for other norms and other scales.
/// - v is within 1e-4 of the minimiser of a dense reference, in the norm of A; γ is what the laws say at v.
/// - From the reference minimiser it takes no iteration.
/// - Solved again for its impulses, and then for the rest, it leads to that minimiser, too.
/// - `hessian_solve` is the inverse of the Hessian.
/// - The same problem gives the same bits, whatever was solved in between, and in a dirty `Solution`.
/// - Refused: NaN in b, in a surface velocity, in a law, in the guess; an indefinite A; negative friction; a guess of the
///   wrong length.
///
/// # Errors
/// The first promise found broken, with the name of the problem.
pub fn check_solver(solver: &mut dyn ConvexContactSolver) -> Result<(), Violation> {
    let scenes = Scene::all();
    let mut solutions = Vec::new();
    for scene in &scenes {
        let solution = scene
            .with_problem(|problem| check_problem(solver, problem))
            .map_err(|violation| Violation(format!("{}: {violation}", scene.name)))?;
        solutions.push(solution);
    }
    // Once more in the opposite order, into a solution that holds something else.
    let mut dirty = Solution::default();
    for (scene, solution) in scenes.iter().zip(&solutions).rev() {
        let repeated = scene.with_problem(|problem| {
            let guess = vec![0.0; problem.n_dofs()];
            solver.solve(problem, &guess, &mut dirty).is_ok()
        });
        let same = repeated
            && same_bits(&dirty.velocity, &solution.velocity)
            && same_bits(&dirty.contact_impulse, &solution.contact_impulse)
            && same_bits(&dirty.row_impulse, &solution.row_impulse);
        promise(same, || {
            format!("{}: solved again, it has other bits", scene.name)
        })?;
    }
    check_refusals(solver)
}

fn solve(
    solver: &mut dyn ConvexContactSolver,
    problem: &ContactProblem<'_>,
    guess: &[f64],
    out: &mut Solution,
) -> Result<SolveReport, Violation> {
    let report = solver.solve(problem, guess, out);
    let report = report.map_err(|e| Violation(format!("solve fails: {e}")))?;
    promise(report.is_trusted(), || format!("not solved: {report:?}"))?;
    Ok(report)
}

fn check_problem(
    solver: &mut dyn ConvexContactSolver,
    problem: &ContactProblem<'_>,
) -> Result<Solution, Violation> {
    let dense = DenseProblem::new(problem);
    let n = problem.n_dofs();
    let mut out = Solution::default();
    let report = solve(solver, problem, &vec![0.0; n], &mut out)?;
    promise(out.velocity.len() == n, || {
        format!("the solution has {} velocities of {n}", out.velocity.len())
    })?;
    let v = DVector::from_column_slice(&out.velocity);
    let (residual, scale) = dense.residual(&v);
    promise(residual <= 1e-5 * scale + 1e-13, || {
        format!("‖D∇ℓ‖ is {residual:e}, the terms it balances are {scale:e}")
    })?;
    let cost = dense.cost(&v);
    promise(
        (report.cost - cost).abs() <= 1e-9 * (scale * scale + cost.abs()),
        || {
            format!(
                "the report says the cost is {:e}, at the solution it is {cost:e}",
                report.cost
            )
        },
    )?;
    let (contacts, rows) = dense.impulses(&v);
    for (what, found, expected) in [
        ("contact", &out.contact_impulse, contacts),
        ("row", &out.row_impulse, rows),
    ] {
        promise(found.len() == expected.len(), || {
            format!(
                "the solution has {} values of {what} impulse, not {}",
                found.len(),
                expected.len()
            )
        })?;
        // Stiff laws turn round-off of v into impulse.
        let error = distance(found, &expected);
        promise(error <= 1e-6 * (norm(&expected) + scale), || {
            format!("the {what} impulses are off by {error:e} from the laws at the solution")
        })?;
    }

    let best = dense.minimise()?;
    let in_a = |x: &DVector<f64>| x.dot(&(&dense.a * x)).max(0.0).sqrt();
    let free = dense
        .a
        .clone()
        .cholesky()
        .expect("A is definite")
        .solve(&dense.b);
    let (error, size) = (in_a(&(&v - &best)), in_a(&best).max(in_a(&free)));
    promise(error <= 1e-4 * size, || {
        format!("the solution is {error:e} off the minimiser, in the norm of A, which has {size:e}")
    })?;
    let mut again = Solution::default();
    let report = solve(solver, problem, best.as_slice(), &mut again)?;
    promise(report.iterations == 0, || {
        format!(
            "guessing the minimiser takes {} iterations",
            report.iterations
        )
    })?;
    // Once more with what is known of the dynamics: impulses first, then the rest.
    let mut again = Solution {
        velocity: vec![0.0; n],
        ..Solution::default()
    };
    for mode in [SolveMode::Inexact, SolveMode::ImpulsesOnly, SolveMode::Full] {
        let guess = again.velocity.clone();
        let report = solver
            .solve_again(problem, &guess, mode, &mut again)
            .map_err(|e| Violation(format!("solve_again fails: {e}")))?;
        promise(report.is_trusted(), || {
            format!("not solved again: {report:?}")
        })?;
        promise(
            mode != SolveMode::Full || report.unsolved_velocities == 0,
            || {
                format!(
                    "{} velocities are left out unasked",
                    report.unsolved_velocities
                )
            },
        )?;
    }
    let error = in_a(&(DVector::from_column_slice(&again.velocity) - &best));
    promise(error <= 1e-4 * size, || {
        format!("solved again, it is {error:e} off the minimiser, which has {size:e}")
    })?;
    check_hessian_solve(solver, problem, &dense, &out)?;
    Ok(out)
}

fn check_hessian_solve(
    solver: &mut dyn ConvexContactSolver,
    problem: &ContactProblem<'_>,
    dense: &DenseProblem<'_>,
    at: &Solution,
) -> Result<(), Violation> {
    let b = Probe::new(5).vector(at.velocity.len());
    let mut x = b.clone();
    solver
        .hessian_solve(problem, at, &mut x)
        .map_err(|e| Violation(format!("hessian_solve fails: {e}")))?;
    let h = dense.hessian(&DVector::from_column_slice(&at.velocity));
    let exact = h
        .cholesky()
        .expect("H is definite")
        .solve(&DVector::from_column_slice(&b));
    let (error, size) = (distance(&x, exact.as_slice()), exact.norm());
    promise(error <= 1e-6 * size, || {
        format!("hessian_solve is off by {error:e} from H⁻¹x of length {size:e}")
    })
}

fn check_refusals(solver: &mut dyn ConvexContactSolver) -> Result<(), Violation> {
    let good = || Scene::masses("masses", Model::Lagged, 0.0);
    let mut out = Solution::default();
    let mut refuses = |scene: &Scene, guess: &[f64]| {
        scene.with_problem(|problem| solver.solve(problem, guess, &mut out).is_err())
    };
    let n = good().n_dofs();
    let guess = vec![0.0; n];
    let mut scene = good();
    scene.bodies[0].parts_mut().1[1] = f64::NAN;
    promise(refuses(&scene, &guess), || "NaN in b is not refused".into())?;
    let mut scene = good();
    scene.bodies[0].parts_mut().0[0] = -1.0;
    promise(refuses(&scene, &guess), || {
        "an indefinite A is not refused".into()
    })?;
    let mut scene = good();
    scene.constraints.contacts[0].bias.x = f64::NAN;
    promise(refuses(&scene, &guess), || {
        "NaN in a surface velocity is not refused".into()
    })?;
    let mut scene = good();
    let p = ContactParameters {
        friction: -0.5,
        ..parameters(0.0)
    };
    scene.constraints.contacts[0].law = Model::Lagged.law(&p, Vector3::z());
    promise(refuses(&scene, &guess), || {
        "negative friction is not refused".into()
    })?;
    let mut scene = good();
    let law = Model::Lagged.law(&parameters(f64::NAN), Vector3::z());
    scene.constraints.contacts[0].law = law;
    promise(refuses(&scene, &guess), || {
        "NaN in a law is not refused".into()
    })?;
    let mut spoilt = guess.clone();
    spoilt[0] = f64::NAN;
    promise(refuses(&good(), &spoilt), || {
        "NaN in the guess is not refused".into()
    })?;
    promise(refuses(&good(), &guess[1..]), || {
        "a guess that is too short is not refused".into()
    })?;
    // It still works afterwards.
    promise(!refuses(&good(), &guess), || {
        "after refusing problems, a good one is refused".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SolveError;
    use crate::friction_tangent::FrictionTangent;
    use crate::newton::{Newton, NewtonSettings};

    #[test]
    fn newton_passes() {
        for friction in [FrictionTangent::PrimalDual, FrictionTangent::Plain] {
            let settings = NewtonSettings {
                friction,
                ..NewtonSettings::default()
            };
            check_solver(&mut Newton::new(settings)).unwrap();
        }
    }

    #[test]
    fn the_reference_is_stationary() {
        for scene in Scene::all() {
            scene.with_problem(|problem| {
                let dense = DenseProblem::new(problem);
                let v = dense.minimise().unwrap();
                let (residual, scale) = dense.residual(&v);
                assert!(residual <= 1e-10 * scale, "{}", scene.name);
            });
        }
    }

    /// Newton with something added to its answers.
    struct Sloppy {
        newton: Newton,
        velocity: f64,
        impulse: f64,
        lets_pass: bool,
    }

    impl ConvexContactSolver for Sloppy {
        fn solve_for(
            &mut self,
            problem: &ContactProblem<'_>,
            guess: &[f64],
            mode: SolveMode,
            out: &mut Solution,
        ) -> Result<SolveReport, SolveError> {
            let report = self.newton.solve_for(problem, guess, mode, out);
            if report.is_err() && self.lets_pass {
                return Ok(SolveReport::default());
            }
            out.velocity.iter_mut().for_each(|v| *v += self.velocity);
            out.contact_impulse
                .iter_mut()
                .for_each(|gamma| *gamma += self.impulse);
            report
        }

        fn hessian_solve(
            &mut self,
            problem: &ContactProblem<'_>,
            at: &Solution,
            x: &mut [f64],
        ) -> Result<(), SolveError> {
            self.newton.hessian_solve(problem, at, x)
        }
    }

    #[test]
    fn each_broken_promise_is_named() {
        let verdict = |velocity, impulse, lets_pass| {
            let newton = Newton::default();
            let mut solver = Sloppy {
                newton,
                velocity,
                impulse,
                lets_pass,
            };
            check_solver(&mut solver).map_or_else(|e| e.to_string(), |()| "kept".into())
        };
        assert!(verdict(0.1, 0.0, false).contains("∇ℓ"));
        assert!(verdict(0.0, 0.1, false).contains("impulses are off"));
        assert!(verdict(0.0, 0.0, true).contains("NaN in b is not refused"));
    }
}
