//! Does a solver find the minimiser, say so, and refuse what has none?

use nalgebra::{DVector, Vector3};

use super::probe::{Probe, distance, norm, same_bits};
use super::reference::DenseProblem;
use super::{Violation, promise};
use crate::constraint_set::{ConstraintKind, ConstraintLabel, ConstraintSet};
use crate::dynamics::{DenseDynamics, Dynamics};
use crate::law::{
    Bilateral, ContactLaw, ContactParameters, Dissipation, Lagged, Limit, PdActuator, PdCommand,
    PdGains, RowLaw, Sap, Similar,
};
use crate::problem::{ContactProblem, ParticipantIdx};
use crate::rows::Rows;
use crate::solver::{ConvexContactSolver, Solution};

/// Checks a [`ConvexContactSolver`] on a dozen built-in problems: masses on a floor, side by side and stacked, two bodies
/// that touch in many points, a body that touches itself, joints with limits, actuators, ties and dry friction; all three
/// contact models; stiffness up to what a step resolves (δt²kw = 10).
///
/// Build the solver with [`StopCriteria::default`](crate::StopCriteria) or tighter ones, and as many iterations as it needs.
///
/// - The report is trusted, and its cost and residual are those of the solution.
/// - ‖D∇ℓ‖ ≤ 1e-5 max(‖DAv‖, ‖DJᵀγ‖): ten times the default tolerance, for other norms and other scales.
/// - v is within 1e-4 of the minimiser of a dense reference, in the norm of A; γ is what the laws say at v.
/// - From the reference minimiser it takes no iteration.
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
) -> Result<crate::solver::SolveReport, Violation> {
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

#[derive(Clone, Copy, Debug)]
enum Model {
    Lagged,
    Similar,
    Sap,
}

impl Model {
    const ALL: [Model; 3] = [Model::Lagged, Model::Similar, Model::Sap];

    fn law(self, p: &ContactParameters, normal: Vector3<f64>) -> ContactLaw {
        match self {
            Model::Lagged => ContactLaw::Lagged(Lagged::new(p, normal, 0.1)),
            Model::Similar => ContactLaw::Similar(Similar::new(p, normal, 0.1)),
            Model::Sap => ContactLaw::Sap(Sap::new(p, normal)),
        }
    }
}

const DT: f64 = 0.01;

fn parameters(phi: f64) -> ContactParameters {
    ContactParameters {
        time_step_s: DT,
        signed_distance: phi,
        stiffness: 1e4,
        dissipation: Dissipation::HuntCrossley(1.0),
        friction: 0.5,
        stiction_speed: 1e-3,
        inverse_inertia: 1.0,
    }
}

/// A problem that owns its parts.
struct Scene {
    name: String,
    bodies: Vec<DenseDynamics>,
    constraints: ConstraintSet,
}

impl Scene {
    fn all() -> Vec<Self> {
        let mut scenes = vec![Self::free(), Self::joints()];
        for model in Model::ALL {
            scenes.push(Self::masses(
                &format!("masses on a floor, {model:?}"),
                model,
                -1e-4,
            ));
            scenes.push(Self::stack(model));
            scenes.push(Self::box_on_box(model));
            scenes.push(Self::self_contact(model));
        }
        scenes
    }

    fn with_problem<R>(&self, use_it: impl FnOnce(&ContactProblem<'_>) -> R) -> R {
        let dynamics: Vec<&dyn Dynamics> = self.bodies.iter().map(|d| d as &dyn Dynamics).collect();
        use_it(&ContactProblem {
            dynamics: &dynamics,
            constraints: &self.constraints,
        })
    }

    fn n_dofs(&self) -> usize {
        self.bodies.iter().map(Dynamics::n_dofs).sum()
    }

    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            bodies: Vec::new(),
            constraints: ConstraintSet::default(),
        }
    }

    /// Adds a body with diagonal A and free velocity v*.
    fn body(&mut self, inertia: &[f64], free: &[f64]) -> ParticipantIdx {
        let n = inertia.len();
        let mut a = vec![0.0; n * n];
        for (i, m) in inertia.iter().enumerate() {
            a[i * n + i] = *m;
        }
        let b = inertia.iter().zip(free).map(|(m, v)| m * v).collect();
        self.bodies.push(DenseDynamics::new(a, b));
        ParticipantIdx(self.bodies.len() - 1)
    }

    fn free() -> Self {
        let mut scene = Self::new("no constraints");
        scene.body(&[1.0, 2.0, 3.0], &[0.3, -0.2, 0.0]);
        scene
    }

    /// Point masses thrown onto a floor that moves, one of them away from it, two of them alike: four islands.
    fn masses(name: &str, model: Model, phi: f64) -> Self {
        let mut scene = Self::new(name);
        for free in [
            [1.0, 0.5, -0.1],
            [0.0, 0.0, -2.0],
            [0.3, 0.0, 1.0],
            [1.0, 0.5, -0.1],
        ] {
            let body = scene.body(&[1.0; 3], &free);
            let mut rows = Rows::default();
            rows.reset(3);
            rows.identity(0, 0, 3);
            let mut basis = scene.constraints.basis(3);
            basis.rows(body, &rows, 0, 1.0);
            let belt = Vector3::new(-0.2, 0.0, 0.0);
            basis.stencil_contact([1.0], None, belt, model.law(&parameters(phi), Vector3::z()));
        }
        scene
    }

    /// Three point masses one on the other, each sliding.
    fn stack(model: Model) -> Self {
        let mut scene = Self::new(&format!("stack, {model:?}"));
        let normal = Vector3::new(0.0, 0.6, 0.8);
        for (mass, speed) in [(0.5, 0.3), (2.0, -0.4), (1.0, 0.8)] {
            scene.body(&[mass; 3], &[speed, 0.1, -0.3]);
        }
        for upper in 0..3 {
            let mut rows = Rows::default();
            rows.reset(3);
            rows.identity(0, 0, 3);
            let mut basis = scene.constraints.basis(3);
            basis.rows(ParticipantIdx(upper), &rows, 0, 1.0);
            if upper > 0 {
                basis.rows(ParticipantIdx(upper - 1), &rows, 0, -1.0);
            }
            basis.stencil_contact(
                [1.0],
                None,
                Vector3::zeros(),
                model.law(&parameters(-1e-3), normal),
            );
        }
        scene
    }

    /// Two free bodies that touch in five points of one face: a relative twist.
    fn box_on_box(model: Model) -> Self {
        let mut scene = Self::new(&format!("box on box, {model:?}"));
        let inertia = [0.02, 0.03, 0.04, 1.0, 1.0, 1.0];
        scene.body(&inertia, &[0.5, -0.3, 1.0, 0.4, 0.0, -0.3]);
        scene.body(&inertia.map(|m| 3.0 * m), &[0.0, 0.1, 0.0, 0.0, 0.0, 0.1]);
        let mut rows = Rows::default();
        rows.reset(6);
        rows.identity(0, 0, 6);
        let mut basis = scene.constraints.basis(6);
        basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
        basis.rows(ParticipantIdx(1), &rows, 0, -1.0);
        let p = ContactParameters {
            inverse_inertia: 2.0,
            stiffness: 2e3,
            ..parameters(-2e-4)
        };
        for (x, y) in [
            (0.1, 0.1),
            (-0.1, 0.1),
            (0.1, -0.1),
            (-0.1, -0.1),
            (0.0, 0.0),
        ] {
            let law = model.law(&p, Vector3::z());
            basis.twist_contact(Vector3::new(x, y, -0.1), Vector3::zeros(), law);
        }
        scene
    }

    /// Two ends of one chain of masses touch: one participant twice in a contact.
    fn self_contact(model: Model) -> Self {
        let mut scene = Self::new(&format!("self-contact, {model:?}"));
        let n: usize = 9;
        let body = scene.body(&[1.0; 9], &[0.5, 0.0, -0.4, 0.0, 0.1, 0.0, -0.3, 0.2, 0.6]);
        let (a, b) = scene.bodies[0].parts_mut();
        for i in 0..n {
            for j in [i.checked_sub(3), Some(i + 3).filter(|j| *j < n)]
                .into_iter()
                .flatten()
            {
                a[i * n + i] += 0.4;
                a[i * n + j] -= 0.4;
            }
        }
        b[4] = 0.2;
        let mut rows = Rows::default();
        rows.reset(6);
        rows.identity(0, 0, 3);
        rows.identity(3, 6, 3);
        let mut basis = scene.constraints.basis(6);
        basis.rows(body, &rows, 0, 1.0);
        let law = model.law(&parameters(1e-4), Vector3::new(0.8, 0.0, 0.6));
        basis.stencil_contact([-1.0, 1.0], None, Vector3::zeros(), law);
        scene
    }

    /// A chain of joints with a limit, an actuator that saturates and one that does not, a coupler and dry friction.
    fn joints() -> Self {
        let mut scene = Self::new("joints");
        let n = 5;
        let body = scene.body(&[1.0, 2.0, 0.5, 1.0, 1.5], &[-1.0, 0.4, 0.3, -0.2, 0.05]);
        let (a, _) = scene.bodies[0].parts_mut();
        for i in 1..n {
            a[i * n + i - 1] = 0.2;
            a[(i - 1) * n + i] = 0.2;
        }
        let gains = |effort_limit| PdGains {
            proportional: 200.0,
            derivative: 2.0,
            effort_limit,
        };
        let command = PdCommand {
            position_error: -0.3,
            velocity: 0.1,
            feed_forward: 1.0,
        };
        let limit = Limit::near_rigid(DT, 0.002, 1.0);
        let actuator = |e| RowLaw::PdActuator(PdActuator::new(DT, gains(e), command, 1.0));
        let coupler = Bilateral::spring(DT, 0.01, 1e4, 0.0, 1.5);
        let friction = Bilateral::dry_friction(0.02, 1e-2);
        let mut row = |terms: &[(usize, f64)], law: RowLaw| {
            let mut rows = Rows::default();
            rows.reset(1);
            for &(dof, coefficient) in terms {
                rows.dense(0, 1, dof, 1)[0] = coefficient;
            }
            let mut basis = scene.constraints.basis(1);
            basis.rows(body, &rows, 0, 1.0);
            basis.coordinate(
                0,
                law,
                ConstraintLabel {
                    kind: ConstraintKind::Other,
                    index: 0,
                },
            );
        };
        row(&[(0, 1.0)], RowLaw::Limit(limit));
        row(&[(1, 1.0)], actuator(5.0));
        row(&[(2, 1.0)], actuator(f64::INFINITY));
        row(&[(2, 1.0), (3, -2.0)], RowLaw::Bilateral(coupler));
        row(&[(3, 1.0)], RowLaw::Bilateral(friction));
        row(&[(4, 1.0)], RowLaw::Bilateral(friction));
        scene
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SolveError;
    use crate::newton::{FrictionTangent, Newton, NewtonSettings};
    use crate::solver::SolveReport;

    #[test]
    fn newton_keeps_its_promises() {
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
        fn solve(
            &mut self,
            problem: &ContactProblem<'_>,
            guess: &[f64],
            out: &mut Solution,
        ) -> Result<SolveReport, SolveError> {
            let report = self.newton.solve(problem, guess, out);
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
