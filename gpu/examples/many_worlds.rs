//! Many small worlds in one set of dispatches, and in two, beside one large world with the same number of particles: blocks of foam on a floor.
//!
//! `cargo run --release -p pliant-gpu --example many_worlds -- 1024 1000 10 5`: worlds, particles of each, substeps, time steps. Without
//! numbers few of each.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use nalgebra::{DMatrix, Isometry3, Point3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
use pliant_gpu::{Gpu, GpuBatch, GpuSubsteps};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    LaggedLaws, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair,
    ParticleSet, Preset, RigidLinks, SubstepBackend, SubstepContact, SubstepInput, SubstepReport,
    SubstepSolver,
};

const TIME_STEP_S: f64 = 1e-3;

/// So many square columns of so many particles each on the floor, a cell or more from one another.
fn foam(columns: usize, particles: usize) -> Result<MaterialPoints, Box<dyn Error>> {
    let edge = (particles as f64).cbrt().round() as usize;
    let row = (columns as f64).sqrt().ceil() as usize;
    let at = |k: usize| 0.01 * (k as f64 + 0.5);
    let points = (0..columns * edge.pow(3)).map(|n| {
        let (column, n) = (n / edge.pow(3), n % edge.pow(3));
        let (x, y) = (column / row * (edge + 4), column % row * (edge + 4));
        let (i, j, k) = (n / (edge * edge), n / edge % edge, n % edge);
        Point3::new(at(x + i), at(y + j), at(k))
    });
    let set = ParticleSet {
        points: points.collect(),
        particle_volume: 1e-6,
    };
    let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
    let law = Preset::FoamCube.material();
    builder.object(ObjectSpec::new("foam", law, 400.0, set));
    Ok(builder.build()?)
}

struct World {
    backend: GpuSubsteps,
    state: BodyState,
    memory: Vec<pliant_mpm::ParticleImpulse>,
    report: SubstepReport,
}

/// Wall time of the time steps after the first one, s, and the contacts of a substep; of so many worlds in so many sets of dispatches.
fn time(
    model: &MaterialPoints,
    (worlds, sets): (usize, usize),
    (substeps, steps): (u32, u32),
    gpu: &Arc<Gpu>,
) -> Result<(f64, f64), Box<dyn Error>> {
    let control = Control::default();
    let floor = [Obstacle {
        shape: Shape::half_space(),
        link: None,
        X_LG: Isometry3::identity(),
        surface_velocity: Vector3::zeros(),
        pairs: vec![Some(ObstaclePair {
            stiffness: 1e3,
            dissipation: Dissipation::HuntCrossley(1.0),
            friction: 0.5,
        })],
    }];
    let input = SubstepInput {
        time_step_s: TIME_STEP_S,
        substeps,
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
        obstacles: &floor,
        contact: SubstepContact {
            stiction_speed: 1e-4,
            near_rigid: 0.1,
            solver: SubstepSolver::default(),
            tolerance: 1e-2,
            iterations_max: 100,
        },
        laws: &LaggedLaws,
    };
    let batch = GpuBatch::new(gpu);
    let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
    let mut all = Vec::new();
    for _ in 0..worlds {
        all.push(World {
            backend: GpuSubsteps::in_batch(&batch, model)?,
            state: model.default_state(),
            memory: Vec::new(),
            report: SubstepReport::default(),
        });
    }
    let (mut clock, mut contacts) = (Instant::now(), 0);
    for step in 0..=steps {
        if step == 1 {
            (clock, contacts) = (Instant::now(), 0);
        }
        for worlds in all.chunks_mut(worlds.div_ceil(sets)) {
            for world in &mut *worlds {
                world.backend.begin(&world.state)?;
                (world.backend).prepare(&input, &links, &world.memory)?;
            }
            // The device goes on while the next set is prepared.
            let _ = worlds[0].backend.start();
        }
        for world in &mut all {
            let (memory, report) = (&mut world.memory, &mut world.report);
            world.backend.run(&input, &mut links, memory, report)?;
            let _ = world.backend.end(&mut world.state)?;
            contacts += world.report.contacts;
        }
    }
    let mean = contacts as f64 / f64::from(steps * substeps);
    Ok((clock.elapsed().as_secs_f64(), mean))
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<usize> = (std::env::args().skip(1))
        .map(|x| x.parse())
        .collect::<Result<_, _>>()?;
    let [worlds, particles, substeps, steps] = match given[..] {
        [] => [8, 1000, 4, 2],
        [worlds, particles, substeps, steps] => [worlds, particles, substeps, steps],
        _ => return Err("four numbers: worlds, particles of each, substeps, time steps".into()),
    };
    let gpu = Arc::new(Gpu::open()?);
    let length = (substeps as u32, steps as u32);
    let (small, large) = (foam(1, particles)?, foam(worlds, particles)?);
    let taken = (large.default_state().v.len() / 3 * substeps * steps) as f64;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{}: million particle substeps a second, contacts of a substep",
        gpu.description().name
    )?;
    let all = [
        ("many worlds", &small, (worlds, 1)),
        ("in two sets of dispatches", &small, (worlds, 2)),
        ("one world", &large, (1, 1)),
    ];
    for (name, model, worlds) in all {
        let (time_s, contacts) = time(model, worlds, length, &gpu)?;
        writeln!(out, "{name}: {:.3}, {contacts:.0}", 1e-6 * taken / time_s)?;
    }
    Ok(())
}
