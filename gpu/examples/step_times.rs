//! Where the time of a time step goes: a cube of foam falls on a floor; the time of each call on the processor, and of each dispatch on the device.
//!
//! `cargo run --release -p pliant-gpu --example step_times -- 100000 5 10`: number of particles, of time steps, of substeps. Without numbers few of each.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use nalgebra::{DMatrix, Isometry3, Point3, Vector3};
use pliant_contact_sap::{Control, DeformableModel, Dissipation};
use pliant_gpu::{Gpu, GpuBatch, GpuSubsteps};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair, ParticleSet, Preset,
    RigidLinks, SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let wanted: f64 = given.next().unwrap_or("1000".into()).parse()?;
    let steps: u32 = given.next().unwrap_or("3".into()).parse()?;
    let substeps: u32 = given.next().unwrap_or("2".into()).parse()?;
    let edge = wanted.cbrt().round() as usize;
    let at = |k: usize| 0.01 * (k as f64 + 0.5);
    let points = (0..edge.pow(3))
        .map(|n| Point3::new(at(n / (edge * edge)), at(n / edge % edge), at(n % edge)))
        .collect();
    let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
    let set = ParticleSet {
        points,
        particle_volume: 1e-6,
    };
    builder.object(ObjectSpec::new(
        "foam",
        Preset::FoamCube.material(),
        400.0,
        set,
    ));
    let model = builder.build()?;
    let gpu = Arc::new(Gpu::open()?);
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
        time_step_s: 1e-4 * f64::from(substeps),
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
    let batch = GpuBatch::timed_by_stage(&gpu);
    let mut backend = GpuSubsteps::in_batch(&batch, &model)?;
    let mut state = model.default_state();
    let mut next = state.clone();
    let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
    let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
    let mut out = std::io::stdout();
    writeln!(out, "begin, limit, run, end: ns a particle")?;
    let each = |since: Instant| 1e9 * since.elapsed().as_secs_f64() / edge.pow(3) as f64;
    for _ in 0..steps {
        let mut times = [0.0; 4];
        let mut clock = Instant::now();
        backend.begin(&state)?;
        times[0] = each(clock);
        clock = Instant::now();
        let _ = backend.limit();
        times[1] = each(clock);
        clock = Instant::now();
        backend.run(&input, &mut links, &mut memory, &mut report)?;
        times[2] = each(clock);
        clock = Instant::now();
        let _ = backend.end(&mut next)?;
        times[3] = each(clock);
        std::mem::swap(&mut state, &mut next);
        let bits = state.q.iter().chain(&state.v).chain(&state.history);
        let sum = bits.fold(0_u64, |sum, x| sum.rotate_left(5) ^ x.to_bits());
        writeln!(out, "{times:8.1?} bits {sum:x}")?;
    }
    let mean = |sum: u64| sum as f64 / f64::from(substeps);
    let (contacts, iterations) = (mean(report.contacts), mean(report.iterations));
    writeln!(
        out,
        "\nin the last time step {contacts:.0} contacts and {iterations:.1} iterations a substep\n"
    )?;
    let name = &gpu.description().name;
    match &batch.dispatch_times()[..] {
        [] => writeln!(out, "\"{name}\" has no timestamps")?,
        times => {
            writeln!(out, "dispatches  µs each  stage, on \"{name}\"")?;
            for time in times {
                let each = 1e6 * time.seconds_each();
                writeln!(out, "{:10} {each:8.1}  {}", time.dispatches, time.stage)?;
            }
        }
    }
    Ok(())
}
