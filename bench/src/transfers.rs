//! Speed of transfers between material points and grid, by number of particles and threads.
//!
//! A cube of neo-Hookean material, eight particles per cell, sorted: stress and scatter, gather and update of F. A product with A
//! and the start of an implicit step are timed on the same cube.

use std::time::Instant;

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_constitutive::{Lame, NeoHookean};
use pliant_contact_sap::{DeformableModel, StepInput};
use pliant_mpm::{
    GradientForm, InstructionSet, LaneScalar, LinearCorotated, MatrixForm, MpmBuilder, MpmSettings,
    NodeField, ObjectSpec, Particle, ParticleLaw, ParticleSet, SparseGrid, Transfer,
    sort_particles,
};

/// Millions of particle substeps per second of wall time, the best of several rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferSpeed {
    /// Scatter, then gather.
    pub both: f64,
    /// Stress and scatter.
    pub scatter: f64,
    /// Gather and update of F.
    pub gather: f64,
    /// Building the grid and sorting.
    pub sort: f64,
}

pub(crate) fn cube<T: LaneScalar>(edge: usize) -> Vec<Particle<T>> {
    let coordinate = |k: usize| T::of(0.5 * k as f64 + 0.25 + 0.05 * (k % 3) as f64);
    let each = 0..edge * edge * edge;
    each.map(|k| Particle {
        x: Vector3::new(
            coordinate(k / edge / edge),
            coordinate(k / edge % edge),
            coordinate(k % edge),
        ),
        mass: T::of(0.125),
        volume: T::of(0.125),
        v: Vector3::new(T::of(0.01), T::zero(), T::of(-0.02)),
        index: k as u32,
        ..Particle::default()
    })
    .collect()
}

/// Transfers of `edge`³ particles on the current pool of threads.
///
/// # Panics
/// If the cube does not fit on a grid, which takes more than 10^18 particles.
#[must_use]
pub fn transfer_speed<T: LaneScalar>(
    edge: usize,
    form: GradientForm,
    instructions: InstructionSet,
    rounds: usize,
) -> TransferSpeed {
    let mut particles = cube::<T>(edge);
    let (mut grid, mut sorted) = (SparseGrid::default(), Vec::new());
    let material = NeoHookean::new(Lame::from_young_poisson(1e3, 0.3).expect("legal constants"))
        .expect("legal constants");
    let transfer = Transfer {
        instructions,
        ..Transfer::new(T::one(), form)
    };
    let dt = T::of(1e-3);
    let mut field = NodeField::default();
    let mut times = [f64::INFINITY; 3];
    let start = Instant::now();
    let now = || start.elapsed().as_secs_f64();
    for _ in 0..rounds {
        let begun = now();
        grid.build(T::one(), particles.iter().map(|p| p.x))
            .expect("on the grid");
        sort_particles(&grid, &particles, &mut sorted);
        let is_sorted = now();
        let impulses = |particles: &[Particle<T>], out: &mut [Matrix3<T>]| {
            material.stresses(instructions, particles, out);
            for (p, stress) in particles.iter().zip(out) {
                *stress *= -dt * p.volume;
            }
        };
        transfer.particles_to_grid(&grid, &sorted, impulses, &mut field);
        let is_scattered = now();
        field.momentum_to_velocity(&Vector3::zeros(), dt);
        let update = |particles: &mut [Particle<T>], gradients: &[Matrix3<T>], _: &[T]| {
            material.advance_all(instructions, dt, gradients, particles, &|_| ());
        };
        transfer.grid_to_particles(&grid, (&field, None), dt, &mut sorted, update);
        let end = now();
        let own = [
            is_sorted - begun,
            is_scattered - is_sorted,
            end - is_scattered,
        ];
        for (best, own) in times.iter_mut().zip(own) {
            *best = best.min(own);
        }
        std::mem::swap(&mut particles, &mut sorted);
    }
    let millions = particles.len() as f64 * 1e-6;
    let [sort, scatter, gather] = times;
    TransferSpeed {
        both: millions / (scatter + gather),
        scatter: millions / scatter,
        gather: millions / gather,
        sort: millions / sort,
    }
}

/// Nanoseconds a particle of an implicit step's parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitCost {
    /// One product with A.
    pub product_ns: f64,
    /// Opening the step: grid, mass, momentum, rotations.
    pub begin_ns: f64,
    /// A and b.
    pub linearise_ns: f64,
}

/// The parts of an implicit step of `edge`³ linear corotated particles.
///
/// # Panics
/// As [`transfer_speed`].
#[must_use]
pub fn implicit_cost(edge: usize, matrix: MatrixForm) -> ImplicitCost {
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
    let material =
        LinearCorotated::new(Lame::from_young_poisson(1e5, 0.3).expect("legal constants"));
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
    let start = Instant::now();
    let now = || start.elapsed().as_secs_f64();
    for _ in 0..5 {
        let begun = now();
        step.begin(&state, &input).expect("a legal step");
        let is_open = now();
        step.linearise_start(&mut Vec::new()).expect("a legal step");
        times[1] = times[1].min(is_open - begun);
        times[2] = times[2].min(now() - is_open);
        let x = vec![1.0; step.start_velocity().len()];
        let mut y = x.clone();
        for _ in 0..10 {
            let begun = now();
            step.dynamics().apply(&x, &mut y);
            times[0] = times[0].min(now() - begun);
        }
    }
    let [product_ns, begin_ns, linearise_ns] = times.map(|t| 1e9 * t / n);
    ImplicitCost {
        product_ns,
        begin_ns,
        linearise_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_takes_time() {
        let speed = transfer_speed::<f32>(4, GradientForm::Mls, InstructionSet::widest(), 2);
        for part in [speed.both, speed.scatter, speed.gather, speed.sort] {
            assert!(part > 0.0 && part.is_finite());
        }
        assert!(speed.both < speed.scatter && speed.both < speed.gather);
        let cost = implicit_cost(4, MatrixForm::Assembled);
        assert!(cost.begin_ns.is_finite() && cost.linearise_ns.is_finite());
    }
}
