//! Worlds that take their substeps together have the bits of each alone.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::{BodyError, BodyState, DeformableModel};
use pliant_mpm::{ParticleImpulse, SubstepBackend, SubstepReport};

use crate::adapter::Gpu;
use crate::backend::GpuSubsteps;
use crate::batch::{GpuBatch, write_in_pieces};
use crate::function_tests::device;
use crate::stage_tests::contents;
use crate::test_scene::{FoamOnFloor, no_links};

/// A block of foam on the floor, its gravity, and its substeps.
struct World {
    scene: FoamOnFloor,
    gravity: f64,
    substeps: u32,
    state: BodyState,
    memory: Vec<ParticleImpulse>,
}

impl World {
    fn new(lengths: [f64; 3], gravity: f64, substeps: u32) -> Self {
        let scene = FoamOnFloor::with_lengths(lengths);
        let state = scene.model.default_state();
        Self {
            scene,
            gravity,
            substeps,
            state,
            memory: Vec::new(),
        }
    }

    fn prepare(&self, backend: &mut GpuSubsteps) {
        let mut input = self.scene.input(self.substeps);
        input.gravity = Vector3::new(0.0, 0.0, -self.gravity);
        backend.begin(&self.state).expect("its own state");
        (backend.prepare(&input, &no_links(), &self.memory)).expect("a legal input");
    }

    fn step(&mut self, backend: &mut GpuSubsteps) -> SubstepReport {
        self.try_step(backend).expect("a step")
    }

    fn try_step(&mut self, backend: &mut GpuSubsteps) -> Result<SubstepReport, BodyError> {
        let mut input = self.scene.input(self.substeps);
        input.gravity = Vector3::new(0.0, 0.0, -self.gravity);
        let mut report = SubstepReport::default();
        backend.run(&input, &mut no_links(), &mut self.memory, &mut report)?;
        let mut next = BodyState::default();
        let _ = backend.end(&mut next)?;
        self.state = next;
        Ok(report)
    }

    fn bits(&self) -> (Vec<u64>, &[ParticleImpulse]) {
        let numbers = self.state.q.iter().chain(&self.state.v);
        let numbers = numbers.chain(&self.state.history);
        (numbers.map(|x| x.to_bits()).collect(), &self.memory)
    }
}

/// The third has more contacts than there is room for at first: 36 by 36 particles on the floor.
fn worlds() -> Vec<World> {
    vec![
        World::new([0.04; 3], 9.81, 3),
        World::new([0.08; 3], 1.62, 5),
        World::new([0.36, 0.36, 0.02], 9.81, 2),
        World::new([0.04; 3], 3.7, 1),
    ]
}

#[test]
fn worlds_in_a_batch_have_the_bits_of_each_alone() {
    if device("worlds_in_a_batch_have_the_bits_of_each_alone").is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let (mut alone, mut together) = (worlds(), worlds());
    let mut own: Vec<_> = (alone.iter())
        .map(|world| GpuSubsteps::new(&gpu, &world.scene.model).expect("foam"))
        .collect();
    let batch = GpuBatch::new(&gpu);
    let mut shared: Vec<_> = (together.iter())
        .map(|world| GpuSubsteps::in_batch(&batch, &world.scene.model).expect("foam"))
        .collect();
    // The device may have been given the time steps of some worlds before others are prepared.
    let started_after: [&[usize]; 4] = [&[], &[1], &[1, 3], &[0, 1, 2, 3]];
    for (step, started_after) in started_after.into_iter().enumerate() {
        for (k, (world, backend)) in together.iter().zip(&mut shared).enumerate() {
            world.prepare(backend);
            if started_after.contains(&k) {
                assert!(backend.start(), "there are particles");
            }
        }
        // Several threads may wait for it.
        let reports: Vec<SubstepReport> = std::thread::scope(|scope| {
            let each = together.iter_mut().zip(&mut shared);
            let threads: Vec<_> = each
                .map(|(world, backend)| scope.spawn(|| world.step(backend)))
                .collect();
            let ends = threads.into_iter().map(|thread| thread.join());
            ends.collect::<Result<_, _>>().expect("steps")
        });
        for (k, report) in reports.iter().enumerate() {
            alone[k].prepare(&mut own[k]);
            let expected = alone[k].step(&mut own[k]);
            assert_eq!(
                together[k].bits(),
                alone[k].bits(),
                "world {k}, step {step}"
            );
            assert_eq!(
                (report.contacts, report.iterations),
                (expected.contacts, expected.iterations)
            );
            assert!(report.contacts > 0, "world {k} touches the floor");
        }
    }
    // A world that leaves, one that enters in its place, and one that begins anew.
    drop(shared.remove(0));
    shared.insert(
        0,
        GpuSubsteps::in_batch(&batch, &together[0].scene.model).expect("foam"),
    );
    let start = together[1].scene.model.default_state();
    for worlds in [&mut alone, &mut together] {
        worlds[1].state.clone_from(&start);
        worlds[1].memory.clear();
    }
    for (world, backend) in together.iter().zip(&mut shared) {
        world.prepare(backend);
    }
    // Two that were prepared and begin again instead, one of them on its way.
    together[3].prepare(&mut shared[3]);
    assert!(shared[0].start());
    together[1].prepare(&mut shared[1]);
    assert!(shared[1].start() && shared[3].start());
    for k in 0..alone.len() {
        let _ = together[k].step(&mut shared[k]);
        alone[k].prepare(&mut own[k]);
        let _ = alone[k].step(&mut own[k]);
        assert_eq!(together[k].bits(), alone[k].bits(), "world {k}");
    }
}

#[test]
fn a_world_without_room_on_the_adapter_leaves_the_others() {
    if device("a_world_without_room_on_the_adapter_leaves_the_others").is_none() {
        return;
    }
    let mut gpu = Gpu::open().expect("there is one");
    // Room for the contacts of two worlds, 139 kB each at first, but not for 9,261 particles of 144 bytes.
    gpu.description.storage_buffer_max = 350_000;
    let gpu = Arc::new(gpu);
    let (small, large) = ([0.04; 3], [0.21; 3]);
    let worlds = || [small, large, small, small].map(|lengths| World::new(lengths, 9.81, 2));
    let (mut alone, mut together) = (worlds(), worlds());
    let batch = GpuBatch::new(&gpu);
    let new = |world: &World| GpuSubsteps::in_batch(&batch, &world.scene.model).expect("foam");
    let mut shared: Vec<_> = together.iter().map(new).collect();
    let mut own: Vec<_> = (alone.iter())
        .map(|world| GpuSubsteps::new(&gpu, &world.scene.model).expect("foam"))
        .collect();
    for fitting in [[0, 2], [0, 2], [2, 3]] {
        let mut asking = 0..4;
        if fitting == [2, 3] {
            // One that leaves makes room.
            shared[0] = new(&together[0]);
            asking.start = 1;
        }
        for k in asking.clone() {
            together[k].prepare(&mut shared[k]);
        }
        for k in asking {
            let report = together[k].try_step(&mut shared[k]);
            if fitting.contains(&k) {
                let _ = report.expect("a step");
                alone[k].prepare(&mut own[k]);
                let _ = alone[k].step(&mut own[k]);
                assert_eq!(together[k].bits(), alone[k].bits(), "world {k}");
                continue;
            }
            let error = report.expect_err("no room").to_string();
            let said = match k {
                1 => ["the particles of", "9261 particles take 1333584 bytes"],
                _ => ["the nodes of contacts of", "64 particles take"],
            };
            assert!(said.iter().all(|part| error.contains(part)), "{error}");
        }
    }
}

#[test]
fn results_that_are_together_larger_than_a_buffer_come_back() {
    if device("results_that_are_together_larger_than_a_buffer_come_back").is_none() {
        return;
    }
    let mut gpu = Gpu::open().expect("there is one");
    // Particles of two worlds are 1,179,648 bytes, and their contact forces, which are read back with them, 131,072.
    gpu.description.storage_buffer_max = 1_250_000;
    let gpu = Arc::new(gpu);
    let mut world = World::new([0.16; 3], 9.81, 1);
    let mut own = GpuSubsteps::new(&gpu, &world.scene.model).expect("foam");
    let batch = GpuBatch::new(&gpu);
    let mut shared: Vec<_> = (0..2)
        .map(|_| GpuSubsteps::in_batch(&batch, &world.scene.model).expect("foam"))
        .collect();
    for backend in &mut shared {
        world.prepare(backend);
    }
    let ends: Vec<_> = (shared.iter_mut())
        .map(|backend| {
            let mut world = World::new([0.16; 3], 9.81, 1);
            let _ = world.step(backend);
            world
        })
        .collect();
    world.prepare(&mut own);
    let _ = world.step(&mut own);
    for end in &ends {
        assert_eq!(end.bits(), world.bits());
    }
}

#[test]
fn bytes_in_pieces_are_those_at_once() {
    let Some(gpu) = device("bytes_in_pieces_are_those_at_once") else {
        return;
    };
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 1200,
        usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let bytes: Vec<u8> = (0..1100).map(|k| (k % 251 + 1) as u8).collect();
    write_in_pieces(gpu, (&buffer, 40), &bytes, 256);
    let found = contents::<u8>(gpu, &buffer);
    assert_eq!(found[40..1140], bytes);
    assert!(found[..40].iter().chain(&found[1140..]).all(|b| *b == 0));
}
