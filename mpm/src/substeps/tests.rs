//! Random contact problems of substeps: every solver finds the minimiser, and momentum is exact.

use std::sync::Arc;

use nalgebra::{DMatrix, Isometry3, Vector3, Vector6};
use pliant_contact_sap::{
    ContactLaw, ContactParameters, Dissipation, Lagged, NEAR_RIGID_SIMILAR, Potential, Sap, Similar,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::contact_problem::{Contact, ContactNode, ContactProblem, Motion};
use super::laws::{LaggedLaws, SubstepLaws};
use super::links::{LinkIdx, LinkMotion, RigidLinks};
use super::solver::Limits;
use super::solver_kind::SubstepSolver;

struct Random(ChaCha8Rng);

impl Random {
    fn of(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.of(-size, size))
    }
}

/// Two links, the second prescribed in half of the problems, with response of `mobility`.
fn links(random: &mut Random, mobility: f64) -> RigidLinks {
    let motions = (0..2).map(|_| LinkMotion {
        X_WL: Isometry3::identity(),
        velocity: Vector6::from_fn(|_, _| random.of(-0.1, 0.1)),
    });
    let motions: Vec<_> = motions.collect();
    let n = if random.of(0.0, 1.0) < 0.5 { 6 } else { 12 };
    let root = DMatrix::from_fn(12, n, |i, _| match i < n {
        true => random.of(-1.0, 1.0) * mobility.sqrt(),
        false => 0.0,
    });
    RigidLinks::new(motions, &root * root.transpose())
}

/// Contacts of random particles in two neighbouring cells.
fn problem(random: &mut Random) -> (ContactProblem, Vec<ContactParameters>) {
    let mut problem = ContactProblem::default();
    let n_nodes = 36;
    for node in 0..n_nodes {
        let mass = 10_f64.powf(random.of(-4.0, -2.0));
        let held = random.of(0.0, 1.0) < 0.1;
        problem.nodes.push(ContactNode {
            node,
            free: random.vector(0.5),
            inverse_mass: Vector3::repeat(if held { 0.0 } else { 1.0 / mass }),
        });
    }
    let mut parameters = Vec::new();
    let n = 1 + random.of(0.0, 12.0) as usize;
    for particle in 0..n {
        let normal = random.vector(1.0).normalize();
        let shift = 9 * (particle as u32 % 2);
        let mut weights: [f64; 27] = std::array::from_fn(|_| random.of(0.0, 1.0));
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
        let link = random.of(0.0, 3.0) as usize;
        problem.contacts.push(Contact {
            particle: particle as u32,
            object: 0,
            obstacle: 0,
            link: (link < 2).then(|| (LinkIdx(link), random.vector(0.1))),
            p_WC: Vector3::zeros(),
            surface_velocity: random.vector(0.05),
            normal,
            nodes: std::array::from_fn(|n| n as u32 + shift),
            weights,
            signed_distance: random.of(-1e-3, 2e-4),
            start_velocity: normal * random.of(-0.5, 0.5),
        });
        parameters.push(ContactParameters {
            time_step: 1e-4.into(),
            signed_distance: problem.contacts[particle].signed_distance,
            start_velocity: normal.dot(&problem.contacts[particle].start_velocity),
            stiffness: 10_f64.powf(random.of(2.0, 6.0)),
            dissipation: Dissipation::HuntCrossley(random.of(0.0, 20.0)),
            friction: random.of(0.0, 1.2),
            stiction_speed: 1e-3,
            inverse_inertia: 1.0,
            near_rigid: 0.1,
        });
    }
    (problem, parameters)
}

fn open(
    problem: &mut ContactProblem,
    parameters: &[ContactParameters],
    laws: &dyn SubstepLaws,
    links: &mut RigidLinks,
) {
    links.begin_substep();
    let of_contact = |contact: &Contact, inverse_inertia: f64| ContactParameters {
        inverse_inertia,
        ..parameters[contact.particle as usize]
    };
    problem.open(&of_contact, laws, |_| Vector3::zeros(), links);
}

/// ½|v − v*|²_M + ½ ΓᵀΛΓ + Σ ℓ.
fn cost(problem: &ContactProblem, links: &RigidLinks, start: &RigidLinks) -> f64 {
    let mut sum = 0.0;
    for (i, node) in problem.nodes.iter().enumerate() {
        let change = problem.velocity(i) - node.free;
        for k in 0..3 {
            if node.inverse_mass[k] > 0.0 {
                sum += 0.5 * change[k] * change[k] / node.inverse_mass[k];
            }
        }
    }
    for l in 0..links.len() {
        let change = links.velocity(LinkIdx(l)) - start.velocity(LinkIdx(l));
        let impulse = links.substep_impulses().fixed_rows::<6>(6 * l).into_owned();
        sum += 0.5 * impulse.dot(&change);
    }
    let contacts = problem.contacts.iter().zip(&problem.states);
    sum + contacts
        .map(|(contact, state)| state.law.cost(&problem.relative_velocity(contact, links)))
        .sum::<f64>()
}

/// Laws of a contact, as functions of its parameters, its normal and n0.
#[derive(Debug)]
struct Laws(fn(&ContactParameters, Vector3<f64>, f64) -> ContactLaw);

impl SubstepLaws for Laws {
    fn law(&self, p: &ContactParameters, normal_W: Vector3<f64>, n0: f64) -> ContactLaw {
        (self.0)(p, normal_W, n0)
    }
}

/// The lagged model with predicted bounds.
const FIXED: Laws = Laws(|p, n, n0| ContactLaw::Lagged(Lagged::new(p, n, n0)));

/// Every solver that always converges, on `n` random problems.
fn compare_solvers(laws: &dyn SubstepLaws, seed: u64, n: usize) {
    let mut random = Random(ChaCha8Rng::seed_from_u64(seed));
    for number in 0..n {
        let mobility = 10_f64.powf(random.of(-3.0, 3.0));
        let start = links(&mut random, mobility);
        let (problem, parameters) = problem(&mut random);
        let mut found: Vec<(f64, Vec<Vector3<f64>>)> = Vec::new();
        for solver in [
            SubstepSolver::GaussSeidel,
            SubstepSolver::NewtonCg,
            SubstepSolver::Majoriser,
        ] {
            let (mut problem, mut links) = (problem.clone(), start.clone());
            open(&mut problem, &parameters, laws, &mut links);
            let limits = Limits {
                tolerance: 1e-9,
                iterations_max: 100_000,
            };
            let solved = (solver.build()).solve(&mut problem, &mut links, laws, limits);
            assert!(solved.is_converged, "{solver:?}, problem {number}");
            let velocities = (0..problem.nodes.len()).map(|i| problem.velocity(i));
            found.push((cost(&problem, &links, &start), velocities.collect()));

            // Both sides have the momentum of the impulses.
            let mut balance = Vector3::zeros();
            let mut given = Vector3::zeros();
            for (contact, state) in problem.contacts.iter().zip(&problem.states) {
                if contact.link.is_some() {
                    balance += state.impulse;
                }
                given += state.impulse;
            }
            for l in 0..links.len() {
                balance += links.substep_impulses().fixed_rows::<3>(6 * l + 3);
            }
            assert!(balance.norm() <= 1e-13 * given.norm().max(1e-9));
        }
        let (least, v) = &found[0];
        for (cost, other) in &found[1..] {
            assert!(
                (cost - least).abs() <= 1e-9 * least.abs().max(1e-12),
                "problem {number}: {cost:e} and {least:e}"
            );
            let size = v.iter().map(Vector3::norm).fold(0.0, f64::max);
            let apart = v.iter().zip(other).map(|(a, b)| (a - b).norm());
            let apart = apart.fold(0.0, f64::max);
            assert!(
                apart <= 1e-6 * size,
                "problem {number}: {apart:e} of {size}"
            );
        }
    }
}

#[test]
fn the_motion_of_impulses_is_their_norm_by_w() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(13));
    for number in 0..50 {
        let mobility = 10_f64.powf(random.of(-3.0, 3.0));
        let mut links = links(&mut random, mobility);
        let (mut problem, parameters) = problem(&mut random);
        open(&mut problem, &parameters, &FIXED, &mut links);
        let n = problem.contacts.len();
        let mut add = |problem: &mut ContactProblem, links: &mut RigidLinks| {
            let impulses: Vec<_> = (0..n).map(|_| random.vector(1e-2)).collect();
            for (c, impulse) in impulses.iter().enumerate() {
                problem.add_impulse(c, impulse, links);
            }
            impulses
        };
        let first = add(&mut problem, &mut links);
        let check = |found: f64, impulses: &[Vector3<f64>], links: &RigidLinks| {
            let expected = problem.velocity_norm(impulses, links);
            let error = (found - expected).abs();
            assert!(
                error <= 1e-8 * expected,
                "problem {number}: {found} for {expected}"
            );
        };
        check(problem.motion(&links), &first, &links);
        let mut before = Motion::default();
        problem.remember_motion(&links, &mut before);
        let mut problem = problem.clone();
        let second = add(&mut problem, &mut links);
        check(problem.motion_since(&before, &links), &second, &links);
    }
}

#[test]
fn all_solvers_find_the_minimiser_of_random_problems() {
    compare_solvers(&FIXED, 7, 2000);
}

#[test]
fn all_solvers_find_the_minimiser_of_other_laws() {
    compare_solvers(&Laws(|p, n, _| ContactLaw::Sap(Sap::new(p, n))), 8, 60);
    // The similar model has its own cap of stiffness.
    let similar = Laws(|p, n, n0| {
        let p = ContactParameters {
            near_rigid: NEAR_RIGID_SIMILAR,
            ..*p
        };
        ContactLaw::Similar(Similar::new(&p, n, n0))
    });
    compare_solvers(&similar, 9, 60);
    let custom = Laws(|p, n, n0| ContactLaw::Custom(Arc::new(Lagged::new(p, n, n0))));
    compare_solvers(&custom, 10, 60);
}

/// How far the impulses of a contact are from Coulomb's law at its velocity, relative to them. Stiff laws magnify the error of the velocity, so that
/// the impulse is compared that the law has with W for its compliance.
fn coulomb_error(problem: &ContactProblem, links: &RigidLinks) -> f64 {
    let (mut error, mut size) = (0.0, 0.0);
    for (contact, state) in problem.contacts.iter().zip(&problem.states) {
        let p = &state.parameters;
        let load = contact.normal.dot(&state.impulse);
        let law = Lagged::new(p, contact.normal, load);
        let v_c = problem.relative_velocity(contact, links);
        let local = ContactLaw::Lagged(law).local_impulse(state.response, &v_c, &state.impulse);
        error += state.response * (local - state.impulse).norm_squared();
        size += state.response * state.impulse.norm_squared();
    }
    (error / size.max(f64::MIN_POSITIVE)).sqrt()
}

#[test]
fn all_solvers_find_the_same_solution_with_coulombs_law() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(12));
    let (mut converged, mut failed) = (0, 0);
    for number in 0..300 {
        let mobility = 10_f64.powf(random.of(-3.0, 3.0));
        let start = links(&mut random, mobility);
        let (problem, parameters) = problem(&mut random);
        let mut found: Vec<Vec<Vector3<f64>>> = Vec::new();
        for solver in [
            SubstepSolver::GaussSeidel,
            SubstepSolver::NewtonCg,
            SubstepSolver::Majoriser,
        ] {
            let (mut problem, mut links) = (problem.clone(), start.clone());
            open(&mut problem, &parameters, &LaggedLaws, &mut links);
            let limits = Limits {
                tolerance: 1e-8,
                iterations_max: 100_000,
            };
            let solved = (solver.build()).solve(&mut problem, &mut links, &LaggedLaws, limits);
            if !solved.is_converged {
                eprintln!("{solver:?} {number} {mobility:e} {solved:?}");
                failed += 1;
                continue;
            }
            converged += 1;
            let error = coulomb_error(&problem, &links);
            assert!(error < 1e-6, "{solver:?}, problem {number}: {error:e}");
            found.push(
                (0..problem.nodes.len())
                    .map(|i| problem.velocity(i))
                    .collect(),
            );
        }
        for other in found.iter().skip(1) {
            let size = found[0].iter().map(Vector3::norm).fold(0.0, f64::max);
            let apart = found[0].iter().zip(other).map(|(a, b)| (a - b).norm());
            let apart = apart.fold(0.0, f64::max);
            assert!(
                apart <= 1e-5 * size,
                "problem {number}: {apart:e} of {size}"
            );
        }
    }
    eprintln!("{converged} converged, {failed} failed");
    // Normals in all directions and links a thousand times lighter than nodes: some have no fixed point that an iteration finds.
    assert!(failed < converged / 50, "{failed}");
}

#[test]
fn the_published_descent_finds_the_minimiser_of_soft_problems_and_reports_where_it_stalls() {
    let mut random = Random(ChaCha8Rng::seed_from_u64(11));
    let (mut converged, mut stalled) = (0, 0);
    for number in 0..300 {
        let start = links(&mut random, 0.1);
        let (problem, parameters) = problem(&mut random);
        let solved = |solver: SubstepSolver| {
            let (mut problem, mut links) = (problem.clone(), start.clone());
            open(&mut problem, &parameters, &FIXED, &mut links);
            let limits = Limits {
                tolerance: 1e-8,
                iterations_max: 2000,
            };
            let solved = (solver.build()).solve(&mut problem, &mut links, &FIXED, limits);
            (solved.is_converged, cost(&problem, &links, &start))
        };
        let (_, least) = solved(SubstepSolver::NewtonCg);
        let (is_converged, found) = solved(SubstepSolver::QuasiNewton);
        if is_converged {
            converged += 1;
            assert!(
                (found - least).abs() <= 1e-6 * least.abs().max(1e-12),
                "problem {number}: {found:e} for {least:e}"
            );
        } else {
            stalled += 1;
        }
    }
    eprintln!("{converged} converged, {stalled} stalled");
    assert!(converged > 100, "{converged}");
}
