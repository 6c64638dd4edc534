//! How many particles a second one core takes to the grid and back, how that goes with their number and with a second thread,
//! and what a product with A costs.
//!
//! A cube of neo-Hookean material, eight particles a cell, sorted: stress and scatter, gather and update of F, nothing else.
//! `cargo run --release -p pliant-mpm --example transfer_speed [particles along an edge ...]`
//!
//! `bench/peers/transfer_peers.py` runs it in turns with other simulators.

use std::time::Instant;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{DeformableModel, StepInput};
use pliant_mpm::{
    GradientForm, Lagged, LaneScalar, Law, LinearCorotated, MatrixForm, MpmBuilder, MpmSettings,
    NeoHookean, NodeField, ObjectSpec, Particle, ParticleSet, SparseGrid, Transfer, sort_particles,
};

fn cube<T: LaneScalar>(edge: usize) -> Vec<Particle<T>> {
    let place = |k: usize| T::of(0.5 * k as f64 + 0.25 + 0.05 * (k % 3) as f64);
    let each = 0..edge * edge * edge;
    each.map(|k| Particle {
        x: Vector3::new(
            place(k / edge / edge),
            place(k / edge % edge),
            place(k % edge),
        ),
        mass: T::of(0.125),
        volume: T::of(0.125),
        v: Vector3::new(T::of(0.01), T::zero(), T::of(-0.02)),
        index: k as u32,
        ..Particle::default()
    })
    .collect()
}

/// Rounds of which the best counts.
const ROUNDS: usize = 12;

/// Millions of particle-substeps a second: all, scatter alone, gather alone, sorting alone.
fn speed<T: LaneScalar>(edge: usize, form: GradientForm) -> [f64; 4]
where
    NeoHookean: Law<T>,
{
    let mut particles = cube::<T>(edge);
    let (mut grid, mut sorted) = (SparseGrid::default(), Vec::new());
    let material = NeoHookean::new(1e3, 0.3).expect("legal constants");
    let transfer = Transfer {
        spacing: T::one(),
        form,
    };
    let dt = T::of(1e-3);
    let mut field = NodeField::default();
    let mut times = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        grid.build(T::one(), particles.iter().map(|p| p.x))
            .expect("on the grid");
        sort_particles(&grid, &particles, &mut sorted);
        times[2] = times[2].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let lagged = Lagged::default();
        let stress = |p: &Particle<T>| material.kirchhoff(&p.strain, &lagged) * (-dt * p.volume);
        transfer.particles_to_grid(&grid, &sorted, stress, &mut field);
        times[0] = times[0].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        field.momentum_to_velocity(&Vector3::zeros(), dt);
        transfer.grid_to_particles(&grid, &field, &mut sorted, |p, gradient| {
            p.x += p.v * dt;
            let f = p.strain.f;
            p.strain.f = f + gradient * f * dt;
        });
        times[1] = times[1].min(start.elapsed().as_secs_f64());
        std::mem::swap(&mut particles, &mut sorted);
    }
    let millions = particles.len() as f64 * 1e-6;
    let [scatter, gather, sort] = times;
    [scatter + gather, scatter, gather, sort].map(|t| millions / t)
}

/// Nanoseconds a particle for one product with A, and for opening and linearising a step.
fn product(edge: usize, matrix: MatrixForm) -> [f64; 3] {
    let points: Vec<_> = cube::<f64>(edge)
        .iter()
        .map(|p| Point3::from(p.x))
        .collect();
    let n = points.len() as f64;
    let mut settings = MpmSettings::new(1.0);
    settings.matrix = matrix;
    let mut builder = MpmBuilder::new(settings);
    let set = ParticleSet {
        points,
        particle_volume: 0.125,
    };
    let material = LinearCorotated::new(1e5, 0.3).expect("legal constants");
    builder.object(ObjectSpec::new(
        "cube",
        std::sync::Arc::new(material),
        1000.0,
        set,
    ));
    let model = builder.build().expect("a legal model");
    let control = model.default_control();
    let input = StepInput {
        time_step: 0.01.into(),
        gravity: Vector3::zeros(),
        control: &control,
    };
    let state = model.default_state();
    let mut step = model.new_step();
    let mut times = [f64::INFINITY; 3];
    for _ in 0..5 {
        let start = Instant::now();
        step.begin(&state, &input).expect("a legal step");
        times[1] = times[1].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        step.linearise().expect("a legal step");
        times[2] = times[2].min(start.elapsed().as_secs_f64());
        let x = vec![1.0; step.start_velocity().len()];
        let mut y = x.clone();
        for _ in 0..10 {
            let start = Instant::now();
            step.dynamics().apply(&x, &mut y);
            times[0] = times[0].min(start.elapsed().as_secs_f64());
        }
    }
    times.map(|t| 1e9 * t / n)
}

fn pool(threads: usize) -> rayon::ThreadPool {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    builder.build().expect("threads")
}

fn main() {
    let edges: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let edges = if edges.is_empty() {
        vec![22, 46, 100]
    } else {
        edges
    };
    let [one, two] = [1, 2].map(pool);
    eprintln!("one thread, millions of particle-substeps a second: both, scatter, gather, sort");
    for &edge in &edges {
        let n = edge * edge * edge;
        one.install(|| {
            for form in [GradientForm::Mls, GradientForm::True] {
                eprintln!("{n:8} f32 {form:?}: {:.1?}", speed::<f32>(edge, form));
                eprintln!("{n:8} f64 {form:?}: {:.1?}", speed::<f64>(edge, form));
            }
        });
    }
    eprintln!("a second thread is worth a factor, f32 and f64 by moving least squares");
    for &edge in &edges {
        let form = GradientForm::Mls;
        let each = [&one, &two].map(|pool| {
            pool.install(|| [speed::<f32>(edge, form)[0], speed::<f64>(edge, form)[0]])
        });
        let ratios = [0, 1].map(|k| each[1][k] / each[0][k]);
        eprintln!("{:8}: {ratios:.2?}", edge * edge * edge);
    }
    let edge = edges[0].min(32);
    eprintln!(
        "{} particles, one thread, ns a particle: product with A, begin, linearise",
        edge * edge * edge
    );
    one.install(|| {
        for matrix in [MatrixForm::Assembled, MatrixForm::MatrixFree] {
            eprintln!("{matrix:?}: {:.0?}", product(edge, matrix));
        }
    });
}
