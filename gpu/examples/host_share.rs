//! What the processor does in a time step on a device: a cube of particles that falls freely, and the time of each call, ns a particle.
//!
//! `cargo run --release -p pliant-gpu --example host_share -- 100000 5`: number of particles, number of time steps.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use nalgebra::{DMatrix, Point3, Vector3};
use pliant_contact_sap::{Control, DeformableModel};
use pliant_gpu::{Gpu, GpuSubsteps};
use pliant_mpm::{
    LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, ParticleSet, Preset, RigidLinks,
    SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let wanted: f64 = given.next().unwrap_or("100000".into()).parse()?;
    let steps: u32 = given.next().unwrap_or("5".into()).parse()?;
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
    let input = SubstepInput {
        time_step_s: 1e-4,
        substeps: 1,
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
        obstacles: &[],
        contact: SubstepContact {
            stiction_speed: 1e-4,
            near_rigid: 0.1,
            solver: SubstepSolver::default(),
            tolerance: 1e-3,
            iterations_max: 100,
        },
        laws: &LaggedLaws,
    };
    let mut backend = GpuSubsteps::new(&gpu, &model)?;
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
        writeln!(out, "{times:8.1?} {:?} bits {sum:x}", report.times)?;
    }
    Ok(())
}
