//! Thousands of random steps of particles of every law in contact with finite elements and with rigid bodies of mass ratios up to ten
//! thousand. Every problem is solved, every solution is the minimiser, all solvers agree, and momentum is conserved.

use std::sync::{Arc, Mutex};

use crate::one_step::{Row, energy_norm, of_second_order};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_constitutive::{FixedCorotated, Lame, NeoHookean};
use pliant_contact_sap::conformance::{CheckedSolver, minimiser};
use pliant_contact_sap::{
    ContactProblem, ConvexContactSolver, Solution, SolveError, SolveMode, SolveReport, SolverKind,
    StopCriteria,
};
use pliant_coupling::{
    ContactModel, ContactSettings, Geometry, LaggedModel, Mount, SapModel, SimilarModel, State,
    StepReport, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_fem::{FemBuilder, LawKind};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    FrictionAngle, HenckyVonMises, LinearCorotated, Liquid, Material, MatrixForm, MpmBuilder,
    MpmSettings, ObjectSpec, ParticleSet, Sand,
};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Distance of grid nodes, m.
const H: f64 = 0.05;
const PARTICLE_VOLUME: f64 = H * H * H / 8.0;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);
/// Largest mass ratio of a rigid body and a particle.
const MASS_RATIO: f64 = 1e4;

/// Several solvers, whose solutions are compared with a dense minimiser, and the largest error of each in the norm of A, relative to the
/// motion.
struct Compared {
    solvers: Vec<Row>,
    worst: Arc<Mutex<Vec<f64>>>,
}

/// Tighter than a step needs: errors are round-off.
fn tight() -> StopCriteria {
    StopCriteria {
        relative_tolerance: 1e-9,
        ..StopCriteria::default()
    }
}

impl ConvexContactSolver for Compared {
    fn solve_for(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        _: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let expected = minimiser(problem).unwrap();
        let size = energy_norm(problem, &expected).max(energy_norm(problem, guess));
        let mut first = None;
        let mut worst = self.worst.lock().unwrap();
        for ((name, solver), worst) in self.solvers.iter_mut().zip(worst.iter_mut()) {
            let mut solution = Solution::default();
            let report = solver.solve(problem, guess, &mut solution)?;
            assert!(report.is_trusted(), "{name}: {report:?}");
            let found = solution.velocity.iter().zip(&expected);
            let off: Vec<f64> = found.map(|(v, e)| v - e).collect();
            *worst = worst.max(energy_norm(problem, &off) / size);
            first.get_or_insert((report, solution));
        }
        let (report, solution) = first.expect("there are solvers");
        *out = solution;
        Ok(report)
    }

    fn hessian_solve(
        &mut self,
        _: &ContactProblem<'_>,
        _: &Solution,
        _: &mut [f64],
    ) -> Result<(), SolveError> {
        unreachable!("a step does not differentiate")
    }
}

/// Ranges of the parameters of random problems.
#[derive(Clone, Copy)]
struct Range {
    /// Young's modulus, Pa.
    modulus: (f64, f64),
    /// Of a contact, N/m.
    stiffness: (f64, f64),
    mass_ratio: f64,
    time_step_s: (f64, f64),
}

const WIDE: Range = Range {
    modulus: (1e3, 1e7),
    stiffness: (1e2, 1e8),
    mass_ratio: MASS_RATIO,
    time_step_s: (1e-4, 2e-2),
};

/// Ranges for every variant of Newton's method, including plain tangents and Armijo's line search.
const MODERATE: Range = Range {
    stiffness: (1e2, 1e5),
    ..WIDE
};

/// Ranges for solvers of first order.
const GENTLE: Range = Range {
    modulus: (1e3, 1e4),
    stiffness: (1e2, 1e3),
    mass_ratio: 10.0,
    time_step_s: (1e-3, 4e-3),
};

fn log_uniform(rng: &mut ChaCha8Rng, (low, high): (f64, f64)) -> f64 {
    rng.random_range(low.ln()..high.ln()).exp()
}

fn direction(rng: &mut ChaCha8Rng) -> Vector3<f64> {
    Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

fn law(rng: &mut ChaCha8Rng, modulus: f64) -> Arc<dyn Material> {
    let nu = rng.random_range(0.0..0.45);
    let lame = Lame::from_young_poisson(modulus, nu).unwrap();
    match rng.random_range(0..7) {
        0 => Arc::new(NeoHookean::new(lame).unwrap()),
        1 => Arc::new(FixedCorotated::new(lame).unwrap()),
        2 => Arc::new(Liquid::new(modulus, 7.0).unwrap()),
        3 => Arc::new(Sand::new(lame, 35.0, FrictionAngle::PlaneStrain).unwrap()),
        4 => Arc::new(HenckyVonMises::new(lame, 0.02 * modulus).unwrap()),
        5 => {
            let elastic = LinearCorotated::new(lame);
            Arc::new(elastic.with_yield_stress(0.02 * modulus).unwrap())
        }
        _ => Arc::new(LinearCorotated::new(lame)),
    }
}

struct Problem {
    world: World,
    model: Arc<dyn ContactModel>,
    time_step_s: f64,
    /// Total moving mass, kg.
    mass: f64,
}

/// One or two groups of particles in a few cells above a floor, surrounded by rigid boxes, a block of finite elements, or both; all in
/// motion.
fn problem(rng: &mut ChaCha8Rng, range: Range) -> Problem {
    let mut builder = WorldBuilder::default();
    let models: [Arc<dyn ContactModel>; 3] = [
        Arc::new(LaggedModel::default()),
        Arc::new(SimilarModel),
        Arc::new(SapModel),
    ];
    let model = &models[rng.random_range(0..3)];
    builder.contact(ContactSettings {
        model: model.clone(),
        ..ContactSettings::default()
    });
    let contact = ContactMaterial {
        stiffness: log_uniform(rng, range.stiffness),
        dissipation: log_uniform(rng, (1e-2, 1e2)),
        friction: rng.random_range(0.0..1.0),
        ..ContactMaterial::default()
    };
    let floor = Mount::World(Isometry3::translation(0.0, 0.0, -0.3 * H));
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), contact));

    let mut settings = MpmSettings::new(H);
    if rng.random_range(0..2) == 0 {
        settings.matrix = MatrixForm::Assembled;
    }
    let mut points = MpmBuilder::new(settings);
    let density = log_uniform(rng, (100.0, 3000.0));
    let particle_mass = density * PARTICLE_VOLUME;
    let mut mass = 0.0;
    for object in 0..rng.random_range(1..=2) {
        let middle = direction(rng) * (0.3 * H);
        let n = rng.random_range(2..=8);
        let set = ParticleSet {
            points: (0..n)
                .map(|_| Point3::from(middle + direction(rng) * (0.4 * H)))
                .collect(),
            particle_volume: PARTICLE_VOLUME,
        };
        mass += f64::from(n) * particle_mass;
        let modulus = log_uniform(rng, range.modulus);
        let material = law(rng, modulus);
        let mut spec = ObjectSpec::new(format!("object {object}"), material, density, set);
        spec.velocity_W = direction(rng);
        points.object(spec);
    }
    let body = builder.add_body("points", Box::new(points.build().unwrap()));
    builder.add_geometry(Geometry::of_vertices("points", body, contact));

    let besides = rng.random_range(0..4);
    for k in 0..[1, 2, 0, 1][besides] {
        let lengths = Vector3::from_fn(|_, _| rng.random_range(0.5 * H..2.0 * H));
        let own = particle_mass * log_uniform(rng, (1.0 / range.mass_ratio, range.mass_ratio));
        mass += own;
        let mut model = ModelBuilder::new("box");
        model.root(Root::Floating);
        model.link(LinkSpec::new(
            "box",
            SpatialInertia::solid_box(own, lengths),
        ));
        let p = direction(rng) * H;
        let turn = UnitQuaternion::from_scaled_axis(direction(rng) * 3.0);
        let (v, omega) = (direction(rng), direction(rng));
        let tree = RigidTree::new(Arc::new(model.build().unwrap())).starting_at(
            &[p.x, p.y, p.z, turn.w, turn.i, turn.j, turn.k],
            &[omega.x, omega.y, omega.z, v.x, v.y, v.z],
        );
        let name = format!("box {k}");
        let body = builder.add_body(&name, Box::new(tree));
        let mount = Mount::Frame {
            body,
            frame: 0,
            X_FG: Isometry3::identity(),
        };
        let shape = Shape::cuboid(lengths).unwrap();
        builder.add_geometry(Geometry::new(&name, mount, shape, contact));
    }
    if besides >= 2 {
        let half = Vector3::from_fn(|_, _| rng.random_range(0.3 * H..H));
        let lame = Lame::from_young_poisson(log_uniform(rng, range.modulus), 0.3).unwrap();
        let law = LawKind::LinearCorotated.of(lame).unwrap();
        let mesh = tet_cuboid(half, [1, 1, 1]).unwrap();
        let turn = UnitQuaternion::from_scaled_axis(direction(rng) * 3.0);
        let pose = Isometry3::from_parts((direction(rng) * H).into(), turn);
        let volume = 8.0 * half.x * half.y * half.z;
        let ratio = log_uniform(rng, (1.0 / range.mass_ratio, range.mass_ratio));
        let own = particle_mass * ratio;
        mass += own;
        let block = FemBuilder::new(mesh, law, own / volume).pose(pose);
        let body = builder.add_body("block", Box::new(block.build().unwrap().0));
        builder.add_geometry(Geometry::of_surface("block", body, contact));
    }
    Problem {
        world: builder.build().unwrap(),
        model: model.clone(),
        time_step_s: log_uniform(rng, range.time_step_s),
        mass,
    }
}

/// A step of `problem`, with its change of momentum.
#[track_caller]
fn step(
    stepper: &mut StrongImplicit<impl ConvexContactSolver>,
    problem: &Problem,
    number: usize,
) -> (StepReport, f64) {
    let Problem {
        world,
        time_step_s,
        mass,
        ..
    } = problem;
    let (state, mut next) = (world.default_state(), State::default());
    let report = stepper
        .step(world, &state, *time_step_s, &mut next)
        .unwrap_or_else(|error| panic!("problem {number}: {error}"));
    let on_bodies = report.contact_wrench(&Point3::origin(), |geometry| geometry.0 > 0);
    let before = world.energy(&state).linear_momentum_W;
    let change = world.energy(&next).linear_momentum_W - before;
    let impulse = (on_bodies.force + GRAVITY * *mass) * *time_step_s;
    let size = before.norm() + impulse.norm();
    (report, (change - impulse).norm() / size)
}

#[test]
fn thousands_of_random_problems_are_solved_and_their_solutions_are_minimisers() {
    const PROBLEMS: usize = 2000;
    let mut rng = ChaCha8Rng::seed_from_u64(41);
    let checked = CheckedSolver::new(SolverKind::Newton.build(tight()), tight());
    let mut stepper = StrongImplicit::new(checked);
    let (mut contacts, mut iterations, mut most) = (0, 0, 0);
    let mut worst = 0.0_f64;
    for number in 0..PROBLEMS {
        let problem = problem(&mut rng, WIDE);
        let (report, off) = step(&mut stepper, &problem, number);
        let lost = report.warnings.iter().find(|w| w.contains("free motion"));
        assert_eq!(lost, None, "problem {number}");
        contacts += report.contacts.len();
        iterations += report.convergence.solve.iterations;
        assert!(
            report.convergence.solve.is_trusted(),
            "problem {number}, {:?}: {:?}",
            problem.model,
            report.convergence.solve
        );
        assert!(off < 1e-6, "problem {number}: momentum off by {off:e}");
        worst = worst.max(off);
        most = most.max(report.convergence.solve.iterations);
    }
    eprintln!(
        "{PROBLEMS} problems, {contacts} contacts, {iterations} Newton iterations ({most} at most), momentum off by {worst:.1e} at most"
    );
    assert!(contacts > 3 * PROBLEMS, "{contacts} contacts");
}

/// Errors of solvers in random problems.
fn worst_of(solvers: Vec<Row>, range: Range, problems: usize) -> Vec<(String, f64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(43);
    let names: Vec<String> = solvers.iter().map(|(name, _)| name.clone()).collect();
    let worst = Arc::new(Mutex::new(vec![0.0; names.len()]));
    let mut stepper = StrongImplicit::new(Compared {
        solvers,
        worst: Arc::clone(&worst),
    });
    let mut contacts = 0;
    for number in 0..problems {
        let problem = problem(&mut rng, range);
        let (report, _) = step(&mut stepper, &problem, number);
        contacts += report.contacts.len();
    }
    assert!(contacts > 3 * problems, "{contacts} contacts");
    let worst: Vec<f64> = worst.lock().unwrap().clone();
    let rows: Vec<_> = names.into_iter().zip(worst).collect();
    for (name, off) in &rows {
        eprintln!("{name:26} off by {off:.1e} at most in {problems} problems, {contacts} contacts");
    }
    rows
}

#[test]
fn every_solver_of_second_order_finds_the_minimiser_of_random_problems() {
    for (name, off) in worst_of(of_second_order(tight()), MODERATE, 25) {
        assert!(off < 1e-6, "{name}: {off:e}");
    }
}

#[test]
fn every_solver_finds_the_minimiser_of_gentle_random_problems() {
    let stop = StopCriteria {
        relative_tolerance: 1e-7,
        iterations_max: 100_000,
        ..StopCriteria::default()
    };
    let each = SolverKind::ALL.map(|kind| (kind.to_string(), kind.build(stop)));
    for (name, off) in worst_of(each.into(), GENTLE, 10) {
        assert!(off < 1e-4, "{name}: {off:e}");
    }
}
