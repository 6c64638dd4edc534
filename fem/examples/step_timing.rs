//! Times the parts of a step without contact: a link of a chain, a cantilever, a finely meshed torus. Run with `--release`;
//! `RAYON_NUM_THREADS` sets the threads.
#![allow(
    non_snake_case,
    reason = "monogram frame names are the field's notation"
)]

use std::error::Error;
use std::f64::consts::TAU;
use std::time::{Duration, Instant};

use nalgebra::{Isometry3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{
    BodyState, ConstraintSet, ContactProblem, Control, ConvexContactSolver, DeformableModel,
    Dynamics, Newton, Solution, SolveReport, StepInput,
};
use pliant_fem::{Axis, Element, FemBody, FemBuilder, LawKind, LinearCorotated, Rayleigh, Region};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::mesh::{MeshError, TetMesh, TetOptions};
use std::sync::Arc;

/// A torus of radii 10 and 2.5 cm: a closed ring of `around` by `across` by `across` cells, six tetrahedra each.
fn torus(around: u32, across: u32) -> Result<TetMesh, MeshError> {
    let n = across + 1;
    let at = |[i, j, k]: [u32; 3]| ((i % around) * n + j) * n + k;
    let mut vertices = Vec::new();
    for i in 0..around {
        let angle = TAU * f64::from(i) / f64::from(around);
        for j in 0..n {
            for k in 0..n {
                // A square drawn in to a disc.
                let square = [j, k].map(|j| 2.0 * f64::from(j) / f64::from(across) - 1.0);
                let [x, y] = square;
                let norm = x.hypot(y);
                let shrink = if norm > 0.0 {
                    x.abs().max(y.abs()) / norm
                } else {
                    1.0
                };
                let r = 0.1 + 0.025 * x * shrink;
                vertices.push(Vector3::new(
                    r * angle.cos(),
                    r * angle.sin(),
                    0.025 * y * shrink,
                ));
            }
        }
    }
    let orders = [
        [0, 1, 2],
        [1, 2, 0],
        [2, 0, 1],
        [1, 0, 2],
        [0, 2, 1],
        [2, 1, 0],
    ];
    let mut tets = Vec::new();
    for i in 0..around {
        for j in 0..across {
            for k in 0..across {
                for order in orders {
                    let mut corner = [i, j, k];
                    let mut tet = [at(corner); 4];
                    for (step, axis) in order.iter().enumerate() {
                        corner[*axis] += 1;
                        tet[step + 1] = at(corner);
                    }
                    tets.push(tet);
                }
            }
        }
    }
    Ok(TetMesh::build(vertices, tets, &TetOptions::default())?.0)
}

struct Times {
    begin: Duration,
    linearise: Duration,
    product: Duration,
    solve: Duration,
    advance: Duration,
    /// Of the last step.
    report: SolveReport,
}

/// The least of `count` steps of each part, the first left out: other programs only add.
fn time(body: &FemBody, start: &BodyState, dt: f64, count: usize) -> Result<Times, Box<dyn Error>> {
    let control = Control::default();
    let mut step = body.new_step();
    let mut solver = Newton::default();
    let mut solution = Solution::default();
    let set = ConstraintSet::default();
    let (mut state, mut next) = (start.clone(), BodyState::default());
    let mut samples: [Vec<Duration>; 5] = Default::default();
    let mut y = Vec::new();
    let mut report = SolveReport::default();
    for _ in 0..count {
        let input = StepInput {
            time_step: dt.into(),
            gravity: Vector3::new(0.0, 0.0, -9.81),
            control: &control,
        };
        let mut clock = Instant::now();
        let mut lap = |part: usize| {
            samples[part].push(clock.elapsed());
            clock = Instant::now();
        };
        step.begin(&state, &input)?;
        lap(0);
        step.linearise_start(&mut Vec::new())?;
        lap(1);
        y.resize(step.start_velocity().len(), 0.0);
        step.dynamics().apply(step.start_velocity(), &mut y);
        lap(2);
        let dynamics: [&dyn Dynamics; 1] = [step.dynamics()];
        let problem = ContactProblem {
            dynamics: &dynamics,
            constraints: &set,
        };
        report = solver.solve(&problem, step.start_velocity(), &mut solution)?;
        lap(3);
        let _ = step.advance(&solution.velocity, &mut next)?;
        lap(4);
        std::mem::swap(&mut state, &mut next);
    }
    let [begin, linearise, product, solve, advance] = samples.map(|mut part| {
        part.drain(..1);
        part.into_iter().min().unwrap_or_default()
    });
    Ok(Times {
        begin,
        linearise,
        product,
        solve,
        advance,
        report,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let spinning = |body: &FemBody, omega: f64| {
        body.rigid_state(
            &Isometry3::identity(),
            &(Vector3::z() * omega),
            &Vector3::zeros(),
        )
    };
    eprintln!(
        "{:<28} {:>7} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9}  (ms)  systems",
        "", "DoFs", "tets", "begin", "linearise", "product", "Newton", "advance"
    );
    let damping = Rayleigh {
        mass: 0.0,
        stiffness: 0.05,
    };
    let foam = |law: LawKind| law.of(Lame::from_young_poisson(1e7, 0.4)?);
    let wall = Region::HalfSpace {
        point: Vector3::x() * -0.5,
        normal: Vector3::x(),
    };
    let rubber = LinearCorotated::new(Lame::from_young_poisson(1e6, 0.4)?);
    let beam = |element, n| -> Result<FemBody, Box<dyn Error>> {
        let mesh = tet_cuboid(Vector3::new(0.5, 0.1, 0.1), [5 * n, n, n])?;
        let builder = FemBuilder::new(mesh, Arc::new(rubber), 1000.0);
        let builder = builder.fix(wall.clone(), &Axis::ALL).element(element);
        Ok(builder.build()?.0)
    };
    let [fine, smoothed, same_nodes, coarse, coarse_smoothed] = [
        (Element::Linear, 8),
        (Element::Smoothed, 8),
        (Element::Quadratic, 4),
        (Element::Linear, 4),
        (Element::Smoothed, 4),
    ]
    .map(|(element, n)| beam(element, n));
    let (fine, smoothed, same_nodes) = (fine?, smoothed?, same_nodes?);
    let (coarse, coarse_smoothed) = (coarse?, coarse_smoothed?);
    let ring = |law, around, across| -> Result<FemBody, Box<dyn Error>> {
        let builder = FemBuilder::new(torus(around, across)?, foam(law)?, 500.0);
        Ok(builder.damping(damping).build()?.0)
    };
    let link = ring(LawKind::LinearCorotated, 33, 2)?;
    let torus = ring(LawKind::LinearCorotated, 192, 6)?;
    let nonlinear = ring(LawKind::StableNeoHookean, 192, 6)?;
    let cases = [
        ("link", &link, 0.0, 0.02, 200),
        ("link, spinning", &link, 5.0, 0.02, 200),
        ("cantilever", &fine, 0.0, 0.01, 20),
        ("cantilever, smoothed", &smoothed, 0.0, 0.01, 20),
        ("half as fine, quadratic", &same_nodes, 0.0, 0.01, 20),
        ("half as fine, linear", &coarse, 0.0, 0.01, 20),
        ("half as fine, smoothed", &coarse_smoothed, 0.0, 0.01, 20),
        ("torus", &torus, 0.0, 0.02, 12),
        ("torus, spinning", &torus, 5.0, 0.02, 12),
        ("torus, stable neo-Hookean", &nonlinear, 0.0, 0.02, 8),
    ];
    for (name, body, omega, dt, count) in cases {
        let t = time(body, &spinning(body, omega), dt, count)?;
        let ms = |d: Duration| 1e3 * d.as_secs_f64();
        eprintln!(
            "{name:<28} {:>7} {:>7} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>9.3}        {}, {} iterations",
            3 * body.mesh().vertices().len(),
            body.mesh().tets().len(),
            ms(t.begin),
            ms(t.linearise),
            ms(t.product),
            ms(t.solve),
            ms(t.advance),
            t.report.systems,
            t.report.inner_iterations,
        );
    }
    Ok(())
}
