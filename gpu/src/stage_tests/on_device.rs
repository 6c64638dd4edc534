//! One substep on the device, and what it left in the buffers, with the places of `common.wgsl`.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytemuck::{AnyBitPattern, Pod, Zeroable};
use nalgebra::{Matrix3, Vector3, Vector6};
use pliant_mpm::{ParticleImpulse, SubstepBackend, SubstepReport};

use super::scene::{SPACING, Scene};
use crate::adapter::Gpu;
use crate::backend::GpuSubsteps;
use crate::layout::{CONTACT_BYTES, CRUSHED, DeviceParticle, PAIR, Params, UNSOLVED};

pub(super) const NONE: u32 = u32::MAX;
const N_CONTACTS: usize = 1;
const N_SLOTS: usize = 2;
const N_ENTRIES: usize = 3;
const N_BLOCKS: usize = 13;
const CELLS: u32 = 32;

/// A contact as `common.wgsl` has it, as far as detection writes it.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct DeviceContact {
    pub(super) particle: u32,
    pub(super) obstacle: u32,
    pub(super) pair: u32,
    pub(super) link: i32,
    base: [i32; 3],
    pub(super) gap: f32,
    wx: [f32; 3],
    pub(super) start_velocity: f32,
    wy: [f32; 3],
    response: f32,
    wz: [f32; 3],
    bound: f32,
    pub(super) normal: [f32; 3],
    friction: f32,
    pub(super) arm: [f32; 3],
    softening_per_impulse: f32,
    pub(super) surface: [f32; 3],
    link_response: f32,
    pub(super) point: [f32; 3],
    dissipation: f32,
    rest: [f32; 16],
}

const _: () = assert!(size_of::<DeviceContact>() as u64 == CONTACT_BYTES);

/// The buffers after one substep.
pub(super) struct OnDevice {
    pub(super) params: Params,
    pub(super) lists: Vec<u32>,
    nodes: Vec<[f32; 4]>,
    contacts: Vec<DeviceContact>,
    work: Vec<u32>,
    forces: Vec<[f32; 4]>,
    out: Vec<f32>,
    pub(super) particles: Vec<DeviceParticle>,
    /// Of the dispatches over blocks, and of those over contacts.
    pub(super) dispatch_sizes: Vec<[u32; 3]>,
    /// The number of each block, by its place in the box.
    blocks: BTreeMap<[i32; 3], u32>,
    pub(super) report: SubstepReport,
}

impl OnDevice {
    pub(super) fn after_a_substep(gpu: &Arc<Gpu>, scene: &Scene) -> Self {
        let mut backend = GpuSubsteps::new(gpu, &scene.model).expect("its materials have shaders");
        // Forces of a last substep in which every particle touched both obstacles.
        let force_W = Vector3::new(0.0, 0.1, 0.2);
        let start = (0..scene.particles.len() as u32).flat_map(|particle| {
            [0, 1].map(|obstacle| ParticleImpulse {
                particle,
                obstacle,
                force_W,
            })
        });
        let (mut memory, mut report) = (start.collect(), SubstepReport::default());
        backend.begin(&scene.state).expect("its own state");
        (backend.run(&scene.input(), &mut scene.links(), &mut memory, &mut report))
            .expect("a substep");
        let params: Params = contents(gpu, &backend.buffer(0))[0];
        let mut device = Self {
            params,
            lists: contents(gpu, &backend.buffer(3)),
            nodes: contents(gpu, &backend.buffer(4)),
            contacts: contents(gpu, &backend.buffer(5)),
            work: contents(gpu, &backend.buffer(6)),
            forces: contents(gpu, &backend.buffer(7)),
            out: contents(gpu, &backend.buffer(8)),
            particles: contents(gpu, &backend.buffer(2)),
            dispatch_sizes: contents(gpu, &gpu.pipelines.sizes),
            blocks: BTreeMap::new(),
            report,
        };
        device.particles.truncate(params.n_particles as usize);
        assert_eq!(device.particles.len(), scene.particles.len());
        assert_eq!([device.lists[UNSOLVED], device.lists[CRUSHED]], [0, 0]);
        for block in 0..device.n_blocks() {
            let place = device.block_place(block);
            let before = device.blocks.insert(place, block);
            assert_eq!(before, None, "two blocks at {place:?}");
        }
        device
    }

    pub(super) fn n_blocks(&self) -> u32 {
        self.lists[N_BLOCKS]
    }

    pub(super) fn n_nodes(&self) -> u32 {
        64 * self.n_blocks()
    }

    fn list(&self, at: u32) -> u32 {
        self.lists[at as usize]
    }

    fn of_node(&self, number: u32, node: u32) -> u32 {
        self.list(CELLS + 64 * self.params.blocks_max * number + node)
    }

    /// How many particles a cell has.
    pub(super) fn count(&self, cell: u32) -> u32 {
        self.of_node(0, cell)
    }

    /// The place of the first of them in the order.
    pub(super) fn start(&self, cell: u32) -> u32 {
        self.of_node(1, cell)
    }

    /// How many contacts the particles of a cell have.
    pub(super) fn touching(&self, cell: u32) -> u32 {
        self.of_node(3, cell)
    }

    fn blocks_at(&self) -> u32 {
        CELLS + 7 * 64 * self.params.blocks_max
    }

    /// Where a block is among those of the box.
    pub(super) fn block_place(&self, block: u32) -> [i32; 3] {
        let n = self.params.dims.map(|n| n / 4);
        let key = self.list(self.blocks_at() + block);
        [key / (n[1] * n[2]), key / n[2] % n[1], key % n[2]].map(|x| x as i32)
    }

    pub(super) fn block_at(&self, place: [i32; 3]) -> Option<u32> {
        self.blocks.get(&place).copied()
    }

    pub(super) fn neighbour(&self, block: u32, number: u32) -> u32 {
        self.list(self.blocks_at() + self.params.blocks_max + 27 * block + number)
    }

    fn order_at(&self) -> u32 {
        self.blocks_at() + 28 * self.params.blocks_max + 2 * self.params.table_size
    }

    /// The particle at a place of the order.
    pub(super) fn order(&self, place: u32) -> u32 {
        self.list(self.order_at() + place)
    }

    /// The node or cell at a place in cells of the world.
    pub(super) fn node_at(&self, place: [i32; 3]) -> u32 {
        let place: [i32; 3] = std::array::from_fn(|k| place[k] - self.params.origin[k]);
        let block = self.block_at(place.map(|x| x.div_euclid(4)));
        let within = place.map(|x| x.rem_euclid(4) as u32);
        64 * block.expect("a block that a particle reaches")
            + 16 * within[0]
            + 4 * within[1]
            + within[2]
    }

    /// Where a node is, m.
    pub(super) fn x_of(&self, node: u32) -> Vector3<f64> {
        let block = self.block_place(node / 64);
        let within = [node / 16 % 4, node / 4 % 4, node % 4];
        Vector3::from_fn(|k, _| {
            let place = 4 * block[k] + within[k] as i32 + self.params.origin[k];
            f64::from(place) * SPACING
        })
    }

    /// m, kg.
    pub(super) fn mass(&self, node: u32) -> f64 {
        f64::from(self.nodes[node as usize][3])
    }

    /// v*, m/s.
    pub(super) fn free_velocity(&self, node: u32) -> Vector3<f64> {
        vector(&self.nodes[node as usize])
    }

    /// v, m/s.
    pub(super) fn velocity(&self, node: u32) -> Vector3<f64> {
        vector(&self.nodes[(64 * self.params.blocks_max + node) as usize])
    }

    /// The sum of the weights of the contacts that reach a node.
    pub(super) fn contact_weight(&self, node: u32) -> f64 {
        f64::from(self.nodes[(64 * self.params.blocks_max + node) as usize][3])
    }

    /// S of a particle, −Δt V τ.
    pub(super) fn stress(&self, particle: usize) -> Matrix3<f64> {
        let at = 2 * 64 * self.params.blocks_max as usize + 4 * particle;
        Matrix3::from_fn(|i, j| f64::from(self.nodes[at + j][i]))
    }

    pub(super) fn contacts(&self) -> &[DeviceContact] {
        &self.contacts[..self.lists[N_CONTACTS] as usize]
    }

    pub(super) fn n_entries(&self) -> u32 {
        self.lists[N_ENTRIES]
    }

    /// The nodes in contact with the contacts of each, and their weights.
    pub(super) fn slots(&self) -> impl Iterator<Item = (u32, Vec<(u32, f32)>)> {
        let entries = &self.work[27 * 3 * self.params.contacts_max as usize..];
        let slots = self.work.chunks(3).take(self.lists[N_SLOTS] as usize);
        slots.map(|s| {
            let own = entries[2 * s[1] as usize..].chunks(2).take(s[2] as usize);
            let own = own.map(|e| (e[0], f32::from_bits(e[1])));
            (s[0], own.collect())
        })
    }

    /// The force of an obstacle on a particle, N.
    pub(super) fn force(&self, particle: u32, obstacle: u32) -> Vector3<f64> {
        let place = particle * self.params.n_obstacles + obstacle;
        vector(&self.forces[place as usize])
    }

    /// Six numbers of the link from `at`.
    fn of_link(&self, at: usize) -> Vector6<f64> {
        Vector6::from_fn(|k, _| f64::from(self.out[at + k]))
    }

    /// The quaternion and origin of the link, relative to the corner of the box, after the substep.
    pub(super) fn link_pose(&self) -> ([f64; 4], Vector3<f64>) {
        let q = std::array::from_fn(|k| f64::from(self.out[k]));
        (q, vector(&self.out[4..]))
    }

    pub(super) fn link_velocity(&self) -> Vector6<f64> {
        self.of_link(8)
    }

    pub(super) fn link_impulse(&self) -> Vector6<f64> {
        self.of_link(20)
    }

    /// The impulses of the only substep that the processor repeats.
    pub(super) fn link_record(&self) -> Vector6<f64> {
        self.of_link(self.params.records_at as usize)
    }

    /// The numbers of a pair: impulse and size, size times point and least gap, size times normal.
    pub(super) fn pair(&self, pair: usize) -> &[f32] {
        &self.out[self.params.sums_at as usize + PAIR as usize * pair..][..PAIR as usize]
    }

    /// The corner of the box, m.
    pub(super) fn corner(&self) -> Vector3<f64> {
        Vector3::from(self.params.origin.map(f64::from)) * SPACING
    }
}

pub(super) fn vector(numbers: &[f32]) -> Vector3<f64> {
    Vector3::new(numbers[0], numbers[1], numbers[2]).map(f64::from)
}

/// Copies a buffer of the device.
pub(crate) fn contents<T: AnyBitPattern>(gpu: &Gpu, buffer: &wgpu::Buffer) -> Vec<T> {
    let size = buffer.size();
    let copy = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, size);
    gpu.queue.submit([encoder.finish()]);
    copy.map_async(wgpu::MapMode::Read, 0..size, |mapped| {
        mapped.expect("a buffer for reading");
    });
    (gpu.device.poll(wgpu::PollType::wait_indefinitely())).expect("the device answers");
    let bytes = copy.get_mapped_range(0..size).expect("mapped");
    let whole = bytes.len() / size_of::<T>() * size_of::<T>();
    bytes[..whole]
        .chunks_exact(size_of::<T>())
        .map(bytemuck::pod_read_unaligned)
        .collect()
}
