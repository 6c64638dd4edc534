//! How many bytes a time step takes on a device.

use crate::adapter::AdapterDescription;
use crate::buffers::OfBindings;
use crate::layout::{
    BLOCK, CONTACT_BYTES, COUNTERS, DeviceParticle, NODE_BYTES, PAIR, Params, STRESS_BYTES,
};
use crate::tables::INDICES;

/// Numbers of a node in `lists`: particles of the cell, their start and end; contacts of the cell, their start, and those of the node; the held components.
const OF_NODE: u64 = 7;
/// Numbers of a block in `lists`: its key and its neighbours.
const OF_BLOCK: u64 = 28;
/// Numbers of a place of the hash table in `lists`.
const OF_PLACE: u64 = 2;
/// Numbers of a particle in `lists`: its place in the order, its cell, and its contacts.
const OF_PARTICLE: u64 = 3;
/// Particles of a workgroup that counts contacts; it has a number in `lists`.
const GROUP: u64 = 128;
/// Bytes of a contact in `work`: 27 nodes with a record of three numbers, 27 entries of two, and its place in the list of its cell.
const WORK_BYTES: u64 = 4 * (27 * 5 + 1);
/// Contacts whose sums a workgroup writes down.
pub(crate) const CHUNK: u32 = 128;
/// Numbers of the progress of the contact solve.
const PROGRESS: u64 = 16;
/// Bytes of the contact force of a particle on an obstacle.
pub(crate) const FORCE_BYTES: u64 = 16;
pub(crate) const PARTICLE_BYTES: u64 = size_of::<DeviceParticle>() as u64;

/// What there is in a time step, and what it takes on a device.
///
/// ```
/// use pliant_gpu::StepSize;
///
/// // A million particles, eight in a cell, on a floor.
/// let size = StepSize { particles: 1_000_000, blocks: 2600, contacts: 1024, obstacles: 1 };
/// assert_eq!(size.particle_bytes(), 144 + 64 + 12 + 16);
/// assert_eq!(size.block_bytes(), 64 * 60 + 112);
/// assert_eq!(size.bytes() / 1_000_000, 247);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSize {
    /// Particles.
    pub particles: u64,
    /// Blocks of 4 × 4 × 4 nodes that they reach.
    pub blocks: u64,
    /// Contacts of a substep.
    pub contacts: u64,
    /// Obstacles.
    pub obstacles: u64,
}

impl StepSize {
    /// Bytes of a particle in all buffers of the device: its state, its stress and impulse, its place in the sort, its cell, the number and the forces of its
    /// contacts.
    #[must_use]
    pub fn particle_bytes(&self) -> u64 {
        PARTICLE_BYTES + STRESS_BYTES + 4 * OF_PARTICLE + FORCE_BYTES * self.obstacles
    }

    /// Bytes of a block, without its places of the hash table.
    #[must_use]
    pub fn block_bytes(&self) -> u64 {
        BLOCK * (NODE_BYTES + 4 * OF_NODE) + 4 * OF_BLOCK
    }

    /// Places of the hash table: a power of two, so many that half of them stay empty.
    #[must_use]
    pub fn table_size(&self) -> u64 {
        (2 * self.blocks).next_power_of_two()
    }

    /// Bytes of a contact.
    #[must_use]
    pub fn contact_bytes(&self) -> u64 {
        CONTACT_BYTES + WORK_BYTES
    }

    /// Bytes of the buffers of the device, without tables of shapes and cloth, of links, and sums of the contact solve. A buffer that has grown has up to a quarter more.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        size_of::<Params>() as u64
            + 4 * u64::from(COUNTERS)
            + self.particles * self.particle_bytes()
            + self.blocks * self.block_bytes()
            + 4 * OF_PLACE * self.table_size()
            + 4 * self.particles.div_ceil(GROUP)
            + self.contacts * self.contact_bytes()
    }

    /// Numbers in `lists`.
    fn lists(&self) -> u64 {
        u64::from(COUNTERS)
            + (OF_NODE * BLOCK + OF_BLOCK) * self.blocks
            + OF_PLACE * self.table_size()
            + OF_PARTICLE * self.particles
            + self.particles.div_ceil(GROUP)
    }

    /// Bytes of each binding; `table` and `out` of the bindings that depend on the scene.
    pub(crate) fn bindings(&self, (table, out): (u64, u64)) -> OfBindings {
        [
            size_of::<Params>() as u64,
            table,
            PARTICLE_BYTES * self.particles,
            4 * self.lists(),
            NODE_BYTES * BLOCK * self.blocks + STRESS_BYTES * self.particles,
            CONTACT_BYTES * self.contacts,
            WORK_BYTES * self.contacts,
            FORCE_BYTES * self.particles * self.obstacles,
            out,
        ]
    }
}

/// Bytes of the sums of the contact solve: of each chunk four numbers, two impulses on each link, and the sums of each pair.
pub(crate) fn solve_bytes(params: &Params) -> u64 {
    let chunks = u64::from(params.contacts_max.div_ceil(CHUNK));
    let pairs = u64::from(params.n_obstacles) * u64::from(params.n_objects);
    4 * (PROGRESS + chunks * (4 + 12 * u64::from(params.n_links) + u64::from(PAIR) * pairs))
}

impl AdapterDescription {
    /// The most particles of a time step: those that its largest storage buffer holds, and no more than tables can number, 2³⁰.
    #[must_use]
    pub fn particles_max(&self) -> u64 {
        (self.storage_buffer_max / PARTICLE_BYTES).min(INDICES.into())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pliant_contact_sap::DeformableModel;
    use pliant_mpm::{SubstepBackend, SubstepReport};

    use super::*;
    use crate::adapter::Gpu;
    use crate::backend::GpuSubsteps;
    use crate::function_tests::device;
    use crate::test_scene::{FoamOnFloor, no_links};

    #[test]
    fn the_sum_of_the_bindings_is_the_size() {
        let size = StepSize {
            particles: 1000,
            blocks: 300,
            contacts: 20,
            obstacles: 3,
        };
        assert_eq!(size.bindings((0, 0)).iter().sum::<u64>(), size.bytes());
    }

    #[test]
    fn an_adapter_holds_what_its_largest_buffer_does() {
        let adapter = AdapterDescription::with_buffers_of;
        assert_eq!(adapter(144 * 1000 + 7).particles_max(), 1000);
        assert_eq!(adapter(u64::MAX).particles_max(), 1 << 30);
    }

    #[test]
    fn a_step_too_large_for_the_adapter_is_named_with_its_limit() {
        if device("a_step_too_large_for_the_adapter_is_named_with_its_limit").is_none() {
            return;
        }
        let mut gpu = Gpu::open().expect("there is one");
        let scene = FoamOnFloor::with_edge(0.16);
        // Room for contacts, but not for 4096 particles of 144 bytes.
        gpu.description.storage_buffer_max = 580_000;
        let gpu = Arc::new(gpu);
        let mut backend = GpuSubsteps::new(&gpu, &scene.model).expect("foam");
        (backend.begin(&scene.model.default_state())).expect("its own state");
        let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
        let input = scene.input(1);
        let refused = backend.run(&input, &mut no_links(), &mut memory, &mut report);
        let error = refused.expect_err("no room").to_string();
        for part in [
            "4096 particles",
            "589824 bytes",
            "580000",
            "on the processor",
        ] {
            assert!(error.contains(part), "{part} in {error}");
        }
        // It is refused before it is tried. An allocation that fails is no such thing.
        assert!(!gpu.has_failed());
        let _ = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::MAX / 4 * 4,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
        assert!(gpu.has_failed());
    }
}
