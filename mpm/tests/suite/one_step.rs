//! The contact problem of one step with material points in it, against a dense reference and by every solver.

use std::sync::{Arc, Mutex};

use nalgebra::{Isometry3, Vector3};
use pliant_constitutive::{Lame, NeoHookean};
use pliant_contact_sap::conformance::minimiser;
use pliant_contact_sap::{
    Acceleration, ContactProblem, ConvexContactSolver, FrictionTangent, LineSearch, LinearAlgebra,
    Newton, NewtonCg, NewtonCgSettings, NewtonSettings, Preconditioner, QuasiNewton,
    QuasiNewtonSettings, Solution, SolveError, SolveMode, SolveReport, SolverKind, StopCriteria,
};
use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, World, WorldBuilder};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    FrictionAngle, HenckyVonMises, LinearCorotated, Liquid, Material, MpmBuilder, MpmSettings,
    ObjectSpec, Sampling, Sand, fill,
};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

/// Results for a problem: its size, and the error of each solver in the norm of A, relative to the motion.
#[derive(Clone, Debug, Default)]
struct Found {
    n_contacts: usize,
    off: Vec<(String, f64)>,
    iterations: Vec<(String, usize)>,
}

/// A solver and its name.
pub(crate) type Row = (String, Box<dyn ConvexContactSolver>);

/// Newton's method with every linear algebra, with the plain tangent of friction and Armijo's search, and Newton-CG with both
/// preconditioners.
pub(crate) fn of_second_order(stop: StopCriteria) -> Vec<Row> {
    let newton = |name: String, settings| (name, Box::new(Newton::new(settings)) as Box<_>);
    let usual = NewtonSettings {
        stop,
        ..NewtonSettings::default()
    };
    let mut rows: Vec<Row> = (LinearAlgebra::ALL.into_iter())
        .map(|linear_algebra| {
            let settings = NewtonSettings {
                linear_algebra,
                ..usual
            };
            newton(format!("newton, {linear_algebra}"), settings)
        })
        .collect();
    let plain = NewtonSettings {
        friction: FrictionTangent::Plain,
        ..usual
    };
    rows.push(newton("newton, plain tangent".into(), plain));
    let armijo = NewtonSettings {
        line_search: LineSearch::Armijo,
        ..usual
    };
    rows.push(newton("newton, armijo".into(), armijo));
    for preconditioner in [Preconditioner::BlockDiagonal, Preconditioner::Body] {
        let settings = NewtonCgSettings {
            stop,
            preconditioner,
            ..NewtonCgSettings::default()
        };
        let name = format!("newton-cg, {preconditioner:?}");
        rows.push((name, Box::new(NewtonCg::new(settings))));
    }
    rows
}

/// Quasi-Newton with and without memory, Gauss-Seidel.
fn of_first_order(stop: StopCriteria) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for acceleration in [Acceleration::Conjugate, Acceleration::None] {
        let settings = QuasiNewtonSettings {
            stop,
            acceleration,
            ..QuasiNewtonSettings::default()
        };
        let name = format!("quasi-newton, {acceleration:?}");
        rows.push((name, Box::new(QuasiNewton::new(settings))));
    }
    rows.push(("gauss-seidel".into(), SolverKind::GaussSeidel.build(stop)));
    rows
}

/// Solves every problem of a stepper by several solvers, and returns the solution of the first.
struct Comparison {
    solvers: Vec<Row>,
    found: Arc<Mutex<Vec<Found>>>,
}

impl ConvexContactSolver for Comparison {
    fn solve_for(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        _: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let mut found = Found {
            n_contacts: problem.constraints.n_contacts(),
            ..Found::default()
        };
        let expected = minimiser(problem).unwrap();
        let mut first = None;
        for (name, solver) in &mut self.solvers {
            let mut solution = Solution::default();
            let report = solver.solve(problem, guess, &mut solution)?;
            assert!(report.is_trusted(), "{name}: {report:?}");
            let off: Vec<f64> = (solution.velocity.iter().zip(expected.iter()))
                .map(|(v, e)| v - e)
                .collect();
            let size = energy_norm(problem, &expected).max(energy_norm(problem, guess));
            found
                .off
                .push((name.clone(), energy_norm(problem, &off) / size));
            found.iterations.push((name.clone(), report.iterations));
            first.get_or_insert((report, solution));
        }
        self.found.lock().unwrap().push(found);
        let (report, solution) = first.expect("at least one solver");
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

/// √(xᵀAx).
pub(crate) fn energy_norm(problem: &ContactProblem<'_>, x: &[f64]) -> f64 {
    let (mut first, mut sum) = (0, 0.0);
    for dynamics in problem.dynamics.iter() {
        let x = &x[first..first + dynamics.n_dofs()];
        let mut y = vec![0.0; x.len()];
        dynamics.apply(x, &mut y);
        sum += x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>();
        first += x.len();
    }
    sum.max(0.0).sqrt()
}

fn run(world: &World, steps: usize, dt: f64, solvers: Vec<Row>) -> Vec<Found> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let mut stepper = StrongImplicit::new(Comparison {
        solvers,
        found: Arc::clone(&found),
    });
    let (mut state, mut next) = (world.default_state(), State::default());
    for _ in 0..steps {
        let _ = stepper.step(world, &state, dt, &mut next).unwrap();
        std::mem::swap(&mut state, &mut next);
    }
    found.lock().unwrap().clone()
}

const H: f64 = 0.05;

fn contact(friction: f64, stiffness: f64) -> ContactMaterial {
    ContactMaterial {
        stiffness,
        dissipation: 5.0,
        friction,
        ..ContactMaterial::default()
    }
}

fn floating_box(lengths: Vector3<f64>, mass: f64, X_WB: &Isometry3<f64>, v: [f64; 6]) -> RigidTree {
    let mut builder = ModelBuilder::new("box");
    builder.root(Root::Floating);
    builder.link(LinkSpec::new(
        "box",
        SpatialInertia::solid_box(mass, lengths),
    ));
    let (p, r) = (X_WB.translation.vector, X_WB.rotation);
    let q = [p.x, p.y, p.z, r.w, r.i, r.j, r.k];
    RigidTree::new(Arc::new(builder.build().unwrap())).starting_at(&q, &v)
}

/// A soft cube on a floor and a rigid box on the cube.
fn pile(material: Arc<dyn Material>, ratio: f64) -> World {
    let density = 500.0;
    let cube = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let set = fill(
        "cube",
        &cube,
        &Isometry3::translation(0.003, 0.001, 0.051),
        H,
        Sampling::default(),
    )
    .unwrap();
    let mut points = MpmBuilder::new(MpmSettings::new(H));
    points.object(ObjectSpec::new("cube", material, density, set));
    let mut builder = WorldBuilder::default();
    let floor = Mount::World(Isometry3::identity());
    let material = contact(0.5, 1e4);
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), material));
    let body = builder.add_body("points", Box::new(points.build().unwrap()));
    builder.add_geometry(Geometry::of_vertices("points", body, material));
    let lengths = Vector3::new(0.08, 0.12, 0.03);
    let mass = ratio * density * 1e-3;
    let X_WB = Isometry3::translation(0.0, 0.01, 0.1157);
    let body = floating_box(lengths, mass, &X_WB, [0.0, 1.0, 0.3, 0.2, 0.0, -0.3]);
    let body = builder.add_body("box", Box::new(body));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(lengths).unwrap();
    builder.add_geometry(Geometry::new("box", mount, shape, material));
    builder.build().unwrap()
}

/// The largest error of each solver over some steps.
fn worst(about: &str, found: &[Found]) -> Vec<(String, f64)> {
    let n_contacts = found.iter().map(|f| f.n_contacts).max().unwrap_or(0);
    let mut rows: Vec<(String, f64)> = Vec::new();
    for (row, (name, _)) in found[0].off.iter().enumerate() {
        let off = found.iter().map(|f| f.off[row].1).fold(0.0, f64::max);
        let iterations = found.iter().map(|f| f.iterations[row].1).max().unwrap_or(0);
        eprintln!(
            "{about}, {n_contacts} contacts: {name:26} off by {off:.1e}, {iterations} iterations"
        );
        rows.push((name.clone(), off));
    }
    rows
}

#[test]
fn every_solver_of_second_order_finds_the_minimiser_of_a_dense_reference() {
    let solid = LinearCorotated::new(Lame::from_young_poisson(5e4, 0.3).unwrap());
    let materials: [(&str, Arc<dyn Material>); 6] = [
        ("elastic", Arc::new(solid)),
        ("dough", Arc::new(solid.with_yield_stress(1e3).unwrap())),
        (
            "neo-Hookean",
            Arc::new(NeoHookean::new(Lame::from_young_poisson(2e4, 0.35).unwrap()).unwrap()),
        ),
        (
            "metal",
            Arc::new(
                HenckyVonMises::new(Lame::from_young_poisson(5e4, 0.3).unwrap(), 1e3).unwrap(),
            ),
        ),
        (
            "sand",
            Arc::new(
                Sand::new(
                    Lame::from_young_poisson(2e5, 0.3).unwrap(),
                    30.0,
                    FrictionAngle::PlaneStrain,
                )
                .unwrap(),
            ),
        ),
        (
            "liquid",
            Arc::new(Liquid::new(1e4, 7.0).unwrap().with_viscosity(5.0).unwrap()),
        ),
    ];
    let stop = StopCriteria {
        relative_tolerance: 1e-12,
        ..StopCriteria::default()
    };
    for (about, material) in materials {
        let world = pile(material, 2.0);
        let found = run(&world, 1, 0.01, of_second_order(stop));
        assert!(found.iter().all(|f| f.n_contacts >= 16), "{about}");
        for (name, off) in worst(about, &found) {
            assert!(off < 1e-8, "{about}: {name} is off by {off:e}");
        }
    }
}

#[test]
fn solvers_of_first_order_find_the_same_minimiser() {
    // Stiffness for which they converge.
    let world = pile(
        Arc::new(LinearCorotated::new(
            Lame::from_young_poisson(5e3, 0.3).unwrap(),
        )),
        1.0,
    );
    let stop = StopCriteria {
        relative_tolerance: 1e-8,
        iterations_max: 100_000,
        ..StopCriteria::default()
    };
    let found = run(&world, 1, 0.004, of_first_order(stop));
    for (name, off) in worst("soft", &found) {
        assert!(off < 1e-5, "{name} is off by {off:e}");
    }
}
