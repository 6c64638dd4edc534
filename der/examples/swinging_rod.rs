//! A metre of rubber, clamped at one end, falls and swings: how long a step takes, by the number of edges.
//!
//! `cargo run --release -p pliant-der --example swinging_rod`, with numbers of edges after it if others are wanted.
#![allow(
    clippy::print_stdout,
    reason = "what this program finds is what it prints"
)]

use std::time::Instant;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, BodyStep, DeformableModel, StepInput};
use pliant_der::{
    Centreline, End, EndCondition, Material, Rod, RodBuilder, RodError, RodStep, Section,
};

const TIME_STEP_S: f64 = 1e-3;
const STEPS: u32 = 300;

fn rod(edges: usize) -> Result<Rod, RodError> {
    let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), edges);
    RodBuilder::new(line)
        .section(
            Section::Circle { radius: 5e-3 },
            Material::isotropic(1e6, 0.5, 1000.0)?,
        )
        .end(End::Start, EndCondition::Clamped { tangent: None })
        .build()
}

/// Seconds a step, Newton iterations a step, and the greatest stretch met.
fn swing(edges: usize) -> Result<(f64, f64, f64), RodError> {
    let rod = rod(edges)?;
    let control = rod.default_control();
    let input = StepInput {
        time_step: TIME_STEP_S.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
    };
    let (mut step, mut velocity) = (RodStep::new(&rod), Vec::new());
    let (mut state, mut next) = (rod.default_state(), BodyState::default());
    let mut iterations = 0;
    let begun = Instant::now();
    for _ in 0..STEPS {
        step.begin(&state, &input)?;
        step.linearise()?;
        step.free_velocity(&mut velocity);
        let _ = step.advance(&velocity, &mut next)?;
        std::mem::swap(&mut state, &mut next);
        iterations += step.report().iterations;
    }
    let seconds = begun.elapsed().as_secs_f64() / f64::from(STEPS);
    let stretch = rod.strains(&state)?.stretch;
    let most = stretch.iter().fold(0.0_f64, |a, s| a.max(s.abs()));
    Ok((seconds, f64::from(iterations) / f64::from(STEPS), most))
}

fn main() -> Result<(), RodError> {
    println!("edges   us a step   ns an edge   iterations a step   real-time rate");
    let asked: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|n| n.parse().ok())
        .collect();
    let all = if asked.is_empty() {
        vec![100, 250, 500, 1000]
    } else {
        asked
    };
    for edges in all {
        let (seconds, iterations, stretch) = swing(edges)?;
        println!(
            "{edges:5} {:11.1} {:12.1} {iterations:19.2} {:16.2}",
            1e6 * seconds,
            1e9 * seconds / edges as f64,
            TIME_STEP_S / seconds
        );
        // It hangs by less than its own weight many times over.
        assert!(stretch < 0.1, "stretched by {stretch}");
    }
    Ok(())
}
