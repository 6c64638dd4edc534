//! Times a metre of rubber that is clamped at one end, falls and swings, for several numbers of edges and of rods.
//!
//! `cargo run --release -p pliant-der --example swinging_rod [EDGES]...`. Times are processor time on Linux, wall-clock time
//! elsewhere.
#![allow(clippy::print_stdout, reason = "the program prints its results")]

use std::time::Instant;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, BodyStep, DeformableModel, StartLinearisation, StepInput};
use pliant_der::{
    Centreline, End, EndCondition, Material, Rod, RodBuilder, RodError, RodStep, Section,
};

const TIME_STEP_S: f64 = 1e-3;
const STEPS: u32 = 300;

fn rod(edges: usize, y: f64) -> Result<Rod, RodError> {
    let line = Centreline::straight(Point3::new(0.0, y, 0.0), Point3::new(1.0, y, 0.0), edges);
    RodBuilder::new(line)
        .section(
            Section::Circle { radius: 5e-3 },
            Material::isotropic(1e6, 0.5, 1000.0)?,
        )
        .end(End::Start, EndCondition::Clamped { tangent: None })
        .build()
}

/// Processor time of this process, s; where it is not available, wall-clock time since `started`.
fn seconds(started: Instant) -> f64 {
    let on_processor = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = on_processor.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| started.elapsed().as_secs_f64(), |ns| 1e-9 * ns)
}

struct Swing {
    seconds_per_step: f64,
    iterations_per_step: f64,
    greatest_stretch: f64,
}

/// Simulates rods side by side, each a separate body.
fn swing(rods: usize, edges: usize) -> Result<Swing, RodError> {
    let rods: Result<Vec<Rod>, _> = (0..rods).map(|k| rod(edges, 0.05 * k as f64)).collect();
    let mut bodies: Vec<_> = rods?
        .into_iter()
        .map(|rod| {
            let (step, state) = (RodStep::new(&rod), rod.default_state());
            (rod, step, state)
        })
        .collect();
    let mut iterations = 0;
    let (mut velocity, mut next) = (Vec::new(), BodyState::default());
    let control = bodies[0].0.default_control();
    let input = StepInput {
        time_step: TIME_STEP_S.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
    };
    let started = Instant::now();
    let before = seconds(started);
    for _ in 0..STEPS {
        for (_, step, state) in &mut bodies {
            step.begin(state, &input)?;
            step.linearise_start(&mut velocity)?;
            step.free_velocity(&mut velocity);
            let _ = step.advance(&velocity, &mut next)?;
            std::mem::swap(state, &mut next);
            iterations += step.report().iterations;
        }
    }
    let seconds = seconds(started) - before;
    let mut greatest_stretch = 0.0;
    for (rod, _, state) in &bodies {
        let stretch = rod.strains(state)?.stretch;
        greatest_stretch = stretch
            .iter()
            .fold(greatest_stretch, |a: f64, s| a.max(s.abs()));
    }
    Ok(Swing {
        seconds_per_step: seconds / f64::from(STEPS),
        iterations_per_step: f64::from(iterations) / f64::from(STEPS) / bodies.len() as f64,
        greatest_stretch,
    })
}

/// Prints one line per size, and the exponent of time over size by linear regression of logarithms.
fn table(
    sizes: &[usize],
    what: &str,
    shape: impl Fn(usize) -> (usize, usize),
) -> Result<(), RodError> {
    println!(
        "{what:>5} us per step  ns per edge iterations per step   real-time rate   (Δt {TIME_STEP_S} s)"
    );
    let mut points = Vec::new();
    for &size in sizes {
        let (rods, edges) = shape(size);
        let found = swing(rods, edges)?;
        println!(
            "{size:5} {:11.1} {:12.1} {:19.2} {:16.2}",
            1e6 * found.seconds_per_step,
            1e9 * found.seconds_per_step / (rods * edges) as f64,
            found.iterations_per_step,
            TIME_STEP_S / found.seconds_per_step
        );
        // The tension is of the order of the weight: stretch stays small.
        let stretch = found.greatest_stretch;
        assert!(stretch < 0.1, "stretched by {stretch}");
        points.push(((size as f64).ln(), found.seconds_per_step.ln()));
    }
    if points.len() > 1 {
        let n = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let (mut xy, mut xx) = (0.0, 0.0);
        for p in &points {
            xy += (p.0 - x) * (p.1 - y);
            xx += (p.0 - x) * (p.0 - x);
        }
        println!(
            "time grows with the power {:.2} of the number of {what}\n",
            xy / xx
        );
    }
    Ok(())
}

fn main() -> Result<(), RodError> {
    let sizes: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|n| n.parse().ok())
        .collect();
    if sizes.is_empty() {
        table(&[125, 250, 500, 1000, 2000], "edges", |edges| (1, edges))?;
        table(&[1, 4, 16, 64], "rods", |rods| (rods, 100))
    } else {
        table(&sizes, "edges", |edges| (1, edges))
    }
}
